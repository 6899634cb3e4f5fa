"""Masks: shapes, meaning, and two published tables."""

import json

import keras
import numpy as np
import pytest

from keras_attention import ops


def test_padding_mask_marks_real_ids():
    ids = np.array([[5, 1, 0], [0, 2, 3]], "int32")
    np.testing.assert_array_equal(
        ops.padding_mask(ids), [[True, True, False], [False, True, True]]
    )


def test_causal_mask_with_an_offset():
    # One query at position 2 of 4 cached positions.
    np.testing.assert_array_equal(
        ops.causal_mask(1, 4, offset=2)[0, 0], [[True, True, True, False]]
    )
    np.testing.assert_array_equal(ops.causal_mask(5, 5)[0, 0], np.tri(5, dtype=bool))


@pytest.mark.parametrize("window", [1, 2, 7])
def test_window_mask_is_a_band(window):
    rows, columns = np.indices((5, 6))
    expected = np.abs(rows - columns) <= window
    np.testing.assert_array_equal(ops.window_mask(5, 6, window)[0, 0], expected)
    last = ops.window_mask(1, 6, window, offset=4)[0, 0]
    np.testing.assert_array_equal(last, expected[4:5])


def test_masks_are_boolean():
    for mask in (
        ops.padding_mask(np.array([[1]])),
        ops.causal_mask(2, 2),
        ops.window_mask(2, 2, 1),
        ops.combine_masks(np.array([[1, 0]])),
    ):
        assert keras.backend.standardize_dtype(mask.dtype) == "bool"


def test_combining_is_and_whatever_the_ranks():
    random = np.random.default_rng(0)
    memory = random.random((2, 4)) < 0.5
    pairs = random.random((2, 3, 4)) < 0.5
    heads = random.random((1, 5, 3, 4)) < 0.5
    combined = ops.combine_masks(None, memory, pairs, heads, None)
    expected = memory[:, None, None] & pairs[:, None] & heads
    np.testing.assert_array_equal(combined, expected)
    assert ops.combine_masks(None, None) is None
    assert ops.combine_masks() is None


@pytest.mark.parametrize("rank", [1, 5])
def test_a_mask_of_another_rank_is_refused(rank):
    with pytest.raises(ValueError, match=r"`m` must have rank 2.*Received: shape"):
        ops.combine_masks(np.ones((1,) * rank), name="m")


def test_published_padding_mask(shared_data):
    """tf-models marks the padding with 1, we mark what is real with True."""
    case = json.loads((shared_data / "vectors/masks.json").read_text())["padding_bias"]
    np.testing.assert_array_equal(
        ops.padding_mask(np.array(case["x"])), np.array(case["padding"]) == 0
    )


def test_published_causal_mask(shared_data):
    case = json.loads((shared_data / "vectors/masks.json").read_text())["causal_bias"]
    mask = ops.causal_mask(case["length"], case["length"])
    assert list(mask.shape) == case["shape"]
    np.testing.assert_array_equal(mask[0, 0], np.array(case["blocked"]) == 0)


@pytest.mark.parametrize(("key", "size"), [("expected", 4), ("max5", 5)])
def test_published_future_mask(shared_data, key, size):
    """OpenNMT-tf joins the causal mask and the lengths of the memory into one."""
    case = json.loads((shared_data / "vectors/masks.json").read_text())
    case = case["future_mask_keep"]
    real = np.arange(size) < np.array(case["length"])[:, None]
    mask = ops.combine_masks(ops.causal_mask(size, size), real)
    np.testing.assert_array_equal(mask[:, 0], np.array(case[key], bool))
