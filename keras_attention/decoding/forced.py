"""Forced decoding: the log-probability that a model gives to a known target."""

import tensorflow as tf

from keras_attention.vocabulary import END_ID, PAD_ID, START_ID


def forced_log_probs(model, source_ids, label_ids):
    """Returns (B,) float32, the log-probability of each target, END included.

    Args:
        model: a `Transformer`.
        source_ids: (B, S) int32, pieces and END, then PAD.
        label_ids: (B, T) int32, pieces and END, then PAD.
    """
    shifted = tf.where(label_ids == END_ID, PAD_ID, label_ids)[:, :-1]
    starts = tf.fill((tf.shape(label_ids)[0], 1), START_ID)
    inputs = {
        "source_ids": source_ids,
        "target_ids": tf.concat([starts, shifted], axis=1),
    }
    logits = model(inputs, training=False)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(label_ids, logits)
    return -tf.reduce_sum(tf.where(label_ids == PAD_ID, 0.0, losses), axis=1)


def check_fits(lengths, table):
    """Refuses targets that a learned position table has no row for.

    Args:
        lengths: (B,) NumPy integers, pieces of each target.
        table: rows of the table, or None where positions have no end.

    Raises:
        ValueError: a target and START are longer than the table.
    """
    if table is not None and lengths.max() >= table:
        row = int(lengths.argmax())
        raise ValueError(
            f"A target can have at most {table - 1} pieces, the learned "
            f"position table less START. Received: {lengths[row]} pieces in "
            f"targets[{row}]. Shorten it."
        )
