"""Masks: who may attend to whom. True means "may attend" or "is real".

All masks of the package are made here, as boolean tensors that broadcast to the
shape of the attention scores, (B, H, Q, M).
"""

from keras import ops

from keras_attention.vocabulary import PAD_ID


def padding_mask(ids):
    """Marks the real positions of padded ids.

    Args:
        ids: integer tensor of shape (B, L).

    Returns:
        Boolean tensor of shape (B, L), False where the id is PAD.

    Example:

    >>> import numpy as np
    >>> padding_mask(np.array([[5, 6, 0]])).numpy().tolist()
    [[True, True, False]]
    """
    return ops.not_equal(ids, PAD_ID)


def _positions(query_length, memory_length, offset):
    rows = ops.expand_dims(ops.arange(query_length), 1) + offset  # (Q, 1)
    columns = ops.expand_dims(ops.arange(memory_length), 0)  # (1, M)
    return rows, columns


def is_seen(rows, columns):
    """Whether a position may look at another: at itself and at earlier ones.

    Args:
        rows: integer tensor, positions that look, broadcastable to `columns`.
        columns: integer tensor, positions that are looked at.

    Returns:
        Boolean tensor of their common shape.

    Example:

    >>> is_seen(1, ops.arange(3)).numpy().tolist()
    [True, True, False]
    """
    return ops.less_equal(columns, rows)


def is_near(rows, columns, window):
    """Whether two positions are at most `window` apart.

    Args:
        rows, columns: integer tensors that broadcast to each other.
        window: int.

    Returns:
        Boolean tensor of their common shape.

    Example:

    >>> is_near(0, ops.arange(3), window=1).numpy().tolist()
    [True, True, False]
    """
    return ops.less_equal(ops.abs(rows - columns), window)


def causal_mask(query_length, memory_length, offset=0):
    """Lets a position attend to itself and to earlier ones (section 3.2.3).

    Args:
        query_length: int or scalar tensor, Q.
        memory_length: int or scalar tensor, M.
        offset: position of the first query among the memory positions.

    Returns:
        Boolean tensor of shape (1, 1, Q, M).

    Example:

    >>> causal_mask(2, 3).numpy().tolist()
    [[[[True, False, False], [True, True, False]]]]
    """
    rows, columns = _positions(query_length, memory_length, offset)
    return is_seen(rows, columns)[None, None]


def window_mask(query_length, memory_length, window, offset=0):
    """Lets a position attend to a neighbourhood: |i - j| <= window (section 4).

    Args:
        query_length: int or scalar tensor, Q.
        memory_length: int or scalar tensor, M.
        window: int, the r of restricted self-attention.
        offset: position of the first query among the memory positions.

    Returns:
        Boolean tensor of shape (1, 1, Q, M).

    Example:

    >>> window_mask(3, 3, window=1).numpy()[0, 0].tolist()
    [[True, True, False], [True, True, True], [False, True, True]]
    """
    rows, columns = _positions(query_length, memory_length, offset)
    return is_near(rows, columns, window)[None, None]


def _to_scores_rank(mask, name):
    rank = len(mask.shape)
    if rank == 2:
        return ops.expand_dims(mask, (1, 2))  # (B, M)
    if rank == 3:
        return ops.expand_dims(mask, 1)  # (B, Q, M)
    if rank == 4:
        return mask
    raise ValueError(
        f"`{name}` must have rank 2 (B, M), 3 (B, Q, M) or 4, broadcastable to "
        f"(B, H, Q, M). Received: shape {tuple(mask.shape)}."
    )


def combine_masks(*masks, name="mask"):
    """Combines masks by "and"; a position is attended to if every mask allows it.

    Args:
        *masks: boolean (or 0 / 1) tensors of shape (B, M), (B, Q, M) or
            broadcastable to (B, H, Q, M); None counts as "everything allowed".
        name: how to call the masks in an error.

    Returns:
        Boolean tensor broadcastable to (B, H, Q, M), or None if all are None.

    Raises:
        ValueError: a mask of another rank.

    Example:

    >>> import numpy as np
    >>> real = np.array([[True, True, False]])
    >>> combine_masks(causal_mask(3, 3), real, None).numpy()[0, 0, 2].tolist()
    [True, True, False]
    """
    combined = None
    for mask in masks:
        if mask is None:
            continue
        mask = _to_scores_rank(ops.cast(mask, "bool"), name)
        combined = mask if combined is None else ops.logical_and(combined, mask)
    return combined
