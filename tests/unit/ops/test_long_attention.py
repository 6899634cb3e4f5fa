"""Attention over windows and chunks: the same as over the whole, masked matrix."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention import ops
from keras_attention.ops.windowed_attention import SMALLEST_BLOCK

MASKS = {"none": None, "memory": (2, 1, 1), "rows": (1, 3, 0), "all": (2, 3, 0)}


def heads(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def mask_of(kind, length, memory_length, seed):
    """A mask in which some rows have nothing to attend to."""
    if MASKS[kind] is None:
        return None
    batch, num_heads, rows = MASKS[kind]
    shape = (batch, num_heads, rows or length, memory_length)
    if kind == "rows":
        shape = (batch, num_heads, length, 1)
    return np.random.default_rng(seed).random(shape) < 0.4


def outputs_and_gradients(function, tensors):
    variables = [tf.Variable(x) for x in tensors]
    with tf.GradientTape() as tape:
        outputs = function(*variables)
        total = tf.reduce_sum(tf.sin(outputs))
    gradients = tape.gradient(total, variables, unconnected_gradients="zero")
    return [outputs, *gradients]


def check_same(part, whole, tensors):
    found = outputs_and_gradients(part, tensors)
    for one, other in zip(found, outputs_and_gradients(whole, tensors), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=1e-5)


def whole(*masks):
    joined = ops.combine_masks(*masks)
    return lambda *x: ops.scaled_dot_product_attention(*x, joined)[0]


SIZES = dict(
    length=st.integers(0, 3 * SMALLEST_BLOCK),
    memory_length=st.one_of(st.none(), st.integers(0, 3 * SMALLEST_BLOCK)),
    size=st.integers(1, 40),
    causal=st.booleans(),
    mask=st.sampled_from(sorted(MASKS)),
)


def drawn(length, memory_length, mask):
    memory_length = length if memory_length is None else memory_length
    shapes = [(2, 3, length, 4), (2, 3, memory_length, 4), (2, 3, memory_length, 5)]
    tensors = [heads(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    return tensors, memory_length, mask_of(mask, length, memory_length, length)


@settings(max_examples=40, deadline=None)
@given(**SIZES)
def test_windows_and_their_gradients(length, memory_length, size, causal, mask):
    tensors, memory_length, given_mask = drawn(length, memory_length, mask)
    near = ops.window_mask(length, memory_length, size)
    past = ops.causal_mask(length, memory_length) if causal else None
    check_same(
        lambda *x: ops.windowed_attention(*x, size, given_mask, causal),
        whole(given_mask, near, past),
        tensors,
    )


@settings(max_examples=25, deadline=None)
@given(**SIZES)
def test_chunks_and_their_gradients(length, memory_length, size, causal, mask):
    tensors, memory_length, given_mask = drawn(length, memory_length, mask)
    past = ops.causal_mask(length, memory_length) if causal else None
    check_same(
        lambda *x: ops.chunked_attention(*x, size, given_mask, causal),
        whole(given_mask, past),
        tensors,
    )


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("name", ["windowed_attention", "chunked_attention"])
def test_in_a_graph_of_any_length(name, jit_compile):
    """One trace for all lengths, or, compiled, one for each."""
    function = getattr(ops, name)
    spec = [tf.TensorSpec((None, 3, None, 4), tf.float32)]
    graph = tf.function(
        lambda x: outputs_in_graph(function, x), spec, jit_compile=jit_compile
    )
    for length in (1, 33, 70):
        x = heads(2, 3, length, 4)
        output, gradient = graph(x)
        assert output.shape == gradient.shape == x.shape
        expected = outputs_and_gradients(lambda y: function(y, y, y, 8), [x])
        np.testing.assert_allclose(output, expected[0], atol=1e-5)
        np.testing.assert_allclose(gradient, expected[1], atol=1e-5)


@pytest.mark.parametrize("size", [10_000, 2**70])
@pytest.mark.parametrize("name", ["windowed_attention", "chunked_attention"])
def test_what_exceeds_the_sequence_costs_no_more(name, size):
    """10 000 positions beside 40 would take gigabytes; eager and in a graph."""
    x = heads(1, 1, 40, 4)
    function = getattr(ops, name)
    expected = outputs_and_gradients(lambda y: whole()(y, y, y), [x])
    graph = tf.function(
        lambda x: outputs_in_graph(function, x, size),
        [tf.TensorSpec((None, 1, None, 4), tf.float32)],
    )
    for found in (
        outputs_and_gradients(lambda y: function(y, y, y, size), [x]),
        graph(x),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
    assert largest_of(lambda x: function(x, x, x, size), 40) <= 3 * 40 * 40


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None])
def test_sizes_that_cannot_work_are_refused(size):
    x = heads(1, 1, 3, 2)
    with pytest.raises(ValueError, match="`?window.*at least 1.*Received"):
        ops.windowed_attention(x, x, x, size)
    with pytest.raises(ValueError, match="`?chunk_length.*at least 1.*Received"):
        ops.chunked_attention(x, x, x, size)


def outputs_in_graph(function, x, size=8):
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = function(x, x, x, size)
        total = tf.reduce_sum(tf.sin(output))
    return output, tape.gradient(total, x)


@pytest.mark.parametrize("name", ["windowed_attention", "chunked_attention"])
def test_scores_of_any_size_stay_finite(name):
    x = 1e4 * heads(1, 1, 40, 4)
    found = outputs_and_gradients(lambda y: getattr(ops, name)(y, y, y, 8), [x])
    assert all(np.isfinite(part).all() for part in found)


@pytest.mark.parametrize("name", ["windowed_attention", "chunked_attention"])
def test_no_tensor_holds_a_weight_for_every_pair(name):
    """The largest tensor of the graph, with its gradient, grows with the length.

    Nor is there an operation that only XLA has: a server could not run the export.
    """

    function = getattr(ops, name)

    def largest(length):
        return largest_of(lambda x: outputs_in_graph(function, x), length)

    assert largest(4_096) <= 2 * largest(2_048) < 2_048 * 256


def largest_of(function, length):
    """Returns the elements of the largest tensor of a graph; none is XLA's own."""
    x = tf.TensorSpec((1, 1, length, 4), tf.float32)
    graph = tf.function(function).get_concrete_function(x).graph
    graphs = [graph, *(f.graph for f in graph._functions.values())]
    kinds = {x.type for g in graphs for x in g.get_operations()}
    assert not [kind for kind in kinds if kind.startswith("Xla")]
    shapes = [
        output.shape
        for g in graphs
        for operation in g.get_operations()
        for output in operation.outputs
    ]
    return max(x.num_elements() or 0 for x in shapes if x.rank is not None)
