"""One matrix product for inputs of any rank."""

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
