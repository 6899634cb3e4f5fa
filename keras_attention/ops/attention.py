"""Scaled dot-product attention, equation (1) of the paper."""

import functools

from keras import ops

from keras_attention.ops.linear import linear

# Far below every score, yet finite and exact in float32: added to a score it leaves
# nothing of it, and the softmax gives such a position exactly 0.
MASKED_SCORE = -1e9


def split_heads(inputs, num_heads):
    """Cuts the last axis into heads: (B, L, H * K) -> (B, H, L, K).

    Example:

    >>> import numpy as np
    >>> tuple(split_heads(np.ones((2, 5, 8)), num_heads=4).shape)
    (2, 4, 5, 2)
    """
    batch, length, width = ops.shape(inputs)
    heads = ops.reshape(inputs, (batch, length, num_heads, width // num_heads))
    return ops.transpose(heads, (0, 2, 1, 3))


def merge_heads(heads):
    """Concatenates the heads again: (B, H, L, K) -> (B, L, H * K).

    Example:

    >>> import numpy as np
    >>> tuple(merge_heads(np.ones((2, 4, 5, 2))).shape)
    (2, 5, 8)
    """
    batch, num_heads, length, width = ops.shape(heads)
    merged = ops.transpose(heads, (0, 2, 1, 3))
    return ops.reshape(merged, (batch, length, num_heads * width))


def project_heads(inputs, kernels, biases, num_heads):
    """Projects the same inputs several times: one product, and one transposition.

    Args:
        inputs: tensor of shape (B, L, D).
        kernels: list of tensors of one shape, (D, H * K).
        biases: list of tensors of shape (H * K,), or of None.
        num_heads: int, H.

    Returns:
        List of tensors of shape (B, H, L, K), one for each kernel.

    Example:

    >>> import numpy as np
    >>> kernels = [np.ones((3, 8), "float32")] * 2
    >>> heads = project_heads(np.ones((2, 5, 3), "float32"), kernels, [None] * 2, 4)
    >>> [tuple(head.shape) for head in heads]
    [(2, 4, 5, 2), (2, 4, 5, 2)]
    """
    count, width = len(kernels), kernels[0].shape[-1]
    kernel = ops.concatenate([ops.cast(k, inputs.dtype) for k in kernels], axis=-1)
    bias = None
    if biases[0] is not None:
        bias = ops.concatenate([ops.cast(b, inputs.dtype) for b in biases], axis=-1)
    batch, length, _ = ops.shape(inputs)
    projected = linear(inputs, kernel, bias)
    shape = (batch, length, count, num_heads, width // num_heads)
    heads = ops.transpose(ops.reshape(projected, shape), (2, 0, 3, 1, 4))
    return ops.unstack(heads, count, axis=0)


def attention_weights(query, key, mask=None):
    """Computes softmax(Q K^T / sqrt(d_k)), always in float32.

    Args:
        query: tensor of shape (B, H, Q, K).
        key: tensor of shape (B, H, M, K).
        mask: boolean tensor broadcastable to (B, H, Q, M), True = may attend.

    Returns:
        float32 tensor of shape (B, H, Q, M). Masked positions get exactly 0; a row
        with nothing to attend to is all zeros.

    Example:

    >>> import numpy as np
    >>> weights = attention_weights(np.ones((1, 1, 1, 2)), np.ones((1, 1, 2, 2)))
    >>> weights.numpy().tolist()
    [[[[0.5, 0.5]]]]
    """
    # Scaling the smaller tensor is cheaper than scaling the scores.
    query = query * ops.cast(query.shape[-1] ** -0.5, query.dtype)
    scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))
    return masked_softmax(ops.cast(scores, "float32"), mask)


def masked_softmax(scores, mask=None):
    """Computes the softmax over the last axis; what is masked gets exactly 0.

    Args:
        scores: float32 tensor.
        mask: boolean tensor broadcastable to it, True = may attend.

    Returns:
        Tensor like `scores`; a row with nothing to attend to is all zeros.

    Example:

    >>> import numpy as np
    >>> masked_softmax(np.zeros((1, 2)), np.array([[True, False]])).numpy().tolist()
    [[1.0, 0.0]]
    """
    if mask is None:
        return _softmax(scores)
    # The value is selected on the small mask and added once; selecting among the
    # scores themselves costs several times more on a CPU.
    scores = scores + ops.where(mask, 0.0, MASKED_SCORE)
    anything = ops.any(mask, axis=-1, keepdims=True)
    return _softmax(scores) * ops.cast(anything, "float32")


def _softmax(scores):
    if scores.shape[-1] == 1:
        # What Keras computes too, but with a warning; the first step of decoding
        # has one position.
        return ops.ones_like(scores)
    return ops.softmax(scores, axis=-1)


def at_most(number, *lengths):
    """Returns a number, or the largest of the lengths if that is smaller; at least 1.

    Args:
        number: int.
        *lengths: ints, or scalar integer tensors where a graph does not know them.

    Returns:
        int if all lengths are, else a scalar integer tensor.

    Example:

    >>> at_most(512, 30, 20), at_most(16, 30), at_most(16, 0)
    (30, 16, 1)
    """
    if all(isinstance(length, int) for length in lengths):
        return max(1, min(number, max(lengths)))
    longest = functools.reduce(ops.maximum, lengths)
    return ops.maximum(1, ops.minimum(number, longest))


def pad_axis(x, axis, before, after):
    """Pads one axis with zeros, or False.

    Example:

    >>> import numpy as np
    >>> pad_axis(np.ones((1, 2)), 1, before=0, after=1).numpy().tolist()
    [[1.0, 1.0, 0.0]]
    """
    widths = [[0, 0]] * len(x.shape)
    widths[axis] = [before, after]
    return ops.pad(x, widths)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    """Computes Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V.

    Args:
        query: tensor of shape (B, H, Q, K).
        key: tensor of shape (B, H, M, K).
        value: tensor of shape (B, H, M, Kv).
        mask: boolean tensor broadcastable to (B, H, Q, M), True = may attend.
        dropout: function applied to the weights; None (the paper) = none.

    Returns:
        Tuple of the output, (B, H, Q, Kv) in the dtype of `value`, and the
        attention weights before dropout, float32 (B, H, Q, M).

    Example:

    >>> import numpy as np
    >>> query, memory = np.ones((1, 2, 3, 4)), np.ones((1, 2, 5, 4))
    >>> output, weights = scaled_dot_product_attention(query, memory, memory)
    >>> tuple(output.shape), tuple(weights.shape)
    ((1, 2, 3, 4), (1, 2, 3, 5))

    Reference: section 3.2.1, equation (1).
    """
    query, key = ops.convert_to_tensor(query), ops.convert_to_tensor(key)
    value = ops.convert_to_tensor(value)
    weights = attention_weights(query, key, mask)
    dropped = weights if dropout is None else dropout(weights)
    return ops.matmul(ops.cast(dropped, value.dtype), value), weights
