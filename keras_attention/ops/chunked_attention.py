"""Attention without its matrix of weights: exact, in memory that grows with L alone.

Keys are taken a chunk at a time; the softmax over all of them is kept up to date by
its running maximum and sum (Milakov and Gimelshein, 2018). The backward pass computes
the weights again, a chunk at a time, instead of keeping them (Rabe and Staats, 2021).
"""

from keras import ops

from keras_attention.checks import check_integer
from keras_attention.ops.attention import MASKED_SCORE, at_most, pad_axis
from keras_attention.ops.masks import is_seen

_NOTHING = MASKED_SCORE / 2  # a maximum below it: nothing was attended to
_LONGEST = 1 << 30  # no memory has more keys; fits into int32
_LOWEST = 4 * MASKED_SCORE  # below all scores, so that the first chunk replaces it


def chunked_attention(query, key, value, chunk_length, mask=None, causal=False):
    """Computes softmax(Q K^T / sqrt(d_k)) V, `chunk_length` keys at a time.

    The same as `scaled_dot_product_attention`, whose weights take Q * M numbers; here
    Q * chunk_length are held at once, forward and backward. It has first derivatives
    only, and none with respect to the mask.

    Args:
        query: tensor of shape (B, H, Q, K).
        key: tensor of shape (B, H, M, K).
        value: tensor of shape (B, H, M, Kv).
        chunk_length: int, C > 0; more than M is M.
        mask: boolean tensor broadcastable to (B, H, Q, M), True = may attend.
        causal: bool, hide later positions (section 3.2.3).

    Returns:
        Tensor (B, H, Q, Kv) in the dtype of `value`. A row with nothing to attend to
        gives zeros.

    Raises:
        ValueError: `chunk_length` is no integer or below 1.

    Example:

    >>> import numpy as np
    >>> x = np.ones((1, 2, 70, 4), "float32")
    >>> tuple(chunked_attention(x, x, x, chunk_length=16).shape)
    (1, 2, 70, 4)

    Reference: section 3.2.1, equation (1).
    """
    check_integer("chunk_length", chunk_length)
    query, key, value = map(ops.convert_to_tensor, (query, key, value))
    query = query * ops.cast(query.shape[-1] ** -0.5, query.dtype)
    length, memory_length = ops.shape(query)[2], ops.shape(key)[2]
    chunk_length = at_most(min(chunk_length, _LONGEST), memory_length)
    count = (memory_length + chunk_length - 1) // chunk_length
    more = count * chunk_length - memory_length
    real = ops.ones((1, 1, 1, memory_length), dtype="bool")
    if mask is not None:
        real = ops.logical_and(real, mask)
    key, value = (pad_axis(x, 2, 0, more) for x in (key, value))
    real = ops.cast(pad_axis(real, 3, 0, more), "float32")
    rows = ops.arange(length, dtype="int32")[:, None] if causal else None
    chunks = _Chunks(chunk_length, count, rows)

    @ops.custom_gradient
    def attend(query, key, value, real):
        outputs, log_sum = _forward(chunks, query, key, value, real)

        def gradient(*upstream, **options):
            (upstream,) = upstream or (options["upstream"],)
            inputs = (query, key, value, real, outputs, log_sum)
            return (*_backward(chunks, upstream, *inputs), ops.zeros_like(real))

        return outputs, gradient

    return attend(query, key, value, real)


class _Chunks:
    """What is the same for every chunk: where it lies and what may be seen of it."""

    def __init__(self, length, count, rows):
        self.length, self.count, self._rows = length, count, rows

    def take(self, x, number, axis):
        """Returns chunk `number` of an axis; the other axes are whole."""
        shape = list(ops.shape(x))
        start = [0] * len(shape)
        start[axis], shape[axis] = number * self.length, self.length
        return ops.slice(x, start, shape)

    def scores(self, query, keys, real, number):
        """Returns the float32 scores (B, H, Q, C) of a chunk, masked."""
        scores = ops.matmul(query, ops.swapaxes(keys, -1, -2))
        seen = ops.greater(self.take(real, number, 3), 0.5)
        if self._rows is not None:
            columns = ops.arange(self.length, dtype="int32") + number * self.length
            seen = ops.logical_and(seen, is_seen(self._rows, columns))
        return ops.cast(scores, "float32") + ops.where(seen, 0.0, MASKED_SCORE)

    def empty(self, x):
        """Returns zeros for all chunks of (B, H, n C, K): (n, B, H, C, K)."""
        batch, heads, _, width = ops.shape(x)
        return ops.zeros((self.count, batch, heads, self.length, width), dtype=x.dtype)

    def put(self, chunks, number, chunk):
        """Returns the chunks with one of them written."""
        # Not `slice_update`, an operation of XLA that stock servers do not have.
        return ops.scatter_update(chunks, ops.reshape(number, (1, 1)), chunk[None])

    def joined(self, chunks):
        """Undoes the division into chunks: (n, B, H, C, K) -> (B, H, n C, K)."""
        count, batch, heads, length, width = ops.shape(chunks)
        rows = ops.transpose(chunks, (1, 2, 0, 3, 4))
        return ops.reshape(rows, (batch, heads, count * length, width))

    def loop(self, body, state):
        """Runs `body(number, *state)` for every chunk, one after the other."""
        start = (ops.convert_to_tensor(0, dtype="int32"), *state)
        return ops.while_loop(
            lambda number, *state: number < self.count,
            lambda number, *state: (number + 1, *body(number, *state)),
            start,
        )[1:]


def _forward(chunks, query, key, value, real):
    """Returns outputs (B, H, Q, Kv) and log-sum-exp of the scores, (B, H, Q, 1)."""

    def body(number, largest, total, outputs):
        scores = chunks.scores(query, chunks.take(key, number, 2), real, number)
        larger = ops.max(scores, axis=-1, keepdims=True, initial=_LOWEST)
        larger = ops.maximum(largest, larger)
        weights, decay = ops.exp(scores - larger), ops.exp(largest - larger)
        values = chunks.take(value, number, 2)
        more = ops.matmul(ops.cast(weights, value.dtype), values)
        total = total * decay + ops.sum(weights, axis=-1, keepdims=True)
        return larger, total, outputs * decay + ops.cast(more, "float32")

    zeros = ops.zeros_like(query[..., :1], dtype="float32")
    outputs = ops.zeros((*ops.shape(query)[:3], value.shape[-1]), dtype="float32")
    state = (zeros + _LOWEST, zeros, outputs)
    largest, total, outputs = chunks.loop(body, state)
    something = ops.cast(largest > _NOTHING, "float32")
    outputs = outputs * (something / ops.maximum(total, 1e-37))
    log_sum = largest + ops.log(ops.maximum(total, 1e-37))
    # exp(score - log_sum) is then 0 for all that such a row might attend to.
    log_sum = ops.where(largest > _NOTHING, log_sum, -MASKED_SCORE)
    return ops.cast(outputs, value.dtype), log_sum


def _backward(chunks, upstream, query, key, value, real, outputs, log_sum):
    """Returns the gradients of query, key and value."""
    product = ops.cast(upstream, "float32") * ops.cast(outputs, "float32")
    inner = ops.sum(product, axis=-1, keepdims=True)

    def body(number, of_query, of_key, of_value):
        keys, values = chunks.take(key, number, 2), chunks.take(value, number, 2)
        weights = ops.exp(chunks.scores(query, keys, real, number) - log_sum)
        of_weights = ops.matmul(upstream, ops.swapaxes(values, -1, -2))
        of_scores = weights * (ops.cast(of_weights, "float32") - inner)
        of_scores = ops.cast(of_scores, query.dtype)
        more = ops.cast(ops.matmul(of_scores, keys), "float32")
        turned = ops.swapaxes(ops.cast(weights, value.dtype), -1, -2)
        of_keys = ops.matmul(ops.swapaxes(of_scores, -1, -2), query)
        return (
            of_query + more,
            chunks.put(of_key, number, of_keys),
            chunks.put(of_value, number, ops.matmul(turned, upstream)),
        )

    zeros = ops.zeros_like(query, dtype="float32")
    state = (zeros, chunks.empty(key), chunks.empty(value))
    of_query, of_key, of_value = chunks.loop(body, state)
    of_key, of_value = chunks.joined(of_key), chunks.joined(of_value)
    return ops.cast(of_query, query.dtype), of_key, of_value
