"""What a search may not, or must, choose: logits that are set to -inf.

Probabilities are not given to the ids that are left: the score of a hypothesis stays
the model's own log-probability.
"""

import math
from typing import NamedTuple

import tensorflow as tf

from keras_attention.vocabulary import PAD_ID, START_ID

NEVER = -math.inf
FEW = 8  # ids that cost less when the best are chosen than among all logits


class Rules(NamedTuple):
    """What all steps of a search obey."""

    alpha: tf.Tensor  # float32, scalar or (B,), of the length penalty
    suppress_ids: tuple  # ids that are never chosen
    no_repeat_ngram_size: int  # 0 = repeats are allowed


def forced_ids(prefixes, step, width):
    """Returns the id that each hypothesis must continue with, (b * W,), PAD for any.

    None where there are no prefixes at all.

    Args:
        prefixes: int32 (b, P), then PAD.
        step: int32 scalar.
        width: int, W.

    Example:

    >>> forced_ids(tf.constant([[7, 8]]), 1, width=2).numpy().tolist()
    [8, 8]
    """
    if prefixes.shape[1] == 0:
        return None
    length = tf.shape(prefixes)[1]
    column = tf.gather(prefixes, tf.minimum(step, length - 1), axis=1)
    return tf.repeat(tf.where(step < length, column, PAD_ID), width)


def constrain(logits, hypotheses, forced, step, rules):
    """Returns logits that are -inf where an id may not follow.

    What a prefix forces is allowed even if a rule forbids it.

    Args:
        logits: float32 (b * W, V).
        hypotheses: int32 (b * W, T), T columns of which the first `step` are written.
        forced: what `forced_ids` returned, or None.
        step: int32 scalar.
        rules: `Rules`.

    Returns:
        float32 (b * W, V); the logits themselves where nothing constrains them.
    """
    allowed = logits
    if len(rules.suppress_ids) > FEW:
        allowed = suppress(allowed, rules.suppress_ids)
    if rules.no_repeat_ngram_size:
        allowed = forbid_repeats(allowed, hypotheses, step, rules.no_repeat_ngram_size)
    if forced is None:
        return allowed
    return tf.where(forced[:, None] != PAD_ID, force(logits, forced), allowed)


def banned_ids(rules):
    """Returns the ids that are taken out of the best ones, not out of all logits.

    Example:

    >>> banned_ids(Rules(0.6, (7,), 0))
    (0, 2, 7)
    """
    few = rules.suppress_ids if len(rules.suppress_ids) <= FEW else ()
    return PAD_ID, START_ID, *few


def suppress(logits, ids):
    """Forbids some ids.

    Args:
        logits: float32 (R, V).
        ids: tuple of int, each below V.

    Example:

    >>> suppress(tf.zeros((1, 3)), (1,)).numpy().tolist()
    [[0.0, -inf, 0.0]]
    """
    size = logits.shape[-1]
    forbidden = [i in frozenset(ids) for i in range(size)]
    return tf.where(tf.constant(forbidden), NEVER, logits)


def forbid_repeats(logits, hypotheses, step, size):
    """Forbids ids that would repeat an n-gram of their hypothesis.

    Args:
        logits: float32 (R, V).
        hypotheses: int32 (R, T), T columns of which the first `step` are written.
        step: int32 scalar.
        size: int, n of the n-grams.

    Example:

    >>> seen = tf.constant([[1, 2, 1, 0]])
    >>> forbid_repeats(tf.zeros((1, 3)), seen, 3, 2).numpy().tolist()
    [[0.0, 0.0, -inf]]
    """
    rows, length = tf.shape(hypotheses)[0], tf.shape(hypotheses)[1]
    starts = tf.maximum(length - size + 1, 0)
    ends = tf.slice(hypotheses, [0, tf.minimum(size - 1, length)], [rows, starts])
    # Whether the n - 1 ids before each of `ends` are the last of the hypothesis.
    same = tf.fill((rows, starts), True) & (tf.range(starts) + size <= step)
    for place in range(size - 1):  # none starts where a hypothesis is too short
        last = tf.gather(hypotheses, tf.maximum(step - size + 1 + place, 0), axis=1)
        before = tf.slice(hypotheses, [0, tf.minimum(place, length)], [rows, starts])
        same &= before == last[:, None]
    row = tf.repeat(tf.range(rows)[:, None], starts, axis=1)
    index = tf.stack([row, ends], axis=-1)
    return tf.tensor_scatter_nd_min(logits, index, tf.where(same, NEVER, math.inf))


def force(logits, ids):
    """Allows one id alone in the rows where one is given.

    Args:
        logits: float32 (R, V).
        ids: int32 (R,), PAD where all are free.

    Example:

    >>> force(tf.zeros((2, 3)), tf.constant([2, 0])).numpy().tolist()
    [[-inf, -inf, 0.0], [0.0, 0.0, 0.0]]
    """
    other = tf.range(logits.shape[-1]) != ids[:, None]
    return tf.where(other & (ids[:, None] != PAD_ID), NEVER, logits)
