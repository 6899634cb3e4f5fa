import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.ops import layer_norm

RANDOM = np.random.default_rng(4)
INPUTS = (RANDOM.normal(size=(2, 3, 6)) * 3 + 1).astype("float32")
GAMMA, BETA = RANDOM.normal(size=(2, 6)).astype("float32")
EPSILON = 1e-3


def plainly(inputs, gamma, beta, epsilon=EPSILON):
    mean, variance = tf.nn.moments(inputs, -1, keepdims=True)
    return gamma * (inputs - mean) / tf.sqrt(variance + epsilon) + beta


def with_gradients(function, dtype=tf.float64):
    arguments = [tf.constant(x, dtype) for x in (INPUTS, GAMMA, BETA)]
    upstream = tf.constant(RANDOM.normal(size=INPUTS.shape), dtype)
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        outputs = function(*arguments)
        total = tf.reduce_sum(
            tf.cast(outputs, tf.float32) * tf.cast(upstream, "float32")
        )
    return outputs, *tape.gradient(total, arguments)


@pytest.fixture(autouse=True)
def same_upstream():
    global RANDOM
    RANDOM = np.random.default_rng(9)


def test_values_and_all_three_gradients_are_those_of_the_formula():
    global RANDOM
    found = with_gradients(lambda *a: layer_norm(*a, EPSILON), tf.float32)
    RANDOM = np.random.default_rng(9)
    expected = with_gradients(plainly)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)


def test_it_is_the_layer_of_keras():
    layer = keras.layers.LayerNormalization(epsilon=EPSILON)
    layer.build(INPUTS.shape)
    layer.set_weights([GAMMA, BETA])
    ours = layer_norm(INPUTS, GAMMA, BETA, EPSILON)
    np.testing.assert_allclose(ours, layer(INPUTS), atol=1e-5)


def test_a_constant_row_gives_beta_and_finite_gradients():
    inputs = tf.fill((2, 6), 5.0)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer_norm(inputs, GAMMA, BETA, 1e-6)
    np.testing.assert_allclose(outputs, np.tile(BETA, (2, 1)), atol=1e-5)
    assert np.isfinite(tape.gradient(outputs, inputs)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_float32(dtype):
    # A square of 300 does not fit float16.
    inputs = keras.ops.cast(INPUTS * 100, dtype)
    outputs = layer_norm(inputs, GAMMA, BETA, EPSILON)
    assert keras.backend.standardize_dtype(outputs.dtype) == dtype
    wanted = plainly(tf.cast(inputs, "float32"), GAMMA, BETA)
    np.testing.assert_allclose(keras.ops.cast(outputs, "float32"), wanted, atol=0.02)
