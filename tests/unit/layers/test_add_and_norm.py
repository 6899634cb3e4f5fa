"""Residual connection, dropout and layer normalisation."""

import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.reference import bridge
from tests.reference import transformer as oracle


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(**arguments):
    layer = ka.AddAndNorm(**arguments)
    layer(normal(1, 2, 6), normal(1, 2, 6))
    layer.norm.gamma.assign(normal(6, seed=5))
    layer.norm.beta.assign(normal(6, seed=6))
    return layer


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2])
def test_post_norm_equals_the_oracle(epsilon):
    layer, x, y = make(layer_norm_epsilon=epsilon), normal(2, 3, 6), normal(2, 3, 6)
    weights = bridge.weights_of(bridge.norm_variables(layer))
    expected = oracle.layer_norm(x + y.astype("float64"), weights, epsilon)
    np.testing.assert_allclose(layer(x, y), expected, atol=1e-5)
    np.testing.assert_array_equal(layer.prepare(x), x)


def test_pre_norm_prepares_and_only_adds():
    layer, x, y = make(norm_position="pre"), normal(2, 3, 6), normal(2, 3, 6, seed=1)
    weights = bridge.weights_of(bridge.norm_variables(layer))
    expected = oracle.layer_norm(x.astype("float64"), weights, 1e-6)
    np.testing.assert_allclose(layer.prepare(x), expected, atol=1e-5)
    np.testing.assert_allclose(layer(x, y), x + y, atol=1e-6)


def test_dropout_acts_on_the_sub_layer_only(seeded):
    layer = ka.AddAndNorm(dropout_rate=0.5, norm_position="pre")
    x, y = np.full((1, 1, 4000), 7.0, "float32"), np.ones((1, 1, 4000), "float32")
    output = np.asarray(layer(x, y, training=True))
    # Dropped outputs leave the residual, kept ones are scaled by 1 / (1 - rate).
    assert set(np.unique(output)) == {7.0, 9.0}
    assert 0.45 < (output == 7.0).mean() < 0.55


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_statistics_are_float32(policy):
    layer = make(dtype=policy)
    x = (normal(1, 4, 6) + 200).astype("float32")
    half = tf.cast(x, layer.compute_dtype)
    weights = bridge.weights_of(bridge.norm_variables(layer))
    exact = oracle.layer_norm(np.asarray(tf.cast(half, "float64")), weights, 1e-6)
    output = tf.cast(layer(half, tf.zeros_like(half)), "float32")
    np.testing.assert_allclose(output, exact, atol=3e-2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dropout_rate", -0.1),
        ("dropout_rate", 1.0),
        ("layer_norm_epsilon", 0.0),
        ("layer_norm_epsilon", "1e-6"),
        ("norm_position", "both"),
    ],
)
def test_what_cannot_work_is_refused(name, value):
    with pytest.raises(ValueError, match=f"`{name}`.*Received"):
        ka.AddAndNorm(**{name: value})
