"""Presets become models of exactly the size that the paper's formulas give."""

import keras
import numpy as np
import pytest

import keras_attention as ka

COUNTS = {
    "base": 63_045_632,
    "B_dk16": 55_967_744,
    "B_dk32": 58_327_040,
    "C_n2": 33_644_544,
    "C_n4": 48_345_088,
    "C_n8": 77_746_176,
    "C_d256": 26_816_512,
    "C_d1024": 163_815_424,
    "C_ff1024": 50_450_432,
    "C_ff4096": 88_236_032,
    "big": 214_171_648,
    "E_learned": 63_045_632 + 2 * 256 * 512,
    **{
        name: 63_045_632
        for name in "A_h1 A_h4 A_h16 A_h32 D_p0 D_p2 D_ls0 D_ls2".split()
    },
}


def count_without_weights(config):
    """Builds the model with variables that have a shape and no value."""
    from keras.src.backend.common import global_state

    with keras.StatelessScope(initialize_variables=False):
        model = ka.build_transformer(config)
    # Keras would give them values at the next opportunity.
    global_state.set_global_attribute("uninitialized_variables", [])
    return sum(int(np.prod(v.shape)) for v in model.trainable_variables)


def formula(config):
    """Parameters as design and paper count them (biases off, one matrix)."""
    D, F, V = config.model_dim, config.feed_forward_dim, config.vocabulary_size
    key_dim, value_dim = config.head_dims()
    A = 2 * D * config.num_heads * (key_dim + value_dim)
    ffn = 2 * D * F + F + D
    return V * D + config.num_layers * (A + ffn + 4 * D + 2 * A + ffn + 6 * D)


@pytest.mark.parametrize("name", COUNTS)
def test_the_formula_gives_the_parameters_of_the_presets(name):
    config = ka.TransformerConfig.from_preset(name, vocabulary_size=37_000)
    tables = 2 * 256 * 512 if name == "E_learned" else 0
    assert formula(config) + tables == COUNTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_every_preset_has_as_many_parameters(name):
    config = ka.TransformerConfig.from_preset(name, vocabulary_size=37_000)
    assert count_without_weights(config) == COUNTS[name]


def test_parameters_of_the_parser():
    config = ka.TransformerConfig.from_preset("parsing", vocabulary_size=16_000)
    assert formula(config) == count_without_weights(config) == 100_335_616


@pytest.mark.parametrize("name", ["base", "B_dk16", "B_dk32", "C_n2"])
def test_large_models_are_really_built(name):
    config = ka.TransformerConfig.from_preset(name, vocabulary_size=37_000)
    model = ka.build_transformer(config)
    assert model.count_params() == COUNTS[name]
    if name == "C_n2":
        ids = np.array([[5, 6, 3]], "int32")
        logits = model({"source_ids": ids, "target_ids": ids})
        assert logits.shape == (1, 3, 37_000) and np.isfinite(logits).all()


@pytest.mark.parametrize("norm_position", ["post", "pre"])
def test_parameters_of_the_options(norm_position):
    config = ka.TransformerConfig(
        50,
        num_layers=3,
        model_dim=8,
        num_heads=2,
        key_dim=3,
        value_dim=5,
        feed_forward_dim=12,
        norm_position=norm_position,
        use_bias=True,
        share_embeddings=False,
        output_bias=True,
    )
    biases = 9 * (2 * 6 + 10 + 8) + 50  # nine attentions and the logits
    final_norms = 4 * 8 if norm_position == "pre" else 0
    expected = formula(config) + biases + final_norms + 2 * 50 * 8
    assert ka.build_transformer(config).count_params() == expected


def test_policy_and_name_are_handed_on():
    config = ka.TransformerConfig(9, num_layers=1, model_dim=4, num_heads=1)
    model = ka.build_transformer(config, dtype_policy="mixed_bfloat16", name="x1")
    assert model.name == "x1" and model.dtype_policy.name == "mixed_bfloat16"
    assert model._parts.encoder_blocks[0].compute_dtype == "bfloat16"
    assert ka.build_transformer(config).dtype_policy.name == "float32"


def test_what_is_no_configuration_is_refused():
    with pytest.raises(ValueError, match="`config` must be a.*Received: 'tiny'"):
        ka.build_transformer("tiny")
