"""Beam search over a step function; it knows no Transformer and no tokenizer.

One `tf.while_loop` extends the open hypotheses of all sentences by one id a turn.
A sentence that has ended leaves the batch at once, so later turns compute only what
is still open, and what a model says about ended rows can touch nothing.
"""

import tensorflow as tf

from keras_attention.decoding.beam_steps import (
    NEVER,
    Beams,
    BeamSearchOutput,
    collect_ended,
    extend,
    has_ended,
    pad_one,
    record,
    stay_open,
)
from keras_attention.decoding.checks import (
    check_alpha,
    check_limits,
    check_logits,
    check_nest,
    check_sizes,
)
from keras_attention.vocabulary import START_ID


def beam_search(
    step_fn,
    state,
    batch_size,
    vocabulary_size,
    max_lengths,
    beam_size=4,
    length_penalty_alpha=0.6,
    num_hypotheses=1,
    context=None,
):
    """Searches the best continuations of START for every sentence of a batch.

    `score = sum of log-probabilities / ((5 + length) / 6)^alpha`, END counted in the
    length. At each step the `2 * beam_size` best extensions of a sentence are taken;
    those with END enter its pool of `num_hypotheses` best, the `beam_size` best
    others stay open. A sentence ends when no open hypothesis can beat the worst of
    a full pool even at the length limit, or at the limit, where nothing is forced:
    if its pool is empty the open ones are returned, scored with their own length.
    `beam_size=1` is greedy search. Ties: the earlier one stays. PAD and START are
    never chosen, and their probability is not given to the others.

    Args:
        step_fn: `step_fn(ids, step, state[, context]) -> (logits, state)` with ids
            (B*W,) int32, step an int32 scalar that counts from 0, logits (B*W, V).
            B shrinks from step to step: ended sentences leave ids, state, context.
        state: nest of tensors that lead with B*W, sentence b's beams in rows b*W to
            b*W+W-1; the search reorders them, and their other axes may grow. `()`
            where there is no state.
        batch_size: B, an integer or int32 scalar; 0 is fine.
        vocabulary_size: V.
        max_lengths: (B,) int32, the most ids of a hypothesis, END counted. Where it
            is 0 the answer is the empty hypothesis: length 0, score 0.
        beam_size: W.
        length_penalty_alpha: alpha >= 0, a number or a float32 scalar.
        num_hypotheses: N, at most W.
        context: nest of tensors that lead with B, never tiled or reordered; given
            to `step_fn` only if it is not None.

    Returns:
        `BeamSearchOutput` of ids (B, N, T) int32, lengths (B, N) int32 and scores
        (B, N) float32; T is the length of the longest hypothesis.

    Raises:
        ValueError: a size, alpha, state or context that does not fit.

    Example:

    >>> table = tf.math.log([[0.0, 0.1, 0.0, 0.2, 0.7], [0.0, 0.1, 0.0, 0.8, 0.1]])
    >>> def step_fn(ids, step, state):  # 4 after START, then END
    ...     return tf.gather(table, tf.cast(ids == 4, tf.int32)), state
    >>> out = beam_search(step_fn, (), batch_size=1, vocabulary_size=5, max_lengths=[9])
    >>> out.ids.numpy().tolist(), out.lengths.numpy().tolist()
    ([[[4, 3]]], [[2]])

    Reference:
        Vaswani et al. 2017, section 6.1; Wu et al. 2016, section 7.
    """
    sizes = check_sizes(vocabulary_size, beam_size, num_hypotheses)
    alpha = check_alpha(length_penalty_alpha)
    limits = check_limits(max_lengths, batch_size)
    contexts = () if context is None else (context,)
    rows = tf.get_static_value(tf.convert_to_tensor(batch_size))
    state = check_nest("state", state, None if rows is None else rows * sizes.beams)
    contexts = check_nest("context", contexts, rows)

    def body(step, beams, pool, output, state, contexts):
        ids = tf.reshape(beams.last_ids, [-1])
        logits, state = step_fn(ids, step, state, *contexts)
        logits = check_logits(logits, sizes.vocabulary)
        length = step + 1
        count = 2 * sizes.beams if sizes.beams > 1 else 1
        extensions = extend(logits, beams.log_probs, count)
        pool = collect_ended(pool, beams, extensions, length, alpha)
        beams, parents = stay_open(beams, extensions)
        output = output._replace(ids=pad_one(output.ids))
        ended = has_ended(beams, pool, length, alpha)
        output = record(output, beams, pool, ended, length, alpha)
        return length, *_drop(ended, beams, pool, output, state, contexts, parents)

    beams, pool, output = _start(limits, sizes)
    # A sentence with limit 0 has ended before the first step: its first hypothesis is
    # the empty one. (`record` cannot say so, scatter refuses ids without columns.)
    zero, ended = tf.constant(0), limits <= 0
    is_first = tf.range(sizes.hypotheses) == 0
    is_empty = ended[:, None] & is_first  # (B, N)
    output = output._replace(scores=tf.where(is_empty, 0.0, output.scores))
    parents = tf.zeros_like(beams.last_ids) + tf.range(sizes.beams)
    variables = (zero, *_drop(ended, beams, pool, output, state, contexts, parents))
    variables = tf.while_loop(
        lambda step, beams, *_: tf.size(beams.sentences) > 0,
        body,
        variables,
        shape_invariants=_invariants(variables, sizes),
    )
    return _cut(variables[3])


def _start(limits, sizes):
    """Returns beams with one empty hypothesis a sentence, and empty slots."""
    rows = tf.size(limits)
    shape = (rows, sizes.beams)
    first = tf.range(sizes.beams) == 0
    beams = Beams(
        sentences=tf.range(rows),
        limits=limits,
        ids=tf.zeros((*shape, 0), tf.int32),
        last_ids=tf.fill(shape, START_ID),
        log_probs=tf.zeros(shape) + tf.where(first, 0.0, NEVER),
    )
    slots = (rows, sizes.hypotheses)
    empty = BeamSearchOutput(
        ids=tf.zeros((*slots, 0), tf.int32),
        lengths=tf.zeros(slots, tf.int32),
        scores=tf.fill(slots, NEVER),
    )
    return beams, empty, empty


def _invariants(variables, sizes):
    """Shapes that hold at every step: rows shrink, hypotheses and state grow."""
    step, _, _, output, state, contexts = variables
    beams, slots = sizes.beams, sizes.hypotheses
    shape = tf.TensorShape
    pool = BeamSearchOutput(
        shape([None, slots, None]), shape([None, slots]), shape([None, slots])
    )
    batch = output.scores.shape[0]
    return (
        step.shape,
        Beams(
            shape([None]),
            shape([None]),
            shape([None, beams, None]),
            shape([None, beams]),
            shape([None, beams]),
        ),
        pool,
        BeamSearchOutput(
            shape([batch, slots, None]), shape([batch, slots]), shape([batch, slots])
        ),
        tf.nest.map_structure(_any_size, state),
        tf.nest.map_structure(_any_rows, contexts),
    )


def _any_size(x):
    rank = x.shape.rank
    return tf.TensorShape(None if rank is None else [None] * rank)


def _any_rows(x):
    return tf.TensorShape([None]).concatenate(x.shape[1:])


def _drop(ended, beams, pool, output, state, contexts, parents):
    """Takes ended sentences out of everything, and puts the state in beam order."""
    kept = tf.cast(tf.where(~ended)[:, 0], tf.int32)
    some = tf.reduce_any(ended)
    width = parents.shape[1]
    if width == 1:  # greedy search keeps its order
        state = _gather_if(some, state, kept)
    else:
        order = kept[:, None] * width + tf.gather(parents, kept)
        state = _gather(state, tf.reshape(order, [-1]))
    contexts = _gather_if(some, contexts, kept)
    return _gather(beams, kept), _gather(pool, kept), output, state, contexts


def _gather(nest, rows):
    return tf.nest.map_structure(lambda x: tf.gather(x, rows), nest)


def _gather_if(condition, nest, rows):
    if not tf.nest.flatten(nest):
        return nest
    return tf.cond(condition, lambda: _gather(nest, rows), lambda: nest)


def _cut(output):
    """Cuts the columns behind the longest hypothesis."""
    # The 0 is for a batch without rows: its maximum would be the least integer.
    longest = tf.maximum(tf.reduce_max(output.lengths), 0)
    return output._replace(ids=output.ids[:, :, :longest])
