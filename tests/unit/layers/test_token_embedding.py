"""One matrix in, the same matrix out."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka

IDS = np.array([[5, 6, 0], [1, 2, 3]], "int32")


def make(size=10, width=16, **arguments):
    layer = ka.TokenEmbedding(size, width, **arguments)
    layer(IDS)
    return layer


def test_embeddings_are_rows_times_the_root_of_the_width():
    layer = make()
    expected = layer.embeddings.numpy()[IDS] * 4.0
    np.testing.assert_allclose(layer(IDS), expected, rtol=1e-6)
    np.testing.assert_allclose(layer(IDS.astype("int64")), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_ids_of_every_integer_type_are_ids(kind):
    """A corpus on disk is uint16."""
    layer = make()
    expected = layer.embeddings.numpy()[IDS] * 4.0
    np.testing.assert_allclose(layer(IDS.astype(kind)), expected, rtol=1e-6)
    graph = tf.function(layer)
    np.testing.assert_allclose(graph(tf.constant(IDS, kind)), expected, rtol=1e-6)


def test_logits_use_the_same_matrix_without_scale_or_bias():
    layer = make()
    states = np.random.default_rng(0).normal(size=(2, 3, 16)).astype("float32")
    expected = states @ layer.embeddings.numpy().T
    np.testing.assert_allclose(layer(states, reverse=True), expected, atol=1e-5)
    assert layer.count_params() == 160


def test_a_bias_is_added_to_the_logits_alone():
    layer, plain = make(use_bias=True), make()
    bias = np.arange(10, dtype="float32")
    plain.embeddings.assign(layer.embeddings)
    states = np.random.default_rng(0).normal(size=(2, 3, 16)).astype("float32")
    expected = plain(states, reverse=True)
    np.testing.assert_allclose(layer(states, reverse=True), expected)  # 0 at first
    layer.output_bias.assign(bias)
    np.testing.assert_allclose(layer(states, reverse=True), expected + bias, atol=1e-5)
    np.testing.assert_allclose(layer(IDS), plain(IDS))
    assert layer.count_params() == 160 + 10


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_the_bias_is_float32_under_every_policy(policy):
    layer = make(use_bias=True, dtype=policy)
    layer.output_bias.assign(np.full(10, 1e5, "float32"))  # no float16
    logits = np.asarray(layer(layer(IDS), reverse=True))
    assert logits.dtype == np.float32 and np.abs(logits - 1e5).max() < 100


def test_embeddings_and_first_logits_have_unit_scale():
    layer = make(2000, 256)
    ids = np.arange(2000)[None]
    assert 0.97 < np.asarray(layer(ids)).std() < 1.03
    states = np.random.default_rng(0).normal(size=(1, 20, 256)).astype("float32")
    assert 0.95 < np.asarray(layer(states, reverse=True)).std() < 1.05


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_logits_are_float32_under_every_policy(policy):
    layer = make(dtype=policy)
    states = layer(IDS)
    assert keras.backend.standardize_dtype(states.dtype) == layer.compute_dtype
    logits = layer(states, reverse=True)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    expected = tf.cast(states, "float32") @ layer.embeddings.numpy().T
    np.testing.assert_allclose(logits, expected, atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_large_ids_are_not_rounded(policy):
    # 257 is no bfloat16 and 2049 no float16.
    layer = ka.TokenEmbedding(3000, 4, dtype=policy)
    ids = np.array([[257, 2049, 2999]])
    expected = layer(ids)  # builds
    expected = layer.embeddings.numpy()[ids] * 2.0
    np.testing.assert_allclose(tf.cast(layer(ids), "float32"), expected, rtol=1e-2)


def test_the_gradient_has_both_uses():
    layer = make()
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(layer(IDS), reverse=True) ** 2)
    gradient = tf.convert_to_tensor(tape.gradient(total, layer.embeddings.value))
    # Row 9 is never looked up but is a class of the output.
    assert np.abs(gradient[9]).max() > 0


def test_the_mask_marks_real_ids_and_logits_have_none():
    layer = make()
    np.testing.assert_array_equal(layer(IDS)._keras_mask, IDS != 0)
    logits = layer(layer(IDS), reverse=True)
    assert getattr(logits, "_keras_mask", None) is None


def test_float_ids_are_refused():
    with pytest.raises(ValueError, match="must be integers.*reverse=True.*Received"):
        make()(IDS.astype("float32"))


@pytest.mark.parametrize("name", ["vocabulary_size", "model_dim"])
def test_sizes_that_cannot_work_are_refused(name):
    arguments = {"vocabulary_size": 5, "model_dim": 5, name: 0}
    with pytest.raises(ValueError, match=f"`{name}`.*Received"):
        ka.TokenEmbedding(**arguments)
