"""Growing caches of keys and values."""

import numpy as np
import tensorflow as tf

from keras_attention import ops


def test_a_cache_starts_empty_and_keeps_the_order():
    cache = ops.empty_cache(2, 3, 4, 5, "float32")
    keys = np.random.default_rng(0).normal(size=(2, 3, 6, 4)).astype("float32")
    values = np.random.default_rng(1).normal(size=(2, 3, 6, 5)).astype("float32")
    for start, end in ((0, 1), (1, 3), (3, 6)):
        cache = ops.append_to_cache(
            cache, keys[:, :, start:end], values[:, :, start:end]
        )
    np.testing.assert_array_equal(cache["key"], keys)
    np.testing.assert_array_equal(cache["value"], values)


def test_the_dtype_is_kept_and_rows_may_be_a_tensor():
    cache = tf.function(lambda rows: ops.empty_cache(rows, 1, 2, 3, "bfloat16"))(
        tf.constant(4)
    )
    assert cache["key"].shape == (4, 1, 0, 2) and cache["value"].dtype == "bfloat16"
