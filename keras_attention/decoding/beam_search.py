"""Beam search over a step function; it knows no Transformer and no tokenizer.

One `tf.while_loop` extends the open hypotheses of all sentences by one id a turn,
until a sentence has ended; another one around it takes such sentences out of the
batch. So later turns compute only what is still open, what a model says about ended
rows can touch nothing, and a turn in which none ends moves no tensor of the context.
"""

import tensorflow as tf

from keras_attention.decoding.beam_steps import (
    NEVER,
    Beams,
    BeamSearchOutput,
    collect_ended,
    extend,
    found,
    has_ended,
    length_penalty,
    stay_open,
)
from keras_attention.decoding.checks import (
    check_logits,
    check_request,
    check_sentence_sizes,
    check_sizes,
)
from keras_attention.vocabulary import PAD_ID, START_ID


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
    prefix_ids=None,
    suppress_ids=(),
    no_repeat_ngram_size=0,
    bonus_fn=None,
    fixed_length=None,
    sentence_sizes=None,
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
        step_fn: `step_fn(ids, step, state[, context]) -> (logits, state[, context])`
            with ids (B*W,) int32, step an int32 scalar that counts from 0, logits
            (B*W, V). B shrinks from step to step: ended sentences leave ids, state,
            context. A third value replaces the context; axes of it that are known
            when the graph is built must keep their size.
        state: nest of tensors that lead with B*W, sentence b's beams in rows b*W to
            b*W+W-1; the search reorders them, and their other axes may grow. `()`
            where there is no state.
        batch_size: B, an integer or int32 scalar; 0 is fine.
        vocabulary_size: V.
        max_lengths: (B,) int32, the most ids of a hypothesis, END counted. Where it
            is 0 the answer is the empty hypothesis: length 0, score 0.
        beam_size: W.
        length_penalty_alpha: alpha >= 0, a number or float32, scalar or (B,).
        num_hypotheses: N, at most W.
        context: nest of tensors that lead with B, never tiled or reordered; given
            to `step_fn` only if it is not None.
        prefix_ids: (B, P) int32, then PAD: ids that every hypothesis of a sentence
            begins with, whatever their probability, which counts (not in the paper).
        suppress_ids: ids that are never chosen (not in the paper).
        no_repeat_ngram_size: n; no n ids follow each other twice in a hypothesis
            (not in the paper). 0 = they may.
        bonus_fn: `bonus_fn(state) -> (B*W,)`, at most 0, added to the score of a
            hypothesis that ends with this step, such as a coverage penalty (not in
            the paper).
        fixed_length: int, for XLA: T. No sentence leaves the batch before all have
            ended, and all shapes stay as they are; limits beyond T are cut.
        sentence_sizes: `SentenceSizes` within W and N: each sentence is searched as
            if it were alone with these. None = W and N for all.

    Returns:
        `BeamSearchOutput` of ids (B, N, T) int32, lengths (B, N) int32 and scores
        (B, N) float32; T is the length of the longest hypothesis, or `fixed_length`.

    Raises:
        ValueError: a size, alpha, state, context or constraint that does not fit.

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
    if fixed_length is not None:
        limits = tf.minimum(limits, fixed_length)

    def turn(step, beams, pool, ended, state, contexts):
        ids = tf.reshape(beams.last_ids, [-1])
        logits, state, *changed = step_fn(ids, step, state, *contexts)
        contexts = tuple(changed) or contexts
        logits = check_logits(logits, sizes.vocabulary)
        if bonus_fn is not None:
            bonuses = tf.reshape(bonus_fn(state), (-1, sizes.beams))
            beams = beams._replace(bonuses=bonuses)
        extensions = extend(logits, beams, step, rules)
        pool = collect_ended(pool, beams, extensions, step)
        beams, parents = stay_open(beams, extensions, step)
        state = _reorder(state, parents)
        return step + 1, beams, pool, has_ended(beams, pool, step + 1), state, contexts

    length = tf.reduce_max(tf.concat([limits, [0]], 0))
    length = length if fixed_length is None else fixed_length
    own = check_sentence_sizes(sentence_sizes, limits)
    beams, pool = _start(limits, prefixes, sizes, rules.alpha, length, own)
    # A sentence with limit 0 has ended before the first step: its first hypothesis is
    # the empty one.
    ended = limits <= 0
    is_empty = ended[:, None] & (tf.range(sizes.hypotheses) == 0)  # (B, N)
    output = pool._replace(scores=tf.where(is_empty, 0.0, pool.scores))
    variables = (tf.constant(0), beams, pool, ended, state, contexts)
    if fixed_length is not None:
        return _search_all(turn, variables, output)
    return _cut(_search(turn, variables, output))


def _start(limits, prefixes, sizes, alpha, length, own):
    """Returns beams with one empty hypothesis a sentence, and empty slots."""
    rows = tf.size(limits)
    shape = (rows, sizes.beams)
    alphas = tf.broadcast_to(alpha, [rows])
    first = tf.range(sizes.beams) == 0
    beams = Beams(
        sentences=tf.range(rows),
        limits=limits,
        alphas=alphas[:, None],
        penalties=length_penalty(limits, alphas),
        sizes=own,
        prefixes=prefixes,
        ids=tf.fill((*shape, length), PAD_ID),
        last_ids=tf.fill(shape, START_ID),
        log_probs=tf.zeros(shape) + tf.where(first, 0.0, NEVER),
        bonuses=tf.zeros(shape),
    )
    slots = (rows, sizes.hypotheses)
    pool = BeamSearchOutput(
        ids=tf.fill((*slots, length), PAD_ID),
        lengths=tf.zeros(slots, tf.int32),
        scores=tf.fill(slots, NEVER),
    )
    return beams, pool


def _search(turn, variables, output):
    """Turns until all sentences have ended and left the batch; returns the output."""
    variables = _drop(*variables)
    invariants = _invariants(variables)

    def body(*variables):
        *variables, output = variables
        variables = tf.while_loop(
            lambda step, beams, pool, ended, *_: ~tf.reduce_any(ended),
            turn,
            tuple(variables),
            shape_invariants=invariants,
        )
        step, beams, pool, ended, *_ = variables
        output = _record(output, ended, beams.sentences, found(beams, pool, step))
        return *_drop(*variables), output

    shapes = tf.nest.map_structure(lambda x: x.shape, output)
    *_, output = tf.while_loop(
        lambda step, beams, *_: tf.size(beams.sentences) > 0,
        body,
        (*variables, output),
        shape_invariants=(*invariants, shapes),
    )
    return output


def _record(output, ended, sentences, found):
    """Writes what was found for the sentences that ended to their rows."""
    rows = tf.where(ended)  # (r, 1)
    to = tf.gather(sentences, rows)  # (r, 1)
    return tf.nest.map_structure(
        lambda old, new: tf.tensor_scatter_nd_update(old, to, tf.gather_nd(new, rows)),
        output,
        found,
    )


def _drop(step, beams, pool, ended, state, contexts):
    """Takes ended sentences out of everything."""
    kept = tf.cast(tf.where(~ended)[:, 0], tf.int32)
    width = beams.log_probs.shape[1]
    rows = tf.reshape(kept[:, None] * width + tf.range(width), [-1])
    sentences = _gather((beams, pool, ended), kept)
    return step, *sentences, _gather(state, rows), _gather(contexts, kept)


def _search_all(turn, variables, output):
    """The same with fixed shapes: rows that have ended go on and are not read."""

    def body(step, beams, pool, ended, state, contexts, output):
        step, beams, new_pool, ends, state, contexts = turn(
            step, beams, pool, ended, state, contexts
        )
        just_now = ends & ~ended
        output = _choose(just_now, found(beams, new_pool, step), output)
        pool = _choose(ended, pool, new_pool)
        return step, beams, pool, ended | ends, state, contexts, output

    *_, output = tf.while_loop(
        lambda step, beams, pool, ended, *_: ~tf.reduce_all(ended),
        body,
        (*variables, output),
    )
    return output


def _choose(condition, one, other):
    def choose(x, y):
        return tf.where(tf.reshape(condition, [-1] + [1] * (x.shape.rank - 1)), x, y)

    return tf.nest.map_structure(choose, one, other)


def _invariants(variables):
    """Shapes that hold at every step: rows shrink; what may grow is not known."""
    step, beams, pool, ended, state, contexts = variables

    def fewer_rows(x):
        return tf.TensorShape([None]).concatenate(x.shape[1:])

    def any_size(x):
        return tf.TensorShape(None if x.shape.rank is None else [None] * x.shape.rank)

    return (
        step.shape,
        *tf.nest.map_structure(fewer_rows, (beams, pool, ended)),
        tf.nest.map_structure(any_size, state),
        tf.nest.map_structure(fewer_rows, contexts),
    )


def _reorder(state, parents):
    width = parents.shape[1]
    if width == 1:  # greedy search keeps its order
        return state
    first = tf.range(tf.shape(parents)[0])[:, None] * width
    return _gather(state, tf.reshape(first + parents, [-1]))


def _gather(nest, rows):
    return tf.nest.map_structure(lambda x: tf.gather(x, rows), nest)


def _cut(output):
    """Cuts the columns behind the longest hypothesis."""
    # The 0 is for a batch without rows: its maximum would be the least integer.
    longest = tf.maximum(tf.reduce_max(output.lengths), 0)
    return output._replace(ids=output.ids[:, :, :longest])
