"""What each signature of an export computes; every function runs in a graph.

No row can fail its neighbours: nothing asserts about a row, and what is odd about one
is said in its own outputs. Every output leads with the rows of the batch.
"""

import tensorflow as tf

from keras_attention.decoding.beam_steps import SentenceSizes
from keras_attention.decoding.forced import MOST_LOGITS, attention, token_log_probs
from keras_attention.vocabulary import END_ID, PAD_ID, UNK_ID

MOST_EXTRA = 1_024  # pieces that a request may add to a limit
MOST_ALPHA = 10.0
LOWEST = tf.float32.min  # the score of an empty slot: JSON has no infinity


def translate(translator, search, text):
    """The best translation of each text (B,).

    Args:
        translator: a `Translator`.
        search: source ids (B, S) -> `BeamSearchOutput`.
        text: string (B,). Nothing but spaces is not searched: "" and score 0.
    """
    source_ids, truncated = translator.encode(text)
    found = search(source_ids)
    return {
        "translation": translator.tokenizer.detokenize(found.ids[:, 0]),
        "score": found.scores[:, 0],
        "truncated": truncated,
    }


def nbest(
    translator,
    widths,
    text,
    beam_size,
    length_penalty_alpha,
    max_extra_length,
    num_hypotheses,
):
    """The best hypotheses of each text, searched as its own row asks.

    Args:
        translator: a `Translator`.
        widths: ints in ascending order: a batch is searched with the least of them
            that holds its widest beam, and each row uses what it asked for.
        text: string (B,).
        beam_size, max_extra_length, num_hypotheses: int32 (B,).
        length_penalty_alpha: float32 (B,).
    """
    config, tokenizer = translator.decoding_config, translator.tokenizer
    _, beam_size, num_hypotheses, extra, alpha = _beside(
        tf.strings.length(text),
        beam_size,
        num_hypotheses,
        max_extra_length,
        length_penalty_alpha,
    )
    asked = (beam_size, num_hypotheses, alpha, extra)
    beams = tf.clip_by_value(beam_size, 1, widths[-1])
    slots = tf.clip_by_value(num_hypotheses, 1, beams)
    usual = tf.where(tf.math.is_nan(alpha), config.length_penalty_alpha, alpha)
    alpha = tf.clip_by_value(usual, 0.0, MOST_ALPHA)
    extra = tf.clip_by_value(extra, 0, MOST_EXTRA)
    used = (beams, slots, alpha, extra)
    adjusted = [x != y for x, y in zip(asked, used, strict=True)]  # NaN is not NaN
    source_ids, truncated = translator.encode(text)

    def search(width):
        wide = config.replace(beam_size=width, num_hypotheses=width)
        return translator.search(
            source_ids,
            wide,
            alpha=alpha,
            extra=extra,
            sentence_sizes=SentenceSizes(beams, slots),
        )

    widest = tf.reduce_max(tf.concat([beams, [1]], 0))
    rung = tf.reduce_sum(tf.cast(widest > tf.constant(widths), tf.int32))
    found = tf.switch_case(rung, [lambda w=w: search(w) for w in widths])
    count = tf.reduce_max(tf.concat([slots, [1]], 0))
    ids, lengths, scores = (x[:, :count] for x in found)
    rows, length = tf.shape(ids)[0], tf.shape(ids)[2]
    texts = tokenizer.detokenize(tf.reshape(ids, (rows * count, length)))
    return {
        "translations": tf.reshape(texts, (rows, count)),
        "scores": tf.maximum(scores, LOWEST),
        "lengths": lengths,
        "truncated": truncated,
        "adjusted": tf.reduce_any(tf.stack(adjusted), axis=0),
    }


def score(translator, source, target):
    """The log-probability of each target (B,) for its source (B,), END counted.

    Both are cut at the maximum; then the row is flagged.
    """
    source, target = _beside(source, target)
    source_ids, source_cut = translator.encode(source)
    label_ids, target_cut = translator.encode(target, targets=True)
    return {
        "log_probability": tf.reduce_sum(
            _log_probs(translator, source_ids, label_ids), axis=1
        ),
        "tokens": _lengths(label_ids),
        "truncated": source_cut | target_cut,
    }


def explain(translator, search, text):
    """The best translation of each text, piece by piece.

    `alignment` is the mean over the heads of the decoder block that the
    configuration's `attention_layer` names.
    """
    tokenizer, config = translator.tokenizer, translator.decoding_config
    source_ids, truncated = translator.encode(text)
    found = search(source_ids)
    ids, lengths = found.ids[:, 0], found.lengths[:, 0]  # (B, T), (B,)
    # START stands before the labels: where all are empty, one column is too many.
    length = tf.shape(ids)[1]
    forced = tf.pad(ids, [[0, 0], [0, tf.maximum(0, 1 - length)]])
    weights = attention(translator.model, source_ids, forced, config.attention_layer)
    weights, log_probs = (
        x[:, :length] for x in (weights, _log_probs(translator, source_ids, forced))
    )
    written = (ids != PAD_ID)[:, :, None] & (source_ids != PAD_ID)[:, None]
    return {
        "translation": tokenizer.detokenize(ids),
        "score": found.scores[:, 0],
        "truncated": truncated,
        "pieces": _spell(tokenizer, source_ids),
        "lengths": _lengths(source_ids),
        "output_pieces": _spell(tokenizer, ids),
        "output_lengths": lengths,
        "alignment": tf.where(written, weights, 0.0),
        "token_log_probabilities": log_probs,
    }


def translate_ids(translator, search, ids, lengths):
    """The best translation of each row of pieces, without a tokenizer in the graph.

    Args:
        translator: a `Translator`.
        search: source ids (B, S) -> `BeamSearchOutput`.
        ids: int32 (B, S), pieces without START and END. What no text can hold counts
            as `[UNK]`; what stands behind a row's length may be anything.
        lengths: int32 (B,), moved into 0 to S.
    """
    most, columns = translator.most_pieces(), tf.shape(ids)[1]
    _, lengths = _beside(tf.reduce_sum(ids, axis=1), lengths)
    kept = tf.clip_by_value(lengths, 0, tf.minimum(columns, most))
    known = (ids > END_ID) & (ids < translator.tokenizer.vocabulary_size)
    ids = tf.where(known, ids, UNK_ID)
    ids = tf.pad(ids, [[0, 0], [0, 1]])
    place, end = tf.range(columns + 1), kept[:, None]
    ids = tf.where(place < end, ids, tf.where(place == end, END_ID, PAD_ID))
    found = search(ids[:, : tf.reduce_max(tf.concat([kept, [0]], 0)) + 1])
    return {
        "ids": found.ids[:, 0],
        "lengths": found.lengths[:, 0],
        "scores": found.scores[:, 0],
        "truncated": tf.minimum(lengths, columns) > most,
    }


def encode(translator, text):
    """The memory of each text (B, S, D) float32, 0 behind its END."""
    source_ids, _ = translator.encode(text)
    memory = tf.cast(translator.model.encode(source_ids), tf.float32)
    return {
        "memory": tf.where((source_ids != PAD_ID)[..., None], memory, 0.0),
        "lengths": _lengths(source_ids),
    }


def _beside(*columns):
    """Returns the columns (B,), of a request that has as many rows in each.

    A column of one row would else be broadcast to the others.
    """
    kinds = [column.dtype for column in columns]
    bits = [tf.bitcast(x, tf.int32) if x.dtype.is_floating else x for x in columns]
    same = tf.unstack(tf.stack(bits), num=len(bits))  # refuses what differs
    return [
        tf.bitcast(x, k) if k.is_floating else x
        for x, k in zip(same, kinds, strict=True)
    ]


def _log_probs(translator, source_ids, label_ids):
    """Returns (B, T) float32, for as many rows at a time as their logits allow."""
    size = translator.tokenizer.vocabulary_size
    rows, length = tf.shape(label_ids)[0], tf.shape(label_ids)[1]
    most = tf.maximum(1, MOST_LOGITS // size // tf.maximum(1, length))

    def body(start, collected):
        chunk = slice(start, start + most)
        found = token_log_probs(translator.model, source_ids[chunk], label_ids[chunk])
        return start + most, tf.concat([collected, found], axis=0)

    _, found = tf.while_loop(
        lambda start, _: start < rows,
        body,
        (tf.constant(0), tf.zeros((0, length))),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None])),
    )
    return tf.reshape(found, (rows, length))


def _spell(tokenizer, ids):
    return tf.where(ids == PAD_ID, "", tokenizer.id_to_piece(ids))


def _lengths(ids):
    return tf.reduce_sum(tf.cast(ids != PAD_ID, tf.int32), axis=1)
