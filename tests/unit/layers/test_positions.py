"""Both kinds of positions as layers: values, limits, precision."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.reference import transformer as oracle


def zeros(length, width=8, dtype="float32"):
    return keras.ops.zeros((2, length, width), dtype)


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
def test_sinusoids_are_added_from_the_start_index(layout):
    layer = ka.SinusoidalPositionalEncoding(layout)
    x = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")
    expected = x + oracle.sinusoid(range(3, 8), 8, layout)
    np.testing.assert_allclose(layer(x, start_index=3), expected, atol=1e-5)
    assert layer.count_params() == 0


def test_the_paper_is_the_default():
    assert ka.SinusoidalPositionalEncoding().layout == "interleaved"


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_positions_are_exact_in_half_precision(dtype):
    layer = ka.SinusoidalPositionalEncoding(dtype=dtype)
    output = layer(zeros(1, dtype=layer.compute_dtype), start_index=2001)
    assert keras.backend.standardize_dtype(output.dtype) == layer.compute_dtype
    # 2001 is no bfloat16: the angles must be computed before rounding.
    expected = oracle.sinusoid([2001], 8)
    np.testing.assert_allclose(tf.cast(output[0], "float32"), expected, atol=4e-3)


def test_sinusoids_have_no_end():
    assert np.isfinite(ka.SinusoidalPositionalEncoding()(zeros(3000, 4))).all()


def test_learned_positions_are_rows_of_the_table():
    layer = ka.LearnedPositionalEmbedding(16)
    layer(zeros(1))
    table = layer.embeddings.numpy()
    assert table.shape == (16, 8) and layer.count_params() == 128
    np.testing.assert_array_equal(layer(zeros(5), start_index=11)[1], table[11:])
    np.testing.assert_array_equal(layer(zeros(16))[0], table)
    np.testing.assert_array_equal(layer(zeros(1), start_index=15)[0], table[15:])


@pytest.mark.parametrize(("length", "start"), [(17, 0), (2, 15), (1, 16)])
def test_too_long_an_input_is_refused_eagerly(length, start):
    layer = ka.LearnedPositionalEmbedding(16)
    end = length + start
    with pytest.raises(ValueError, match=f"holds 16 .*Received: .*{end}"):
        layer(zeros(length), start_index=start)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(("length", "start"), [(17, 0), (2, 15), (1, 16)])
def test_too_long_an_input_is_refused_in_a_graph(length, start, jit_compile):
    layer = ka.LearnedPositionalEmbedding(16)
    layer(zeros(1))
    signature = [tf.TensorSpec((None, None, 8)), tf.TensorSpec((), tf.int32)]
    graph = tf.function(layer, input_signature=signature, jit_compile=jit_compile)
    if jit_compile and start:
        pytest.skip("XLA needs a start that is known when it compiles")
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        graph(tf.zeros((1, length, 8)), tf.constant(start))
    if not start:
        assert "16" in str(error.value) and "17" in str(error.value)


def test_the_longest_input_passes_in_a_graph():
    layer = ka.LearnedPositionalEmbedding(16)
    layer(zeros(1))
    graph = tf.function(layer, input_signature=[tf.TensorSpec((None, None, 8))])
    assert graph(tf.zeros((1, 16, 8))).shape == (1, 16, 8)


def test_only_rows_in_use_have_a_gradient():
    layer = ka.LearnedPositionalEmbedding(6)
    layer(zeros(1))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(zeros(2), start_index=1))
    gradient = tf.convert_to_tensor(tape.gradient(total, layer.embeddings.value))
    np.testing.assert_array_equal(gradient[:, 0], [0, 2, 2, 0, 0, 0])


@pytest.mark.parametrize(
    ("build", "pattern"),
    [
        (
            lambda: ka.SinusoidalPositionalEncoding("x"),
            "`layout`.*Received: layout='x'",
        ),
        (lambda: ka.LearnedPositionalEmbedding(0), "`max_length`.*Received"),
        (lambda: ka.LearnedPositionalEmbedding(None), "`max_length`.*Received"),
    ],
)
def test_what_cannot_work_is_refused(build, pattern):
    with pytest.raises(ValueError, match=pattern):
        build()
