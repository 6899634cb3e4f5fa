"""Sinusoids: both formulas, every width, and the property of section 3.5."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention import ops
from tests.reference import transformer as oracle

LAYOUTS = ("interleaved", "concatenated")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 3000), st.sampled_from(LAYOUTS))
def test_equals_the_oracle(model_dim, start, layout):
    table = ops.sinusoids(4, model_dim, start, layout)
    expected = oracle.sinusoid(range(start, start + 4), model_dim, layout)
    assert table.shape == (4, model_dim)
    # The angle itself has float32 precision: 3000 is known to about 1e-4.
    np.testing.assert_allclose(table, expected, atol=1e-5 + 1e-7 * start)


@pytest.mark.parametrize(
    ("model_dim", "row"),
    [
        (1, [0.841471]),
        (2, [0.841471, 0.540302]),
        (5, [0.841471, 0.540302, 0.025116, 0.999685, 0.000631]),
    ],
)
def test_small_and_odd_widths(model_dim, row):
    np.testing.assert_allclose(ops.sinusoids(2, model_dim)[1], row, atol=1e-6)


@pytest.mark.parametrize("model_dim", [1, 2, 3, 5, 64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_width_is_finite(model_dim, layout):
    assert np.isfinite(ops.sinusoids(50, model_dim, layout=layout)).all()


def test_row_16():
    row = ops.sinusoids(17, 4)[16]
    np.testing.assert_allclose(
        row, [-0.287903, -0.957659, 0.159318, 0.987227], atol=1e-6
    )


@pytest.mark.parametrize("offset", [1, 7, 40])
def test_a_shift_is_a_linear_function(offset):
    """PE(pos + k) = M_k PE(pos) with one M_k for all pos: a rotation of each pair."""
    table = np.asarray(ops.sinusoids(200, 16), "float64")
    angles = offset / 10000 ** (np.arange(0, 16, 2) / 16)
    shift = np.zeros((16, 16))
    for pair, angle in enumerate(angles):
        block = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        shift[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = block
    np.testing.assert_allclose(table[:-offset] @ shift.T, table[offset:], atol=2e-5)


def test_start_index_may_be_a_tensor_in_a_graph():
    graph = tf.function(lambda start, n: ops.sinusoids(n, 6, start))
    table = graph(tf.constant(5), tf.constant(3))
    np.testing.assert_allclose(table, ops.sinusoids(8, 6)[5:], atol=1e-6)
    assert ops.sinusoids(0, 6).shape == (0, 6)


def test_positions_are_float32_under_every_policy():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        table = ops.sinusoids(400, 8)
    finally:
        keras.config.set_dtype_policy("float32")
    assert keras.backend.standardize_dtype(table.dtype) == "float32"
    # 257 and 258 are the same bfloat16.
    assert np.abs(np.asarray(table[257] - table[258])).max() > 0.1


def test_published_values_of_the_paper_formula(shared_data):
    cases = json.loads((shared_data / "vectors/sinusoid.json").read_text())
    for case in cases["paper_formula"]["cases"]:
        row = ops.sinusoids(1, case["d"], case["pos"])[0]
        np.testing.assert_allclose(row, case["expected"], atol=case["tol"])


def test_published_values_of_the_other_formula(shared_data):
    """Layout "concatenated" is tensor2tensor's: exponent i / (d/2 - 1)."""
    cases = json.loads((shared_data / "vectors/sinusoid.json").read_text())
    for case in cases["t2t_variant"]["cases"]:
        row = ops.sinusoids(1, case["d"], case["pos"], "concatenated")[0]
        expected = case.get("expected") or case["first_5_columns"]
        # 1e-7 is asked of some; float32 angles give 2e-7.
        tolerance = max(case["tol"], 2e-7)
        np.testing.assert_allclose(row[: len(expected)], expected, atol=tolerance)
