"""Restricted self-attention, section 4 of the paper: positions see their neighbours.

Queries are cut into blocks of at least `window` positions, so that what a block may
attend to lies in its own block of keys and the two beside it. Time and memory grow
with L * window, not with L * L; a window beyond the sequence costs what one of its
length does.
"""

from keras import ops

from keras_attention.checks import check_integer
from keras_attention.ops.attention import at_most, masked_softmax, pad_axis
from keras_attention.ops.masks import is_near, is_seen

SMALLEST_BLOCK = 32  # below it the products are too small to pay
_FARTHEST = 1 << 30  # no two positions are farther apart; fits into int32


def windowed_attention(
    query, key, value, window, mask=None, causal=False, dropout=None
):
    """Computes attention in which i attends to j only if |i - j| <= window.

    The same as `scaled_dot_product_attention` with that mask.

    Args:
        query: tensor of shape (B, H, Q, K).
        key: tensor of shape (B, H, M, K).
        value: tensor of shape (B, H, M, Kv).
        window: int, r > 0.
        mask: boolean tensor broadcastable to (B, H, Q, M), True = may attend.
        causal: bool, hide later positions (section 3.2.3).
        dropout: function applied to the weights; None (the paper) = none.

    Returns:
        Tensor (B, H, Q, Kv) in the dtype of `value`. A row with nothing to attend to
        gives zeros.

    Raises:
        ValueError: `window` is no integer or below 1.

    Example:

    >>> import numpy as np
    >>> x = np.ones((1, 2, 70, 4), "float32")
    >>> tuple(windowed_attention(x, x, x, window=3).shape)
    (1, 2, 70, 4)

    Reference: section 4, "restricted to considering only a neighborhood of size r".
    """
    window = min(check_integer("window", window), _FARTHEST)
    query, key, value = map(ops.convert_to_tensor, (query, key, value))
    batch, heads, length, key_dim = ops.shape(query)
    memory_length = ops.shape(key)[2]
    block = at_most(max(window, SMALLEST_BLOCK), length, memory_length)
    count = (length + block - 1) // block
    query = query * ops.cast(key_dim**-0.5, query.dtype)
    query = pad_axis(query, 2, 0, count * block - length)
    query = ops.reshape(query, (batch, heads, count, block, key_dim))
    seen = _neighbourhood(block, window, causal)
    seen = ops.logical_and(
        seen, _mask_blocks(mask, length, memory_length, count, block, causal)
    )
    keys = _with_neighbours(key, 2, count, block, causal)
    scores = ops.matmul(query, ops.swapaxes(keys, -1, -2))
    weights = masked_softmax(ops.cast(scores, "float32"), seen)
    weights = weights if dropout is None else dropout(weights)
    values = _with_neighbours(value, 2, count, block, causal)
    outputs = ops.matmul(ops.cast(weights, value.dtype), values)
    value_dim = value.shape[-1]
    outputs = ops.reshape(outputs, (batch, heads, count * block, value_dim))
    return outputs[:, :, :length]


def _neighbourhood(block, window, causal):
    """Returns which keys a query may see by distance, boolean (C, 2 C or 3 C)."""
    rows = ops.arange(block)[:, None]
    columns = ops.arange((2 if causal else 3) * block)[None, :] - block
    near = is_near(rows, columns, window)
    if causal:
        near = ops.logical_and(near, is_seen(rows, columns))
    return near


def _mask_blocks(mask, length, memory_length, count, block, causal):
    """Returns the mask of real keys and `mask`, broadcastable to the blocks' scores."""
    real = ops.ones((1, 1, 1, memory_length), dtype="bool")
    if mask is not None:
        real = ops.logical_and(real, mask)  # the last axis is now M for certain
    if real.shape[2] == 1:
        blocks = _with_neighbours(real, 3, count, block, causal)
        return ops.swapaxes(blocks, 2, 3)  # (b, h, n, 1, 3 C)
    # A mask of its own for each query is large already; its band is gathered.
    real = pad_axis(real, 2, 0, count * block - length)
    real = pad_axis(real, 3, block, (count + 1) * block)
    batch, heads, _, width = ops.shape(real)
    first = ops.arange(count)[:, None, None] * block
    rows = first + ops.arange(block)[None, :, None]
    columns = first + ops.arange((2 if causal else 3) * block)[None, None, :]
    flat = ops.reshape(real, (batch, heads, -1))
    return ops.take(flat, rows * width + columns, axis=2)


def _with_neighbours(x, axis, count, block, causal):
    """Cuts an axis into blocks, each behind the one before and before the one after.

    (..., M, K) -> (..., n, 3 C, K), or 2 C where nothing looks ahead.
    """
    before, after = ops.shape(x)[:axis], ops.shape(x)[axis + 1 :]
    ahead = (slice(None),) * axis
    x = pad_axis(x, axis, block, (count + 1) * block)
    x = x[(*ahead, slice((count + 2) * block))]
    blocks = ops.reshape(x, (*before, count + 2, block, *after))
    offsets = (0, 1) if causal else (0, 1, 2)
    parts = [blocks[(*ahead, slice(k, k + count))] for k in offsets]
    return ops.concatenate(parts, axis=axis + 1)
