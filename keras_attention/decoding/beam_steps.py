"""One step of a beam search, as pure functions on the tensors of its sentences.

Shapes: b sentences are searched, W beams and N slots of a pool each; T columns of ids,
of which a step writes one.
"""

import math
from typing import NamedTuple

import tensorflow as tf

from keras_attention.decoding.constraints import (
    banned_ids,
    constrain,
    forced_ids,
)
from keras_attention.decoding.top_k import top_k
from keras_attention.vocabulary import END_ID, PAD_ID

NEVER = -math.inf  # the log-probability of what is not a hypothesis


class BeamSearchOutput(NamedTuple):
    """The hypotheses of each sentence, best first.

    A slot without a hypothesis has score -inf, length 0 and nothing but PAD.
    """

    ids: tf.Tensor  # (B, N, T) int32, without START; END included, then PAD
    lengths: tf.Tensor  # (B, N) int32, END counted
    scores: tf.Tensor  # (B, N) float32, log-probability over the length penalty


class SentenceSizes(NamedTuple):
    """Sizes of a search that differ from sentence to sentence."""

    beams: tf.Tensor  # (B,) int32, from 1 to W
    hypotheses: tf.Tensor  # (B,) int32, from 1 to N, and at most as many as beams


class Beams(NamedTuple):
    """The open hypotheses of the b <= B sentences that are still searched."""

    sentences: tf.Tensor  # (b,) int32, the row of each in the whole batch
    limits: tf.Tensor  # (b,) int32, the length at which its search stops
    alphas: tf.Tensor  # (b, 1) float32, of the length penalty
    penalties: tf.Tensor  # (b,) float32, the length penalty at the limit
    sizes: tuple  # of nothing, or of one `SentenceSizes` (b,)
    prefixes: tf.Tensor  # (b, P) int32, what hypotheses begin with, then PAD
    ids: tf.Tensor  # (b, W, T) int32, PAD where none is yet
    last_ids: tf.Tensor  # (b, W) int32, the ids that the next step reads
    log_probs: tf.Tensor  # (b, W) float32, best first; -inf = no hypothesis
    bonuses: tf.Tensor  # (b, W) float32, added to the score of a whole hypothesis


class Extensions(NamedTuple):
    """The best continuations of each sentence, best first, E of them."""

    parents: tf.Tensor  # (b, E) int32, the beam that each continues
    ids: tf.Tensor  # (b, E) int32, the id that it appends
    log_probs: tf.Tensor  # (b, E) float32


def length_penalty(lengths, alpha):
    """Returns ((5 + length) / 6)^alpha as float32.

    Args:
        lengths: int32 tensor of any shape, END counted.
        alpha: float or float32 tensor that broadcasts to them; 0 = no penalty.

    Example:

    >>> float(length_penalty(7, 1.0))
    2.0

    Reference:
        Wu et al. 2016, equation (14), as used by the paper in section 6.1.
    """
    return tf.pow((5.0 + tf.cast(lengths, tf.float32)) / 6.0, alpha)


def normalize(log_probs, penalties):
    """Returns log-probabilities over the length penalty; -inf stays -inf.

    The penalty of a huge `alpha` is infinite in float32, and -inf / inf is NaN.

    Example:

    >>> normalize(tf.constant([NEVER, -2.0]), math.inf).numpy().tolist()
    [-inf, -0.0]
    """
    return tf.where(log_probs == NEVER, NEVER, log_probs / penalties)


def extend(logits, beams, step, rules):
    """Returns the best extensions of each sentence.

    Only the best ids of a beam can be among them, so they are found on the logits
    and normalised alone, by the sum over the whole vocabulary.

    Args:
        logits: float32 (b * W, V).
        beams: `Beams`.
        step: int32 scalar.
        rules: `Rules`.
    """
    width, vocabulary_size = beams.log_probs.shape[1], logits.shape[-1]
    count = 2 * width if width > 1 else 1
    banned = banned_ids(rules)
    kept = min(count + len(banned), vocabulary_size)
    hypotheses = tf.reshape(beams.ids, (-1, tf.shape(beams.ids)[-1]))
    forced = forced_ids(beams.prefixes, step, width)
    allowed = constrain(logits, hypotheses, forced, step, rules)
    best, ids = top_k(allowed, kept)  # (b*W, kept), the lower id first
    is_free = allowed is logits
    highest = best[:, :1] if is_free else tf.reduce_max(logits, -1, keepdims=True)
    total = tf.reduce_sum(tf.exp(logits - highest), axis=-1, keepdims=True)
    log_probs = (best - highest) - tf.math.log(total)
    wrong = tf.zeros_like(ids, tf.bool)
    for each in banned:
        wrong |= ids == each
    if forced is not None:
        wrong &= (ids != forced[:, None]) | (ids == PAD_ID)  # PAD there: free
    wrong |= tf.math.is_nan(log_probs)  # dead beams may say anything
    log_probs = tf.where(wrong, NEVER, log_probs)
    log_probs = tf.reshape(log_probs, (-1, width, kept)) + beams.log_probs[..., None]
    log_probs, places = tf.math.top_k(
        tf.reshape(log_probs, (-1, width * kept)), count
    )  # (b, E), the earlier beam first
    for own in beams.sizes:  # a narrower beam takes fewer, the greedy one a single one
        taken = tf.where(own.beams > 1, 2 * own.beams, 1)
        log_probs = _first(log_probs, taken)
    ids = tf.gather(tf.reshape(ids, (-1, width * kept)), places, batch_dims=1)
    return Extensions(parents=places // kept, ids=ids, log_probs=log_probs)


def _first(values, counts):
    """Returns (b, n) with -inf behind the first `counts` (b,) of each row."""
    return tf.where(tf.range(values.shape[1]) < counts[:, None], values, NEVER)


def collect_ended(pool, beams, extensions, step):
    """Returns the best of the pool and of the extensions that end in END."""
    slots, length = pool.scores.shape[1], step + 1
    scores = normalize(extensions.log_probs, length_penalty(length, beams.alphas))
    scores += tf.gather(beams.bonuses, extensions.parents, batch_dims=1)
    scores = tf.where(extensions.ids == END_ID, scores, NEVER)
    # The pool comes first, and top_k prefers the first of equals.
    scores, best = tf.math.top_k(tf.concat([pool.scores, scores], axis=1), slots)
    for own in beams.sizes:
        scores = _first(scores, own.hypotheses)
    is_old = best < slots
    new = tf.maximum(best - slots, 0)
    parents = tf.gather(extensions.parents, new, batch_dims=1)
    places = tf.where(is_old, best, slots + parents)
    ids = tf.concat([pool.ids, beams.ids], axis=1)
    ids = tf.gather(ids, places, batch_dims=1)
    is_end = ~is_old[..., None] & (tf.range(tf.shape(ids)[-1]) == step)
    lengths = tf.gather(pool.lengths, tf.minimum(best, slots - 1), batch_dims=1)
    return BeamSearchOutput(
        ids=tf.where(is_end, END_ID, ids),
        lengths=tf.where(is_old, lengths, length),
        scores=scores,
    )


def stay_open(beams, extensions, step):
    """Returns the beams after the step, and the parents (b, W) of each."""
    width = beams.log_probs.shape[1]
    log_probs = tf.where(extensions.ids == END_ID, NEVER, extensions.log_probs)
    if width == 1:
        parents, last_ids, ids = extensions.parents, extensions.ids, beams.ids
        bonuses = beams.bonuses
    else:
        log_probs, best = tf.math.top_k(log_probs, width)
        for own in beams.sizes:
            log_probs = _first(log_probs, own.beams)
        parents = tf.gather(extensions.parents, best, batch_dims=1)
        last_ids = tf.gather(extensions.ids, best, batch_dims=1)
        ids = tf.gather(beams.ids, parents, batch_dims=1)
        bonuses = tf.gather(beams.bonuses, parents, batch_dims=1)
    is_next = tf.range(tf.shape(ids)[-1]) == step
    beams = beams._replace(
        ids=tf.where(is_next, last_ids[..., None], ids),
        last_ids=last_ids,
        log_probs=log_probs,
        bonuses=bonuses,
    )
    return beams, parents


def has_ended(beams, pool, length):
    """Returns (b,) bool: at the limit, or nothing open can enter the pool."""
    # Log-probabilities only fall, the penalty is largest at the limit, and no bonus
    # is above 0.
    bound = normalize(beams.log_probs[:, 0], beams.penalties)
    worst = pool.scores[:, -1]
    for own in beams.sizes:
        worst = tf.gather(pool.scores, own.hypotheses - 1, batch_dims=1)
    return (length >= beams.limits) | (bound <= worst)


def found(beams, pool, length):
    """Returns what b sentences give if they end now: (b, N, T), (b, N), (b, N)."""
    slots, penalties = pool.scores.shape[1], length_penalty(length, beams.alphas)
    scores = normalize(beams.log_probs, penalties) + beams.bonuses
    open_scores, best = tf.math.top_k(scores, slots)
    for own in beams.sizes:
        open_scores = _first(open_scores, own.hypotheses)
    is_open = pool.scores[:, :1] == NEVER  # (b, 1), the pool is empty
    scores = tf.where(is_open, open_scores, pool.scores)
    open_ids = tf.gather(beams.ids, best, batch_dims=1)
    ids = tf.where(is_open[..., None], open_ids, pool.ids)
    lengths = tf.where(is_open, length, pool.lengths)
    real = scores > NEVER
    return BeamSearchOutput(
        ids=tf.where(real[..., None], ids, PAD_ID),
        lengths=tf.where(real, lengths, 0),
        scores=scores,
    )
