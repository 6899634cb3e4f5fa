"""One step of a beam search, as pure functions on the tensors of its sentences.

Shapes: b sentences are still searched, W beams and N slots of a pool each; t ids a
hypothesis so far.
"""

import math
from typing import NamedTuple

import tensorflow as tf

from keras_attention.vocabulary import END_ID, PAD_ID, START_ID

NEVER = -math.inf  # the log-probability of what is not a hypothesis
_BANNED = (PAD_ID, START_ID)  # ids that no hypothesis holds


class BeamSearchOutput(NamedTuple):
    """The hypotheses of each sentence, best first.

    A slot without a hypothesis has score -inf, length 0 and nothing but PAD.
    """

    ids: tf.Tensor  # (B, N, T) int32, without START; END included, then PAD
    lengths: tf.Tensor  # (B, N) int32, END counted
    scores: tf.Tensor  # (B, N) float32, log-probability over the length penalty


class Beams(NamedTuple):
    """The open hypotheses of the b <= B sentences that are still searched."""

    sentences: tf.Tensor  # (b,) int32, the row of each in the whole batch
    limits: tf.Tensor  # (b,) int32, the length at which its search stops
    ids: tf.Tensor  # (b, W, t) int32, t = ids so far
    last_ids: tf.Tensor  # (b, W) int32, the ids that the next step reads
    log_probs: tf.Tensor  # (b, W) float32, best first; -inf = no hypothesis


class Extensions(NamedTuple):
    """The best continuations of each sentence, best first, E of them."""

    parents: tf.Tensor  # (b, E) int32, the beam that each continues
    ids: tf.Tensor  # (b, E) int32, the id that it appends
    log_probs: tf.Tensor  # (b, E) float32


def length_penalty(lengths, alpha):
    """Returns ((5 + length) / 6)^alpha as float32.

    Args:
        lengths: int32 tensor of any shape, END counted.
        alpha: float or float32 scalar; 0 = no penalty.

    Example:

    >>> float(length_penalty(7, 1.0))
    2.0

    Reference:
        Wu et al. 2016, equation (14), as used by the paper in section 6.1.
    """
    return tf.pow((5.0 + tf.cast(lengths, tf.float32)) / 6.0, alpha)


def normalize(log_probs, lengths, alpha):
    """Returns log-probabilities over the length penalty; -inf stays -inf.

    The penalty of a huge `alpha` is infinite in float32, and -inf / inf is NaN.

    Example:

    >>> normalize(tf.constant([NEVER, -2.0]), 7, 1.0).numpy().tolist()
    [-inf, -1.0]
    """
    scores = log_probs / length_penalty(lengths, alpha)
    return tf.where(log_probs == NEVER, NEVER, scores)


def extend(logits, open_log_probs, count):
    """Returns the `count` best extensions of each sentence.

    Only the best ids of a beam can be among them, so they are found on the logits
    and normalised alone, by the sum over the whole vocabulary.
    """
    beams, vocabulary_size = open_log_probs.shape[1], logits.shape[-1]
    kept = min(count + len(_BANNED), vocabulary_size)
    best, ids = tf.math.top_k(logits, kept)  # (b*W, kept), the lower id first
    highest = best[:, :1]
    total = tf.reduce_sum(tf.exp(logits - highest), axis=-1, keepdims=True)
    log_probs = (best - highest) - tf.math.log(total)
    allowed = ~tf.math.is_nan(log_probs)  # dead beams may say anything
    for banned in _BANNED:
        allowed &= ids != banned
    log_probs = tf.where(allowed, log_probs, NEVER)
    log_probs = tf.reshape(log_probs, (-1, beams, kept)) + open_log_probs[..., None]
    log_probs, places = tf.math.top_k(
        tf.reshape(log_probs, (-1, beams * kept)), count
    )  # (b, E), the earlier beam first
    ids = tf.gather(tf.reshape(ids, (-1, beams * kept)), places, batch_dims=1)
    return Extensions(parents=places // kept, ids=ids, log_probs=log_probs)


def _append(hypotheses, extensions):
    """Returns the ids (b, E, t + 1) of all extensions."""
    before = tf.gather(hypotheses, extensions.parents, batch_dims=1)
    return tf.concat([before, extensions.ids[..., None]], axis=-1)


def collect_ended(pool, beams, extensions, length, alpha):
    """Returns the best of the pool and of the extensions that end in END."""
    ended = extensions.ids == END_ID
    scores = normalize(extensions.log_probs, length, alpha)
    candidates = BeamSearchOutput(
        ids=_append(beams.ids, extensions),
        lengths=tf.zeros_like(extensions.ids) + length,
        scores=tf.where(ended, scores, NEVER),
    )
    pool = pool._replace(ids=pad_one(pool.ids))
    both = tf.nest.map_structure(
        lambda old, new: tf.concat([old, new], axis=1), pool, candidates
    )
    # The pool comes first, and top_k prefers the first of equals.
    _, best = tf.math.top_k(both.scores, pool.scores.shape[1])
    return tf.nest.map_structure(lambda x: tf.gather(x, best, batch_dims=1), both)


def stay_open(beams, extensions):
    """Returns the beams after the step, and the parents (b, W) of each."""
    log_probs = tf.where(extensions.ids == END_ID, NEVER, extensions.log_probs)
    log_probs, best = tf.math.top_k(log_probs, beams.log_probs.shape[1])
    chosen = tf.nest.map_structure(
        lambda x: tf.gather(x, best, batch_dims=1), extensions
    )
    beams = beams._replace(
        ids=_append(beams.ids, chosen), last_ids=chosen.ids, log_probs=log_probs
    )
    return beams, chosen.parents


def has_ended(beams, pool, length, alpha):
    """Returns (b,) bool: at the limit, or nothing open can enter the pool."""
    # Log-probabilities only fall, and the penalty is largest at the limit.
    bound = normalize(beams.log_probs[:, 0], beams.limits, alpha)
    return (length >= beams.limits) | (bound <= pool.scores[:, -1])


def record(output, beams, pool, ended, length, alpha):
    """Writes the hypotheses of the sentences that ended to their rows."""
    slots = pool.scores.shape[1]
    is_open = pool.scores[:, :1] == NEVER  # (b, 1), the pool is empty
    open_scores = normalize(beams.log_probs[:, :slots], length, alpha)
    scores = tf.where(is_open, open_scores, pool.scores)
    lengths = tf.where(is_open, length, pool.lengths)
    ids = tf.where(is_open[..., None], beams.ids[:, :slots], pool.ids)
    real = scores > NEVER
    found = BeamSearchOutput(
        ids=tf.where(real[..., None], ids, PAD_ID),
        lengths=tf.where(real, lengths, 0),
        scores=scores,
    )
    rows = tf.where(ended)  # (r, 1)
    to = tf.gather(beams.sentences, rows)  # (r, 1)
    return tf.nest.map_structure(
        lambda old, new: tf.tensor_scatter_nd_update(old, to, tf.gather_nd(new, rows)),
        output,
        found,
    )


def pad_one(ids):
    """Returns ids (..., t + 1) with a column of PAD behind."""
    return tf.pad(ids, [[0, 0], [0, 0], [0, 1]], constant_values=PAD_ID)
