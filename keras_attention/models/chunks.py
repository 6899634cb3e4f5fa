"""Logits, losses and their gradients, for some sentences at a time.

The logits of a batch and their gradient would be by far the largest tensors of an
update: 3.7 GB each for 25 000 tokens and 37 000 pieces. The gradient of a mean over
tokens is known as soon as the logits are, so both live for one chunk only, and nothing
is computed twice.
"""

import tensorflow as tf
from keras import ops

from keras_attention.objectives.losses import exponential_sums, label_logits

# 128 MiB of float32; smaller ones add the gradients up too often.
LOGITS_A_CHUNK = 2**25


def chunked_losses(model, states, labels, weights, scale=None):
    """Computes the output layer, the losses, and their gradients.

    Args:
        model: a compiled `Transformer`.
        states: (B, T, D), output of the last decoder block.
        labels: (B, T) integers.
        weights: float32 (B, T).
        scale: float32 scalar, factor on the sum of the losses whose gradient is asked
            for; None = no gradients.

    Returns:
        Tuple of the sums over tokens of loss, nll and right labels; the gradient of
        the states, (B, T, D), or None; and a list of (variable, gradient), one for
        each variable of the output layer.
    """
    variables = [] if scale is None else model._parts.output_variables
    chunks, cut = _cutter(labels, model.transformer_config.vocabulary_size)
    parts = [cut(tensor) for tensor in (states, labels, weights)]
    shape = (None, None, states.shape[-1])
    collected = tf.TensorArray(states.dtype, chunks, element_shape=shape)

    def compute(chunk, collected):
        part = [tf.gather(tensor, chunk) for tensor in parts]
        sums, gradient, found = _chunk(model, *part, scale, variables)
        if scale is not None:
            collected = collected.write(chunk, gradient)
        return sums, found, collected

    def body(chunk, sums, totals, collected):
        new_sums, found, collected = compute(chunk, collected)
        sums = [total + new for total, new in zip(sums, new_sums, strict=True)]
        totals = [total + new for total, new in zip(totals, found, strict=True)]
        return chunk + 1, sums, totals, collected

    # Most batches are one chunk: its gradients are not added to zeros.
    start = (1, *compute(0, collected))
    _, sums, totals, collected = tf.while_loop(
        lambda chunk, *_: chunk < chunks, body, start, parallel_iterations=1
    )
    if scale is None:
        return sums, None, []
    gradient = tf.reshape(collected.stack(), (-1, *ops.shape(states)[1:]))
    gradient = gradient[: tf.shape(states)[0]]
    return sums, gradient, list(zip(variables, totals, strict=True))


def token_losses(model, labels, logits):
    """Returns the loss of every token, float32 (B, T).

    Raises:
        ValueError: the loss of the model gives no value a token.
    """
    losses = model._token_loss.call(labels, logits)
    if losses.shape.rank != 2:
        raise ValueError(
            "The loss must give one value a token, (B, T), for an exact update. "
            f"Received: {type(model._token_loss).__name__}.call giving shape "
            f"{losses.shape}. Use `keras_attention.LabelSmoothedCrossEntropy`."
        )
    return tf.cast(losses, tf.float32)


def _cutter(labels, classes):
    """Returns the number of chunks, and a function that cuts (B, ...) into them.

    Sentences stay whole: a loss may look at all tokens of one.
    """
    rows, length = tf.shape(labels)[0], tf.shape(labels)[1]
    most = tf.maximum(1, (LOGITS_A_CHUNK // classes) // tf.maximum(1, length))
    chunks = tf.maximum(1, -(-rows // most))
    size = -(-rows // chunks)  # all of one size, with few rows of padding

    def cut(tensor):
        tail = ops.shape(tensor)[1:]
        padding = [[0, chunks * size - rows]] + [[0, 0]] * len(tail)
        return tf.reshape(tf.pad(tensor, padding), (chunks, size, *tail))

    return chunks, cut


def _chunk(model, states, labels, weights, scale, variables):
    """Computes one chunk: sums, the gradient of the states, and of the variables."""
    with tf.GradientTape() as tape:
        tape.watch(states)
        logits = model._parts.to_logits(states)
        losses = token_losses(model, labels, logits)
        total = tf.reduce_sum(losses * weights)
        share = total if scale is None else total * scale
    sums = [total, *_nll_and_right(labels, weights, logits)]
    if scale is None:
        return sums, None, []
    gradient, *found = tape.gradient(share, [states, *variables])
    return sums, gradient, found


def _nll_and_right(labels, weights, logits):
    logits = tf.cast(logits, tf.float32)
    # The same operations as in the loss, which the graph optimiser computes once.
    highest, _, total = exponential_sums(logits)
    chosen = label_logits(tf.cast(labels, tf.int32), logits)
    nll = highest + tf.math.log(total) - chosen
    # A label that ties with the highest logit counts as right.
    right = tf.cast(chosen >= highest, tf.float32)
    return tf.reduce_sum(nll * weights), tf.reduce_sum(right * weights)
