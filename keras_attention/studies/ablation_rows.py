"""The rows of the paper's Table 3 for a base model of any size.

A row of the paper is a preset. For another base each of its values keeps the ratio that
it has to the paper's base: `C_n2` has a third of the layers, `A_h32` four times the
heads, `D_p2` twice the dropout. With the paper's base the rows are the presets.
"""

import dataclasses

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.presets import PRESETS

BASE_PRESETS = ("base", "big", "tiny")
BASE = "base"
VARIATIONS = tuple(name for name in PRESETS if name[:2] in ("A_", "B_", "C_", "D_"))
ALL_ROWS = (BASE, *VARIATIONS, "E_learned")
# In the paper `big` was trained three times as long as the others.
ROWS = (*ALL_ROWS, "big")

# Perplexity and BLEU that Table 3 prints (English-German, newstest2013).
PAPER = {
    "base": (4.92, 25.8),
    "A_h1": (5.29, 24.9),
    "A_h4": (5.00, 25.5),
    "A_h16": (4.91, 25.8),
    "A_h32": (5.01, 25.4),
    "B_dk16": (5.16, 25.1),
    "B_dk32": (5.01, 25.4),
    "C_n2": (6.11, 23.7),
    "C_n4": (5.19, 25.3),
    "C_n8": (4.88, 25.5),
    "C_d256": (5.75, 24.5),
    "C_d1024": (4.66, 26.0),
    "C_ff1024": (5.12, 25.4),
    "C_ff4096": (4.75, 26.2),
    "D_p0": (5.77, 24.6),
    "D_p2": (4.95, 25.5),
    "D_ls0": (4.67, 25.3),
    "D_ls2": (5.47, 25.7),
    "E_learned": (4.92, 25.7),
    "big": (4.33, 26.4),
}
_SIZES = ("num_layers", "model_dim", "num_heads", "feed_forward_dim")
_HEAD_SIZES = ("key_dim", "value_dim")
_PAPER_HEAD_DIM = 64
_DIGITS = 12  # 0.1 * (0.3 / 0.1) is 0.3 again
_VOCABULARY_SIZE = 37_000  # stands for that of a tokenizer not yet learned


@dataclasses.dataclass(frozen=True)
class Row:
    """A model of the table and how it is trained and searched.

    Args:
        name: one of `ROWS`.
        transformer: a `TransformerConfig`.
        training: a `TrainingConfig`.
        decoding: a `DecodingConfig`.
    """

    name: str
    transformer: TransformerConfig
    training: TrainingConfig
    decoding: DecodingConfig

    @property
    def parts(self):
        """The three configurations by the name of their part."""
        return {
            "transformer": self.transformer,
            "training": self.training,
            "decoding": self.decoding,
        }

    def symbols(self):
        """Returns what Table 3 varies, by the symbols of the paper."""
        model = self.transformer
        key_dim, value_dim = model.head_dims()
        learned = model.positions == "learned"
        return {
            "N": model.num_layers,
            "d_model": model.model_dim,
            "d_ff": model.feed_forward_dim,
            "h": model.num_heads,
            "d_k": key_dim,
            "d_v": value_dim,
            "P_drop": model.dropout_rate,
            "eps_ls": self.training.label_smoothing,
            "positions": f"{model.max_length} learned" if learned else model.positions,
        }

    def change(self, base=None):
        """Returns in words what differs from the base, or all if that is None.

        Example:

        >>> make_row("A_h1", make_base("base")).change(make_base("base"))
        'h=1, d_k=512, d_v=512'
        """
        mine, its = self.symbols(), base.symbols() if base else {}
        return ", ".join(f"{k}={v}" for k, v in mine.items() if its.get(k) != v)


def make_base(preset, transformer=None, training=None, decoding=None):
    """Returns the `Row` that the others are variations of.

    Args:
        preset: one of `BASE_PRESETS`.
        transformer, training, decoding: dictionaries of fields that replace those of
            the preset; `vocabulary_size` may be left out. `average_checkpoints` is 1,
            as in the paper (6.2).

    Raises:
        ValueError: another preset, a value that cannot work, or widths of a head,
            which are to follow from those of the model and the number of heads.
    """
    transformer = {"vocabulary_size": _VOCABULARY_SIZE, **(transformer or {})}
    if preset not in BASE_PRESETS:
        raise ValueError(
            f"The base of a table must be one of {', '.join(BASE_PRESETS)}. "
            f"Received: {preset!r}. Replace fields of one of them."
        )
    base = Row(
        BASE,
        TransformerConfig.from_preset(preset, **transformer),
        TrainingConfig.from_preset(
            preset, **{**(training or {}), "average_checkpoints": 1}
        ),
        DecodingConfig.from_preset(preset, **(decoding or {})),
    )
    for field in _HEAD_SIZES:
        if getattr(base.transformer, field) is not None:
            raise ValueError(
                f"The base of a table must leave `{field}` to model_dim / num_heads, "
                f"which rows A and B vary. Received: {field}="
                f"{getattr(base.transformer, field)}. Leave it out."
            )
    return base


def make_rows(names, base):
    """Returns the rows with these names, in the order of the paper.

    Args:
        names: iterable of names among `ROWS`.
        base: the `Row` of `make_base`.

    Raises:
        ValueError: no or unknown names, a row that cannot be made of this base, or two
            rows that are the same model, as the base is too small to tell them apart.
    """
    names = list(names)
    unknown = [name for name in names if name not in ROWS]
    if unknown or not names:
        raise ValueError(
            f"The rows of a table must be among {', '.join(ROWS)}. Received: "
            f"{', '.join(unknown) or 'none'}."
        )
    rows = [make_row(name, base) for name in ROWS if name in names]
    # The base is what a row is compared with, whether it is asked for or not.
    seen = {(base.transformer, base.training): BASE}
    for row in rows:
        twin = seen.setdefault((row.transformer, row.training), row.name)
        if twin != row.name:
            raise ValueError(
                f"Rows of a table must differ. Received: {twin} and {row.name} with "
                f"{row.change()}. Leave one of them out, or take a larger base."
            )
    return rows


def make_row(name, base):
    """Returns one row, each value in the ratio that the paper's row has to its base.

    Sizes are rounded to whole numbers, halves up, and are at least 1. Learned positions
    reach as far as the longest text of the base, which they shorten by one piece: END
    and START need a place.

    Args:
        name: one of `ROWS`.
        base: the `Row` of `make_base`.

    Raises:
        ValueError: the values cannot work together.

    Example:

    >>> small = make_base("tiny", {"num_layers": 3, "num_heads": 8})
    >>> make_row("C_n2", small).change(small), make_row("A_h32", small).change(small)
    ('N=1', 'h=32, d_k=4, d_v=4')
    """
    transformer = PRESETS[name]["transformer"]
    training = {}
    if "label_smoothing" in PRESETS[name]["training"]:
        training["label_smoothing"] = _in_ratio(
            PRESETS[name]["training"]["label_smoothing"],
            TrainingConfig.label_smoothing,
            base.training.label_smoothing,
        )
    values = {field: _scaled(field, v, base) for field, v in transformer.items()}
    if values.get("positions") == "learned":
        longest = values["max_length"] - 1
        for field in ("max_source_length", "max_target_length"):
            training[field] = min(getattr(base.training, field), longest)
    try:
        return Row(
            name,
            base.transformer.replace(**values),
            base.training.replace(**training),
            base.decoding,
        )
    except ValueError as error:
        raise ValueError(f"Row {name} of this base cannot work: {error}") from error


def _scaled(field, value, base):
    """Returns a field of a preset for another base."""
    if field in _SIZES:
        paper = getattr(TransformerConfig, field)
        return _whole(_in_ratio(value, paper, getattr(base.transformer, field)))
    if field in _HEAD_SIZES:
        mine = base.transformer.head_dims()[_HEAD_SIZES.index(field)]
        return _whole(_in_ratio(value, _PAPER_HEAD_DIM, mine))
    if field == "dropout_rate":
        paper = TransformerConfig.dropout_rate
        return _in_ratio(value, paper, base.transformer.dropout_rate)
    if field == "max_length":
        training = base.training
        return max(training.max_source_length, training.max_target_length)
    return value


def _in_ratio(value, paper, mine):
    return round(mine * (value / paper), _DIGITS)


def _whole(value):
    return max(1, int(value + 0.5))
