"""Statement by statement, what the paper says and what a configuration makes of it.

A row reads its value from the configurations it is given, names the code behind it and
a test, and tells which options depart from the paper. The statements are in
`parity_model` (sections 3 and 4) and `parity_training` (sections 5 and 6);
`parity_report` prints them.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.presets import PRESETS

VOCABULARY_SIZE = 37_000  # section 5.1
MODELS = ("base", "big", "parsing")  # a preset of another name is a row of Table 3
# What the paper prints, by field: for the base model, and where another of its models
# has another value. Written down here a second time, so that a preset that drifts from
# the paper shows in the report.
PAPER = {
    "transformer.num_layers": {"base": 6, "parsing": 4},
    "transformer.model_dim": {"base": 512, "big": 1024, "parsing": 1024},
    "transformer.num_heads": {"base": 8, "big": 16},
    "transformer.key_dim": {"base": 64, "parsing": 128},
    "transformer.value_dim": {"base": 64, "parsing": 128},
    "transformer.feed_forward_dim": {"base": 2048, "big": 4096},
    "transformer.dropout_rate": {"base": 0.1, "big": 0.3},
    "transformer.attention_dropout_rate": {"base": 0.0},
    "transformer.attention_window": {"base": None},
    "transformer.activation": {"base": "relu"},
    "transformer.norm_position": {"base": "post"},
    "transformer.positions": {"base": "sinusoidal"},
    "transformer.position_layout": {"base": "interleaved"},
    "transformer.use_bias": {"base": False},
    "transformer.share_embeddings": {"base": True},
    "transformer.output_bias": {"base": False},
    "training.batch_tokens": {"base": 25_000},
    "training.max_steps": {"base": 100_000, "big": 300_000},
    "training.warmup_steps": {"base": 4_000},
    "training.learning_rate_scale": {"base": 1.0},
    "training.beta_1": {"base": 0.9},
    "training.beta_2": {"base": 0.98},
    "training.optimizer_epsilon": {"base": 1e-9},
    "training.gradient_clip_norm": {"base": None},
    "training.label_smoothing": {"base": 0.1},
    "training.checkpoint_minutes": {"base": 10.0},
    "training.average_checkpoints": {"base": 5, "big": 20, "row": 1},  # 6.2
    "training.tokenizer_kind": {"base": "bpe"},
    "decoding.beam_size": {"base": 4, "parsing": 21},
    "decoding.length_penalty_alpha": {"base": 0.6, "parsing": 0.3},
    "decoding.max_extra_length": {"base": 50, "parsing": 300},
}


class Configurations(NamedTuple):
    """The three configurations of a run."""

    transformer: TransformerConfig
    training: TrainingConfig
    decoding: DecodingConfig


@dataclasses.dataclass(frozen=True)
class Statement:
    """One statement of the paper.

    Attributes:
        section: where it stands.
        says: the statement, shortened.
        does: function of `Configurations` that tells what the code does.
        where: "package.module:name" of the code behind it.
        test: "tests/file.py::name" of a test that fails when it is broken.
        fields: "part.field" of the options that depart from it.
    """

    section: str
    says: str
    does: Callable[[Configurations], str]
    where: str
    test: str
    fields: tuple[str, ...] = ()


def preset_configurations(name, vocabulary_size=VOCABULARY_SIZE):
    """Returns the `Configurations` of a preset.

    Example:

    >>> preset_configurations("big").transformer.model_dim
    1024
    """
    return Configurations(
        TransformerConfig.from_preset(name, vocabulary_size=vocabulary_size),
        TrainingConfig.from_preset(name),
        DecodingConfig.from_preset(name),
    )


def value_of(configurations, field):
    """Returns the value of "part.field".

    Example:

    >>> value_of(preset_configurations("base"), "decoding.beam_size")
    4
    """
    part, name = field.split(".")
    if name in ("key_dim", "value_dim"):  # None stands for model_dim // num_heads
        return configurations.transformer.head_dims()[name == "value_dim"]
    return getattr(getattr(configurations, part), name)


def paper_value(field, model="base"):
    """Returns what the paper prints for a field of one of its models.

    Args:
        field: a key of `PAPER`.
        model: "base", "big", "parsing", or the name of any preset: a row of Table 3
            is compared with the base model, of which none is averaged there (6.2).

    Raises:
        ValueError: no preset of that name.

    Example:

    >>> paper_value("training.average_checkpoints", "big")
    20
    """
    if model not in PRESETS:
        raise ValueError(
            f"`model` must be a preset: {', '.join(PRESETS)}. Received: {model!r}."
        )
    printed = PAPER[field]
    return printed.get(model if model in MODELS else "row", printed["base"])


def departures(statement, configurations, model="base"):
    """Returns how configurations depart from a statement: list of str.

    Example:

    >>> from keras_attention.studies.parity_model import STATEMENTS
    >>> other = TransformerConfig(37000, norm_position="pre")
    >>> found = preset_configurations("base")._replace(transformer=other)
    >>> [text for s in STATEMENTS for text in departures(s, found)][:1]
    ['norm_position=pre (paper: post)']
    """
    found = []
    for field in statement.fields:
        value, printed = value_of(configurations, field), paper_value(field, model)
        if value != printed:
            name = field.split(".")[1]
            found.append(f"{name}={value} (paper: {printed})")
    return found
