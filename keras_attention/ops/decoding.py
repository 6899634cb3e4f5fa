"""Attention of one position of several hypotheses: what decoding repeats.

The tensors are small, and on a CPU the oneDNN kernels of TensorFlow, which its graphs
put in place of others, take longer to start than to compute. So the plain kernels are
asked for here where that is so.
"""

import keras
from keras import ops

from keras_attention.ops.attention import MASKED_SCORE

SMALL = 2**15  # scores that a plain softmax is faster for


def mask_bias(mask):
    """Returns what is added to scores: float32, 0 where attending is allowed.

    Example:

    >>> import numpy as np
    >>> mask_bias(np.array([True, False])).numpy().tolist()
    [0.0, -1000000000.0]
    """
    return ops.where(mask, 0.0, MASKED_SCORE)


def split_beams(inputs, beams, num_heads):
    """Cuts the last axis of W hypotheses a sentence into heads.

    (B * W, H * K) -> (B, H, W, K).

    Example:

    >>> import numpy as np
    >>> tuple(split_beams(np.ones((6, 8)), beams=3, num_heads=4).shape)
    (2, 4, 3, 2)
    """
    width = inputs.shape[-1] // num_heads
    if beams == 1:
        return ops.reshape(inputs, (-1, num_heads, 1, width))
    heads = ops.reshape(ops.convert_to_tensor(inputs), (-1, beams, num_heads, width))
    return _transpose(heads, (0, 2, 1, 3))


def split_three(inputs, beams, num_heads, key_dim, value_dim):
    """Cuts queries, keys and values that stand side by side into heads.

    (B * W, H * (2K + Kv)) -> (B, H, W, K), (B, H, W, K), (B, H, W, Kv).

    Example:

    >>> import numpy as np
    >>> query, key, value = split_three(np.ones((6, 20)), 3, 2, 3, 4)
    >>> tuple(query.shape), tuple(value.shape)
    ((2, 2, 3, 3), (2, 2, 3, 4))
    """
    if key_dim != value_dim or beams == 1:
        width = num_heads * key_dim
        parts = ops.split(inputs, [width, 2 * width], axis=-1)
        return tuple(split_beams(part, beams, num_heads) for part in parts)
    # One transposition for all; the parts of the first axis need no copy.
    heads = ops.reshape(inputs, (-1, beams, 3, num_heads, key_dim))
    heads = _transpose(heads, (2, 0, 3, 1, 4))
    return heads[0], heads[1], heads[2]


def merge_beams(heads, beams, num_heads):
    """Undoes `split_beams`: (B, H, W, K) -> (B * W, H * K).

    Example:

    >>> import numpy as np
    >>> tuple(merge_beams(np.ones((2, 4, 3, 2)), beams=3, num_heads=4).shape)
    (6, 8)
    """
    width = heads.shape[-1]
    if beams > 1:
        heads = _transpose(heads, (0, 2, 1, 3))
    return ops.reshape(heads, (-1, num_heads * width))


def is_small(sentences, num_heads, beams, positions):
    """Returns whether the scores of an attention are so few that a plain softmax pays.

    Example:

    >>> is_small(1, 4, 4, 20)
    True
    """
    return sentences * (num_heads * beams) * positions < SMALL


def attend_with_bias(query, key, value, bias, small=False):
    """Computes softmax(Q K^T + bias) V for queries that are scaled already.

    The same as `scaled_dot_product_attention` but for rows with nothing to attend to,
    which have no meaning in decoding.

    Args:
        query: tensor of shape (B, H, Q, K), times 1 / sqrt(d_k).
        key: tensor of shape (B, H, M, K).
        value: tensor of shape (B, H, M, Kv).
        bias: float32, broadcastable to (B, H, Q, M).
        small: bool or bool scalar, what `is_small` returned.

    Returns:
        Tuple of the output (B, H, Q, Kv) and the weights, float32 (B, H, Q, M).

    Example:

    >>> import numpy as np
    >>> query, key, value = (np.ones((1, 1, *s)) for s in ((1, 2), (3, 2), (3, 4)))
    >>> tuple(attend_with_bias(query, key, value, 0.0)[0].shape)
    (1, 1, 1, 4)
    """
    query, key, value = map(ops.convert_to_tensor, (query, key, value))
    scores = ops.cast(_product(query, key, transposed=True), "float32") + bias
    if isinstance(small, bool):
        weights = _plain_softmax(scores) if small else ops.softmax(scores)
    else:
        weights = ops.cond(
            small, lambda: _plain_softmax(scores), lambda: ops.softmax(scores)
        )
    return _product(ops.cast(weights, value.dtype), value), weights


def _plain_softmax(scores):
    return ops.exp(ops.log_softmax(scores, axis=-1))


def _has_plain_kernels(x):
    if keras.backend.backend() != "tensorflow":
        return False
    return keras.backend.standardize_dtype(x.dtype) == "float32"


def _product(x, y, transposed=False):
    if not _has_plain_kernels(x):
        return ops.matmul(x, ops.swapaxes(y, -1, -2) if transposed else y)
    import tensorflow as tf

    # Version 3 is not one of those that are replaced.
    return tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=x.dtype, adj_y=transposed)


def _transpose(x, order):
    if not _has_plain_kernels(x):
        return ops.transpose(x, order)
    import tensorflow as tf

    # Nor are integers; the bits are the same.
    return tf.bitcast(tf.transpose(tf.bitcast(x, tf.int32), order), x.dtype)
