"""Equation (1) against the oracle, in every precision."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention import ops
from keras_attention.ops.attention import attention_weights
from tests.reference import transformer as oracle


def heads(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@settings(max_examples=25, deadline=None)
@given(
    query_length=st.integers(0, 4),
    memory_length=st.integers(0, 5),
    key_dim=st.integers(1, 4),
    value_dim=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
def test_equals_the_oracle(query_length, memory_length, key_dim, value_dim, seed):
    query = heads(2, 3, query_length, key_dim, seed=seed)
    key = heads(2, 3, memory_length, key_dim, seed=seed + 1)
    value = heads(2, 3, memory_length, value_dim, seed=seed + 2)
    shape = (2, 1, query_length, memory_length)
    mask = np.random.default_rng(seed).random(shape) < 0.6
    for chosen in (mask, None):
        output, weights = ops.scaled_dot_product_attention(query, key, value, chosen)
        expected, maps = oracle.attention(query, key, value, chosen)
        np.testing.assert_allclose(output, expected, atol=1e-5)
        np.testing.assert_allclose(weights, maps, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_masked_entries_are_exactly_zero(dtype):
    query = keras.ops.cast(heads(1, 1, 3, 4) * 20, dtype)
    mask = np.array([[[[True, False], [False, True], [False, False]]]])
    weights = attention_weights(query, query[:, :, :2], mask)
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    np.testing.assert_array_equal(weights[0, 0], [[1, 0], [0, 1], [0, 0]])


def test_gradients_are_finite_and_zero_where_masked():
    query, key, value = (tf.Variable(heads(1, 1, 3, 4, seed=s)) for s in range(3))
    mask = np.array([[[[True, True, False], [True, True, False], [False] * 3]]])
    with tf.GradientTape() as tape:
        output, _ = ops.scaled_dot_product_attention(query, key, value, mask)
        total = tf.reduce_sum(output**2)
    gradients = tape.gradient(total, [query, key, value])
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    np.testing.assert_array_equal(output[0, 0, 2], np.zeros(4))
    np.testing.assert_array_equal(gradients[0][0, 0, 2], np.zeros(4))
    for gradient in gradients[1:]:
        np.testing.assert_array_equal(gradient[0, 0, 2], np.zeros(4))


def test_the_softmax_survives_large_scores():
    query = heads(1, 1, 2, 4) * 1e4
    _, weights = ops.scaled_dot_product_attention(query, query, query)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-6)


def test_equal_keys_share_the_weight_equally():
    query, key = heads(1, 1, 2, 4), np.ones((1, 1, 5, 4), "float32")
    np.testing.assert_allclose(attention_weights(query, key), 0.2, atol=1e-6)


def test_scores_are_divided_by_the_root_of_d_k():
    # Scores of variance 1 whatever d_k is: the reason the paper gives.
    for key_dim in (4, 256):
        query, key = heads(1, 1, 64, key_dim), heads(1, 1, 64, key_dim, seed=1)
        weights = np.asarray(attention_weights(query, key), "float64")
        scores = np.log(weights) - np.log(weights).mean(-1, keepdims=True)
        assert 0.8 < scores.std() < 1.2


def test_split_and_merge_are_inverse():
    x = heads(2, 5, 12)
    parts = ops.split_heads(x, 3)
    assert parts.shape == (2, 3, 5, 4)
    np.testing.assert_array_equal(parts[:, 1], x[..., 4:8])
    np.testing.assert_array_equal(ops.merge_heads(parts), x)


def test_dropout_is_applied_to_the_weights_only():
    query = heads(1, 1, 2, 4)
    output, weights = ops.scaled_dot_product_attention(
        query, query, query, dropout=lambda w: w * 0
    )
    np.testing.assert_array_equal(output, np.zeros((1, 1, 2, 4)))
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-6)
