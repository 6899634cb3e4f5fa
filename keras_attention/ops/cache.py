"""Caches of keys and values for decoding one position at a time."""

from keras import ops


def empty_cache(rows, num_heads, key_dim, value_dim, dtype):
    """Returns a cache of no positions.

    Args:
        rows: int or scalar tensor, R.
        num_heads: int, H.
        key_dim, value_dim: ints, sizes of one head.
        dtype: dtype of the cached tensors.

    Returns:
        Dictionary of "key" (R, H, 0, K) and "value" (R, H, 0, Kv).

    Example:

    >>> tuple(empty_cache(3, 2, 4, 4, "float32")["key"].shape)
    (3, 2, 0, 4)
    """
    return {
        "key": ops.zeros((rows, num_heads, 0, key_dim), dtype=dtype),
        "value": ops.zeros((rows, num_heads, 0, value_dim), dtype=dtype),
    }


def append_to_cache(cache, key, value):
    """Returns the cache with one or more positions appended.

    Args:
        cache: dictionary of "key" (R, H, T, K) and "value" (R, H, T, Kv).
        key: tensor of shape (R, H, Q, K).
        value: tensor of shape (R, H, Q, Kv).

    Returns:
        Dictionary of "key" (R, H, T + Q, K) and "value" (R, H, T + Q, Kv).

    Example:

    >>> cache = empty_cache(3, 2, 4, 4, "float32")
    >>> step = ops.ones((3, 2, 1, 4))
    >>> tuple(append_to_cache(cache, step, step)["value"].shape)
    (3, 2, 1, 4)
    """
    return {
        "key": ops.concatenate([cache["key"], key], axis=2),
        "value": ops.concatenate([cache["value"], value], axis=2),
    }
