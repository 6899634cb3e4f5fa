"""Matrix products for inputs of any rank."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention import ops


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 0), (2, 3, 4)])
def test_equals_numpy(leading):
    random = np.random.default_rng(0)
    x, kernel, bias = (
        random.normal(size=s).astype("float32") for s in ((*leading, 5), (5, 7), (7,))
    )
    np.testing.assert_allclose(
        ops.linear(x, kernel, bias), x @ kernel + bias, atol=1e-5
    )
    np.testing.assert_allclose(ops.linear(x, kernel), x @ kernel, atol=1e-5)


def test_the_dtype_of_the_inputs_is_kept():
    x = keras.ops.ones((2, 3), "bfloat16")
    output = ops.linear(x, np.ones((3, 4), "float32"), np.ones(4, "float32"))
    assert keras.backend.standardize_dtype(output.dtype) == "bfloat16"


def test_unknown_sizes_in_a_graph():
    graph = tf.function(
        lambda x: ops.linear(x, np.ones((3, 4), "float32")),
        input_signature=[tf.TensorSpec((None, None, 3))],
    )
    assert graph(np.ones((2, 5, 3), "float32")).shape == (2, 5, 4)


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 0)])
def test_transposed_equals_numpy(leading):
    random = np.random.default_rng(0)
    x, kernel = (
        random.normal(size=s).astype("float32") for s in ((*leading, 5), (7, 5))
    )
    np.testing.assert_allclose(
        ops.linear_transposed(x, kernel), x @ kernel.T, atol=1e-5
    )


@pytest.mark.parametrize("graph", [False, True])
def test_transposed_gradients_are_those_of_the_tape(graph):
    random = np.random.default_rng(0)
    x, kernel, upstream = (
        tf.constant(random.normal(size=s), tf.float32)
        for s in ((2, 3, 5), (7, 5), (2, 3, 7))
    )

    def gradients(product):
        with tf.GradientTape() as tape:
            tape.watch([x, kernel])
            total = tf.reduce_sum(product(x, kernel) * upstream)
        return tape.gradient(total, [x, kernel])

    by_hand = tf.function(gradients) if graph else gradients
    expected = gradients(lambda x, kernel: tf.matmul(x, kernel, transpose_b=True))
    for one, other in zip(by_hand(ops.linear_transposed), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
