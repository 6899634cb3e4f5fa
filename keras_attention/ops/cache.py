"""Caches of keys and values for decoding one position of several hypotheses at a time.

A cache is never put into another order. Hypothesis w of a sentence writes to slot w of
a position, and its `lineage` says which slot of every position holds its own past; the
W hypotheses of a sentence attend to all slots at once, each through its mask.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

CAPACITY = 8  # positions of a new cache, and the least by which one grows


class DecodingPlace(NamedTuple):
    """What all blocks share when a position is decoded."""

    beams: int  # W
    index: Any  # (B * H,) int32, where the position lies in the caches
    capacity: Any  # C, an int or int32 scalar
    self_bias: Any  # float32 (B, 1, W, C * W), on the scores of the cached slots
    memory_bias: Any  # float32 (B, 1, 1, S), on the scores of the memory
    self_small: Any  # what `is_small` says of the scores of the slots
    memory_small: Any  # and of those of the memory
    in_place: bool  # whether the caches may be written in place


def empty_cache(sentences, beams, num_heads, key_dim, value_dim, capacity, dtype):
    """Returns a cache of no written positions.

    Args:
        sentences: int or scalar tensor, B.
        beams: int, W.
        num_heads: int, H.
        key_dim, value_dim: ints, sizes of one head.
        capacity: int or scalar tensor, C, positions there is room for.
        dtype: dtype of the cached tensors.

    Returns:
        Dictionary of "key" (B, H, C, W * K) and "value" (B, H, C, W * Kv).

    Example:

    >>> tuple(empty_cache(2, 3, 2, 4, 4, 16, "float32")["key"].shape)
    (2, 2, 16, 12)
    """
    shape = (sentences, num_heads, capacity)
    return {
        "key": _zeros((*shape, beams * key_dim), dtype),
        "value": _zeros((*shape, beams * value_dim), dtype),
    }


def _zeros(shape, dtype):
    if keras.backend.backend() != "tensorflow":
        return ops.zeros(shape, dtype=dtype)
    import tensorflow as tf

    # Not a constant, which calls of a graph would share and write to.
    empty = tf.raw_ops.Empty(shape=tf.stack(shape), dtype=dtype, init=True)
    # A graph must not take the capacity for a constant: it grows.
    known = [None, shape[1], None, shape[3]]
    return tf.compat.v1.placeholder_with_default(empty, known)


def empty_lineage(rows, capacity):
    """Returns the lineage (R, C) int32 of hypotheses without a past: -1 everywhere.

    Example:

    >>> empty_lineage(1, 2).numpy().tolist()
    [[-1, -1]]
    """
    return ops.full((rows, capacity), -1, dtype="int32")


def extend_lineage(lineage, step, beams):
    """Notes that every hypothesis writes position `step` to its own slot.

    Args:
        lineage: int32 (R, C).
        step: int32 scalar.
        beams: int, W; row r stands in slot r % W.

    Example:

    >>> extend_lineage(empty_lineage(2, 2), 0, beams=2).numpy().tolist()
    [[0, -1], [1, -1]]
    """
    rows, capacity = ops.shape(lineage)
    slots = ops.arange(rows, dtype="int32") % beams
    return ops.where(ops.arange(capacity) == step, slots[:, None], lineage)


def lineage_mask(lineage, beams):
    """Returns what each hypothesis may attend to: boolean (B, 1, W, C * W).

    Args:
        lineage: int32 (B * W, C).
        beams: int, W.

    Example:

    >>> import numpy as np
    >>> lineage = np.array([[1, -1], [0, -1]], "int32")  # the two came from each other
    >>> lineage_mask(lineage, beams=2).numpy().astype(int).tolist()
    [[[[0, 1, 0, 0], [1, 0, 0, 0]]]]
    """
    capacity = ops.shape(lineage)[1]
    mask = ops.equal(ops.expand_dims(lineage, -1), ops.arange(beams, dtype="int32"))
    return ops.reshape(mask, (-1, 1, beams, capacity * beams))


def position_index(cache, step):
    """Returns where position `step` lies in a cache with (B, H, C) merged: (B * H,)."""
    sentences, heads, capacity, _ = ops.shape(cache["key"])
    return ops.arange(sentences * heads, dtype="int32") * capacity + step


def write_to_cache(cache, index, key, value, capacity, in_place=True):
    """Returns the cache with one position written.

    Args:
        cache: dictionary of "key" (B, H, C, W * K) and "value" (B, H, C, W * Kv).
        index: what `position_index` returned.
        key: tensor of B * H * W * K elements in the order (B, H, W, K).
        value: tensor in the order (B, H, W, Kv).
        capacity: int or int32 scalar, C.
        in_place: on TensorFlow, write into the memory of `cache`, whatever its length;
            else copy it all. XLA does not need it and does not know it.

    Example:

    >>> cache = empty_cache(1, 1, 1, 2, 2, 3, "float32")
    >>> index = position_index(cache, 1)
    >>> cache = write_to_cache(cache, index, ops.ones((1, 2)), ops.ones((1, 2)), 3)
    >>> cache["key"].numpy().tolist()
    [[[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]]]
    """
    return {
        "key": _write(cache["key"], index, key, capacity, in_place),
        "value": _write(cache["value"], index, value, capacity, in_place),
    }


def _write(buffer, index, rows, capacity, in_place):
    _, heads, _, width = buffer.shape
    flat = ops.reshape(buffer, (-1, width))
    rows = ops.reshape(rows, (-1, width))
    if in_place and keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        flat = tf.raw_ops.InplaceUpdate(x=flat, i=index, v=rows)
    else:
        flat = ops.scatter_update(flat, index[:, None], rows)
    return ops.reshape(flat, (-1, heads, capacity, width))


def grow_cache(cache, lineage, step, limit=None):
    """Returns caches and lineage with room for position `step`.

    Args:
        cache: list of caches of one capacity C.
        lineage: int32 (R, C).
        step: int32 scalar, at most C.
        limit: int, a capacity that is not exceeded: older positions make room.

    Returns:
        Tuple of both, as they are or an eighth larger: attention looks at what is
        not written yet, too, and copying costs a constant a position.

    Example:

    >>> cache, lineage = grow_cache([], empty_lineage(1, 16), 16)
    >>> tuple(lineage.shape)
    (1, 24)
    """
    capacity = ops.shape(lineage)[1]
    more = ops.maximum(capacity // 8, CAPACITY)
    full = step >= capacity
    if limit is not None:
        more = ops.maximum(ops.minimum(more, limit - capacity), 0)
        full = ops.logical_and(full, more > 0)

    def grown():
        longer = [
            {n: ops.pad(x, [[0, 0], [0, 0], [0, more], [0, 0]]) for n, x in c.items()}
            for c in cache
        ]
        tail = [[0, 0], [0, more]]
        return longer, ops.pad(lineage, tail, constant_values=-1)

    return ops.cond(full, grown, lambda: (cache, lineage))
