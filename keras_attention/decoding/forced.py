"""Forced decoding: what a model says about targets that are known."""

import numpy as np
import tensorflow as tf

from keras_attention.decoding.texts import batches, dense
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID

# Logits of a batch are cells times V numbers of float32.
MOST_LOGITS = 2**27


class ForcedDecoder:
    """Scores targets, and tells what their pieces attend to.

    Args:
        model: a `Transformer`, or an `Ensemble`.
        vocabulary_size: V.
    """

    def __init__(self, model, vocabulary_size):
        ids = tf.TensorSpec([None, None], tf.int32)
        self._most_cells = max(1, MOST_LOGITS // vocabulary_size)
        self._log_probs = tf.function(
            lambda sources, labels: token_log_probs(model, sources, labels),
            input_signature=[ids, ids],
            autograph=False,
        )
        self._attention = tf.function(
            lambda sources, labels, layer: attention(model, sources, labels, layer),
            input_signature=[ids, ids, tf.TensorSpec([], tf.int32)],
            autograph=False,
        )

    def log_probs(self, source_ids, label_ids, batch_tokens):
        """Returns the log-probability of every label, a list of arrays.

        Args:
            source_ids: ragged int32 (B, None), pieces and END.
            label_ids: ragged int32 (B, None), pieces and perhaps END.
            batch_tokens: cells of a batch; fewer where their logits would not fit.
        """
        budget = min(batch_tokens, self._most_cells)
        return self._in_batches(self._log_probs, source_ids, label_ids, budget)

    def attention_weights(self, source_ids, label_ids, batch_tokens, layer):
        """Returns float32 (T, S) of every row: what a label's position attends to."""

        def compute(sources, labels):
            return self._attention(sources, labels, tf.constant(layer))

        return self._in_batches(compute, source_ids, label_ids, batch_tokens)

    def _in_batches(self, compute, source_ids, label_ids, budget):
        lengths = label_ids.row_lengths().numpy(), source_ids.row_lengths().numpy()
        found = [None] * len(lengths[0])
        for rows in batches(np.maximum(*lengths), budget):
            values = compute(dense(source_ids, rows), dense(label_ids, rows)).numpy()
            for row, value in zip(rows, values, strict=True):
                cut = (slice(lengths[0][row]), slice(lengths[1][row]))
                found[row] = value[cut[: value.ndim]]
        return found


def token_log_probs(model, source_ids, label_ids):
    """Returns (B, T) float32, the log-probability of each label; 0 where it is PAD.

    Args:
        model: a `Transformer`, or an `Ensemble`.
        source_ids: (B, S) int32, pieces and END, then PAD.
        label_ids: (B, T) int32, pieces and perhaps END, then PAD.
    """
    logits = model(_inputs(source_ids, label_ids), training=False)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(label_ids, logits)
    return tf.where(label_ids == PAD_ID, 0.0, -losses)


def attention(model, source_ids, label_ids, layer):
    """Returns (B, T, S) float32, the mean of the heads of one decoder block.

    Args:
        model, source_ids, label_ids: as for `token_log_probs`.
        layer: int, or int32 scalar tensor.
    """
    inputs = _inputs(source_ids, label_ids)
    kinds = model.attention_weights(inputs["source_ids"], inputs["target_ids"])
    blocks = kinds["encoder_decoder"]  # of (B, H, T, S)
    if not isinstance(layer, int):
        blocks = tf.stack(blocks)
    return tf.reduce_mean(blocks[layer], axis=1)


def _inputs(source_ids, label_ids):
    shifted = tf.where(label_ids == END_ID, PAD_ID, label_ids)[:, :-1]
    starts = tf.fill((tf.shape(label_ids)[0], 1), START_ID)
    target_ids = tf.concat([starts, shifted], axis=1)
    return {"source_ids": source_ids, "target_ids": target_ids}


def check_fits(lengths, table, first=0):
    """Refuses targets that a learned position table has no row for.

    Args:
        lengths: (B,) NumPy integers, pieces of each target.
        table: rows of the table, or None where positions have no end.
        first: index of the first target, for the message.

    Raises:
        ValueError: a target and START are longer than the table.
    """
    if table is not None and lengths.max() >= table:
        row = int(lengths.argmax())
        raise ValueError(
            f"A target can have at most {table - 1} pieces, the learned "
            f"position table less START. Received: {lengths[row]} pieces in "
            f"targets[{first + row}]. Shorten it."
        )
