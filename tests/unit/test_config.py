"""Configurations refuse what cannot work, and presets are the paper's."""

import dataclasses
import json
import math

import pytest

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.presets import PRESETS

NAMES = (
    "base big tiny parsing A_h1 A_h4 A_h16 A_h32 B_dk16 B_dk32 C_n2 C_n4 C_n8 C_d256 "
    "C_d1024 C_ff1024 C_ff4096 D_p0 D_p2 D_ls0 D_ls2 E_learned"
).split()
CLASSES = (TransformerConfig, TrainingConfig, DecodingConfig)


def make(cls, **values):
    if cls is TransformerConfig:
        values.setdefault("vocabulary_size", 100)
    return cls(**values)


def test_presets_are_those_of_the_paper():
    assert sorted(PRESETS) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cls", CLASSES)
def test_preset_survives_json(cls, name):
    extra = {"vocabulary_size": 99} if cls is TransformerConfig else {}
    config = cls.from_preset(name, **extra)
    assert cls.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_base_is_the_default():
    assert TransformerConfig.from_preset("base", vocabulary_size=9) == (
        TransformerConfig(vocabulary_size=9)
    )
    assert TrainingConfig.from_preset("base") == TrainingConfig()
    assert DecodingConfig.from_preset("base") == DecodingConfig()


def test_values_of_the_paper():
    base = TransformerConfig(vocabulary_size=37_000)
    assert (base.num_layers, base.model_dim, base.num_heads) == (6, 512, 8)
    assert (base.feed_forward_dim, base.dropout_rate) == (2048, 0.1)
    assert (base.norm_position, base.positions) == ("post", "sinusoidal")
    assert base.head_dims() == (64, 64)
    training = TrainingConfig()
    assert (training.beta_1, training.beta_2) == (0.9, 0.98)
    assert (training.optimizer_epsilon, training.warmup_steps) == (1e-9, 4000)
    assert (training.label_smoothing, training.batch_tokens) == (0.1, 25_000)
    decoding = DecodingConfig()
    assert (decoding.beam_size, decoding.length_penalty_alpha) == (4, 0.6)
    assert decoding.max_extra_length == 50
    assert TrainingConfig.from_preset("big").average_checkpoints == 20
    assert TrainingConfig.from_preset("big").max_steps == 300_000
    parsing = DecodingConfig.from_preset("parsing")
    assert (parsing.beam_size, parsing.length_penalty_alpha) == (21, 0.3)
    assert parsing.max_extra_length == 300


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("big", dict(model_dim=1024, num_heads=16, feed_forward_dim=4096)),
        ("tiny", dict(num_layers=4, model_dim=128, num_heads=4, feed_forward_dim=256)),
        ("parsing", dict(num_layers=4, model_dim=1024, num_heads=8)),
        ("A_h1", dict(num_heads=1)),
        ("A_h4", dict(num_heads=4)),
        ("A_h16", dict(num_heads=16)),
        ("A_h32", dict(num_heads=32)),
        ("B_dk16", dict(key_dim=16, value_dim=64)),
        ("B_dk32", dict(key_dim=32, value_dim=64)),
        ("C_n2", dict(num_layers=2)),
        ("C_n4", dict(num_layers=4)),
        ("C_n8", dict(num_layers=8)),
        ("C_d256", dict(model_dim=256)),
        ("C_d1024", dict(model_dim=1024)),
        ("C_ff1024", dict(feed_forward_dim=1024)),
        ("C_ff4096", dict(feed_forward_dim=4096)),
        ("D_p0", dict(dropout_rate=0.0)),
        ("D_p2", dict(dropout_rate=0.2)),
        ("E_learned", dict(positions="learned", max_length=256)),
    ],
)
def test_rows_change_what_the_table_says(name, changed):
    config = TransformerConfig.from_preset(name, vocabulary_size=37_000)
    if name in ("big", "tiny"):
        changed = {**changed, "dropout_rate": 0.3}
    assert config == TransformerConfig(vocabulary_size=37_000, **changed)


@pytest.mark.parametrize(("name", "eps"), [("D_ls0", 0.0), ("D_ls2", 0.2)])
def test_rows_of_label_smoothing(name, eps):
    assert TrainingConfig.from_preset(name).label_smoothing == eps
    assert TransformerConfig.from_preset(name, vocabulary_size=9) == (
        TransformerConfig(vocabulary_size=9)
    )


def test_overrides_and_replace():
    config = TransformerConfig.from_preset("big", vocabulary_size=50, num_layers=1)
    assert (config.num_layers, config.model_dim) == (1, 1024)
    assert config.replace(num_layers=2).num_layers == 2
    assert config.num_layers == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.num_layers = 3


INTEGERS = {
    TransformerConfig: "vocabulary_size num_layers model_dim num_heads key_dim "
    "value_dim feed_forward_dim max_length",
    TrainingConfig: "batch_tokens max_steps warmup_steps checkpoint_steps micro_batches"
    " max_source_length max_target_length rows_multiple average_checkpoints "
    "validation_steps log_steps patience",
    DecodingConfig: "beam_size num_hypotheses max_source_length batch_tokens",
}
REALS = {
    TransformerConfig: "dropout_rate attention_dropout_rate layer_norm_epsilon",
    TrainingConfig: "max_minutes checkpoint_minutes gradient_clip_norm "
    "learning_rate_scale optimizer_epsilon beta_1 beta_2 label_smoothing",
    DecodingConfig: "length_penalty_alpha",
}
CHOICES = {
    TransformerConfig: "activation norm_position positions position_layout",
    TrainingConfig: "dtype_policy patience_metric tokenizer_kind",
}


def cases(table, values):
    return [
        (cls, field, value)
        for cls, fields in table.items()
        for field in fields.split()
        for value in values
    ]


@pytest.mark.parametrize(
    ("cls", "field", "value"), cases(INTEGERS, [0, -3, 2.0, "4", True])
)
def test_counts_are_positive_integers(cls, field, value):
    with pytest.raises(ValueError, match=rf"`{field}` must be an integer.*Received: "):
        make(cls, **{field: value})


@pytest.mark.parametrize(
    ("cls", "field", "value"), cases(REALS, [-0.1, math.nan, math.inf, "0.1", True])
)
def test_rates_are_finite_numbers(cls, field, value):
    with pytest.raises(ValueError, match=rf"`{field}` must be a finite.*Received: "):
        make(cls, **{field: value})


@pytest.mark.parametrize(("cls", "field", "value"), cases(CHOICES, ["x", None]))
def test_choices(cls, field, value):
    with pytest.raises(ValueError, match=rf"`{field}` must be one of .*Received: "):
        make(cls, **{field: value})


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        (TransformerConfig, "dropout_rate", 1.0),
        (TransformerConfig, "layer_norm_epsilon", 0.0),
        (TransformerConfig, "use_bias", 1),
        (TransformerConfig, "share_embeddings", "yes"),
        (TransformerConfig, "output_bias", 0),
        (TransformerConfig, "vocabulary_size", 4),
        (TrainingConfig, "beta_2", 1.0),
        (TrainingConfig, "optimizer_epsilon", 0),
        (TrainingConfig, "gradient_clip_norm", 0.0),
        (TrainingConfig, "jit_compile", None),
        (TrainingConfig, "seed", -1),
        (TrainingConfig, "seed", 2**32),
        (TrainingConfig, "validation_sentences", -1),
        (DecodingConfig, "max_extra_length", -1),
    ],
)
def test_limits(cls, field, value):
    with pytest.raises(ValueError, match=rf"`{field}` must be .*Received: {field}="):
        make(cls, **{field: value})


@pytest.mark.parametrize(
    ("build", "pattern"),
    [
        (
            lambda: DecodingConfig.from_preset("huge"),
            "Unknown preset.*Received: 'huge'",
        ),
        (
            lambda: TrainingConfig.from_dict({"speed": 9}),
            "TrainingConfig has no field named speed.*Received",
        ),
        (lambda: TransformerConfig.from_preset("base"), "needs `vocabulary_size`"),
        (
            lambda: make(TransformerConfig, num_heads=7),
            "multiple of `num_heads`.*model_dim=512, num_heads=7",
        ),
        (
            lambda: make(TransformerConfig, num_heads=7, key_dim=4),
            "multiple of `num_heads`",
        ),
        (lambda: make(TransformerConfig, positions="learned"), "need `max_length`"),
        (lambda: make(TransformerConfig, max_length=9), "no table"),
        (
            lambda: TrainingConfig(checkpoint_minutes=None),
            "`checkpoint_steps` or `checkpoint_minutes`",
        ),
        (
            lambda: TrainingConfig(patience_metric="bleu", validation_sentences=0),
            "needs translations.*Received: validation_sentences=0.*watch the nll",
        ),
        (
            lambda: DecodingConfig(beam_size=2, num_hypotheses=3),
            "at most `beam_size`.*num_hypotheses=3, beam_size=2",
        ),
    ],
)
def test_combinations_that_cannot_work(build, pattern):
    with pytest.raises(ValueError, match=pattern):
        build()


def test_odd_widths_with_named_head_sizes():
    config = make(TransformerConfig, model_dim=5, num_heads=3, key_dim=2, value_dim=4)
    assert config.head_dims() == (2, 4)
