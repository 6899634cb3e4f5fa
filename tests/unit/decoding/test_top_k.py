"""The best ids by blocks are those that a look at every logit finds."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding.top_k import LARGEST, SMALLEST, block_width, top_k


@pytest.mark.parametrize("size", [5, 700, 8_000, 7_919, 37_000, 32_003])
@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("values", ["random", "ties", "never"])
def test_equals_top_k_of_tensorflow(size, count, values):
    rng = np.random.default_rng(size)
    if values == "ties":
        x = rng.integers(0, 3, (4, size)).astype("float32")
    else:
        x = rng.normal(size=(4, size)).astype("float32")
    if values == "never":
        x[rng.random(x.shape) < 0.999] = -np.inf
        x[0] = -np.inf
    count = min(count, size)
    expected = tf.math.top_k(x, count)
    found = top_k(tf.constant(x), count)
    np.testing.assert_array_equal(found[0], expected.values)
    real = np.isfinite(expected.values)
    np.testing.assert_array_equal(
        found[1].numpy()[real], expected.indices.numpy()[real]
    )
    assert np.all((found[1] >= 0) & (found[1] < size))


@pytest.mark.parametrize("size", [8_000, 37_000, 7_919])
def test_blocks_divide_the_vocabulary_where_they_can(size):
    width = block_width(size)
    assert SMALLEST <= width <= LARGEST
    assert size % width == 0 or all(size % w for w in range(SMALLEST, LARGEST + 1))
