"""Sampling from a step function: translations drawn at random, not searched for."""

import tensorflow as tf

from keras_attention.decoding.beam_steps import (
    NEVER,
    BeamSearchOutput,
    length_penalty,
)
from keras_attention.decoding.checks import (
    check_logits,
    check_request,
    check_sampling,
    check_sizes,
)
from keras_attention.decoding.constraints import (
    banned_ids,
    constrain,
    forced_ids,
    suppress,
)
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID


def sample(
    step_fn,
    state,
    batch_size,
    vocabulary_size,
    max_lengths,
    keys,
    seed=1,
    num_hypotheses=1,
    temperature=1.0,
    top_k=0,
    top_p=1.0,
    length_penalty_alpha=0.6,
    context=None,
    prefix_ids=None,
    suppress_ids=(),
    no_repeat_ngram_size=0,
):
    """Draws continuations of START for every sentence of a batch (not in the paper).

    An id is drawn with the probability softmax(logits / temperature), after all but
    the `top_k` most probable ids are left out, and then all but the fewest whose
    probabilities reach `top_p`. What a sentence gets depends on the seed and on its
    key alone, not on the batch.

    Args:
        step_fn, state, batch_size, vocabulary_size, max_lengths, context, prefix_ids,
            suppress_ids, no_repeat_ngram_size, length_penalty_alpha: as for
            `beam_search`, with N in place of W. No row of the state moves.
        keys: (B,) int32, what tells sentences apart, such as a hash of each.
        seed: integer or int32 scalar.
        num_hypotheses: N, draws of a sentence, each by itself.
        temperature: above 0; below 1 the likely ids get likelier.
        top_k: 0 = all ids.
        top_p: above 0, at most 1 = all ids.

    Returns:
        `BeamSearchOutput`, the hypotheses of a sentence sorted by their scores: the
        model's own log-probability, of all ids and at temperature 1, over the length
        penalty. Equal ones may occur. One that reaches its limit, or that nothing is
        allowed to follow, has no END.

    Raises:
        ValueError: a value that does not fit.

    Example:

    >>> def step_fn(ids, step, state):
    ...     return tf.math.log([[0.0, 0.0, 0.0, 0.5, 0.5]]), state
    >>> out = sample(step_fn, (), 1, 5, max_lengths=[8], keys=[0], seed=3)
    >>> set(out.ids.numpy().ravel().tolist()) <= {0, 3, 4}
    True

    Reference:
        Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p).
    """
    sizes = check_sizes(vocabulary_size, num_hypotheses, num_hypotheses)
    nucleus = check_sampling(temperature, top_k, top_p, sizes)
    sizes, rules, limits, state, contexts, prefixes = check_request(
        sizes,
        state,
        batch_size,
        max_lengths,
        length_penalty_alpha,
        context,
        prefix_ids,
        suppress_ids,
        no_repeat_ngram_size,
    )
    width, longest = sizes.beams, tf.reduce_max(tf.concat([limits, [0]], 0))
    chances = _chances(keys, seed, width, longest)  # (B * N, T)
    limits = tf.repeat(limits, width)

    def turn(step, ids, lengths, log_probs, open_rows, state, contexts):
        last = tf.where(step > 0, ids[:, tf.maximum(step - 1, 0)], START_ID)
        logits, state, *changed = step_fn(last, step, state, *contexts)
        contexts = tuple(changed) or contexts
        logits = check_logits(logits, sizes.vocabulary)
        allowed = suppress(logits, banned_ids(rules))
        forced = forced_ids(prefixes, step, width)
        allowed = constrain(allowed, ids, forced, step, rules)
        # Where nothing is allowed any more, what there is stays as it is.
        open_rows &= tf.reduce_max(allowed, axis=-1) > NEVER
        chosen = draw(allowed, chances[:, step], *nucleus)
        picked = tf.gather(tf.nn.log_softmax(logits), chosen, batch_dims=1)
        log_probs += tf.where(open_rows, picked, 0.0)
        ids = _write(ids, chosen, step, open_rows)
        lengths += tf.cast(open_rows, tf.int32)
        open_rows &= (chosen != END_ID) & (lengths < limits)
        return step + 1, ids, lengths, log_probs, open_rows, state, contexts

    variables = (*_start(limits, longest), state, contexts)
    found = tf.while_loop(
        lambda step, ids, lengths, log_probs, open_rows, *_: tf.reduce_any(open_rows),
        turn,
        variables,
        shape_invariants=_invariants(variables),
    )
    return _sorted(*found[1:4], width, rules.alpha)


def _write(ids, chosen, step, rows):
    """Writes column `step` of the rows that are open."""
    is_next = rows[:, None] & (tf.range(tf.shape(ids)[1]) == step)
    return tf.where(is_next, chosen[:, None], ids)


def _start(limits, longest):
    """Returns the step, and what each row has before it: ids, length, ..."""
    rows = tf.size(limits)
    ids = tf.fill((rows, longest), PAD_ID)
    return (
        tf.constant(0),
        ids,
        tf.zeros((rows,), tf.int32),
        tf.zeros((rows,)),
        limits > 0,
    )


def draw(logits, chances, temperature, top_k, top_p):
    """Draws an id of each row.

    Args:
        logits: float32 (R, V); -inf is never drawn.
        chances: float32 (R,), uniform in [0, 1).
        temperature, top_k, top_p: as for `sample`.

    Returns:
        int32 (R,).

    Example:

    >>> draw(tf.zeros((1, 4)), tf.constant([0.6]), 1.0, 0, 1.0).numpy().tolist()
    [2]
    """
    logits = tf.where(tf.math.is_nan(logits), NEVER, logits) / temperature
    ids = None
    if top_k or top_p < 1.0:
        logits, ids = tf.math.top_k(logits, top_k or logits.shape[-1])
    weights = tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))
    weights = tf.where(logits == NEVER, 0.0, weights)
    if top_p < 1.0:
        shares = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)
        before = tf.cumsum(shares, axis=-1, exclusive=True)
        weights = tf.where(before < top_p, weights, 0.0)
    sums = tf.cumsum(weights, axis=-1)
    # The first id whose sum is above the chance; rounding must not pass the last.
    place = tf.argmax(
        sums > tf.minimum(chances, _BELOW_ONE)[:, None] * sums[:, -1:],
        axis=-1,
        output_type=tf.int32,
    )
    return place if ids is None else tf.gather(ids, place, batch_dims=1)


_BELOW_ONE = 1.0 - 2.0**-23


def _chances(keys, seed, width, longest):
    """Returns uniform numbers (B * N, T) that a row's seed, key and place make."""
    keys = tf.convert_to_tensor(keys, tf.int32)
    seed = tf.cast(seed, tf.int32)
    # A number is known by its place among all: the width stands last, so that the
    # longest limit of a batch changes none.
    numbers = tf.map_fn(
        lambda key: tf.random.stateless_uniform(
            (longest, width), tf.stack([seed, key])
        ),
        keys,
        fn_output_signature=tf.TensorSpec([None, width]),
    )  # (B, T, N)
    return tf.reshape(tf.transpose(numbers, (0, 2, 1)), (-1, longest))


def _invariants(variables):
    *others, state, contexts = (
        tf.nest.map_structure(lambda x: x.shape, variable) for variable in variables
    )
    state = tf.nest.map_structure(
        lambda x: tf.TensorShape(
            None if x.rank is None else [x[0]] + [None] * (x.rank - 1)
        ),
        state,
    )
    return *others, state, contexts


def _sorted(ids, lengths, log_probs, width, alpha):
    log_probs, lengths = (tf.reshape(x, (-1, width)) for x in (log_probs, lengths))
    alpha = tf.broadcast_to(alpha, tf.shape(lengths)[:1])[:, None]
    scores = log_probs / length_penalty(lengths, alpha)
    scores, order = tf.math.top_k(scores, width)
    ids = tf.reshape(ids, (-1, width, tf.shape(ids)[-1]))
    return BeamSearchOutput(
        ids=tf.gather(ids, order, batch_dims=1),
        lengths=tf.gather(lengths, order, batch_dims=1),
        scores=scores,
    )
