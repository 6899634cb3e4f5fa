"""The search against plain Python, against all hypotheses, and against its rules."""

import itertools
import json
import math

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import length_penalty
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID
from tests.reference import search as plain

SPECIAL = 4
STATES = 97  # rows of a random table; a hash of all ids so far picks one


def random_tables(seed, batch, extra, sharpness=2.0):
    """(batch, STATES, V) float32 logits with V = 4 + extra; some are -inf."""
    rng = np.random.default_rng(seed)
    shape = (batch, STATES, SPECIAL + extra)
    tables = rng.normal(0, sharpness, shape).astype("float32")
    tables[rng.random(shape) < 0.1] = -np.inf
    tables[..., 1] = rng.normal(0, sharpness, shape[:2])  # a row is never all -inf
    return tables


def language(table):
    """What the plain search reads: the table row depends on the whole prefix."""

    def logits(prefix):
        return table[sum(x * 7**i for i, x in enumerate(prefix)) % STATES].tolist()

    return logits


def table_step(calls=None):
    """The same language as a step function; its state is the prefix, which grows."""

    def step_fn(ids, step, state, context):
        if calls is not None:
            calls.append(int(ids.shape[0]))
        prefix = tf.concat([state["prefix"], ids[:, None]], axis=1)
        powers = 7 ** tf.range(tf.shape(prefix)[1], dtype=tf.int64)
        places = tf.reduce_sum(tf.cast(prefix, tf.int64) * powers, axis=1) % STATES
        width = tf.shape(ids)[0] // tf.shape(context["tables"])[0]
        places = tf.reshape(places, (-1, width))
        logits = tf.gather(context["tables"], places, batch_dims=1)
        return tf.reshape(logits, (-1, logits.shape[-1])), {"prefix": prefix}

    return step_fn


def search_tables(tables, limits, beam_size, alpha, count, calls=None):
    batch, _, vocabulary_size = tables.shape
    return beam_search(
        table_step(calls),
        {"prefix": tf.zeros((batch * beam_size, 0), tf.int32)},
        batch_size=batch,
        vocabulary_size=vocabulary_size,
        max_lengths=limits,
        beam_size=beam_size,
        length_penalty_alpha=alpha,
        num_hypotheses=count,
        context={"tables": tf.constant(tables)},
    )


def hypotheses(output, row=0):
    """The ids of each slot of a row that holds a hypothesis; checks the layout."""
    ids, lengths, scores = (x.numpy()[row] for x in output)
    assert np.all(np.diff(scores[scores > -np.inf]) <= 0), "sorted best first"
    found = []
    for slot, length in enumerate(lengths):
        assert np.all(ids[slot, length:] == PAD_ID)
        assert END_ID not in ids[slot, : max(length - 1, 0)]
        assert START_ID not in ids[slot]
        assert PAD_ID not in ids[slot, :length]
        if scores[slot] > -np.inf:
            found.append(tuple(ids[slot, :length].tolist()))
        else:
            assert length == 0
    assert len(set(found)) == len(found), "distinct"
    return found


def check_equal(output, row, expected):
    assert hypotheses(output, row) == [x.ids for x in expected]
    scores = output.scores.numpy()[row]
    np.testing.assert_allclose(
        scores[: len(expected)], [x.score for x in expected], rtol=1e-5, atol=1e-5
    )
    assert np.all(scores[len(expected) :] == -np.inf)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("extra", "limit"), [(1, 5), (2, 4), (3, 3), (4, 2), (2, 1)])
def test_a_beam_that_holds_everything_is_exhaustive(alpha, extra, limit):
    tables = random_tables(seed=limit, batch=8, extra=extra)
    width = (extra + 1) ** limit
    count = min(width, 7)
    output = search_tables(tables, [limit] * 8, width, alpha, count)
    for row, table in enumerate(tables):
        best = plain.exhaustive(language(table), limit, alpha, count)
        check_equal(output, row, best)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(
    ("beam_size", "count"), [(1, 1), (2, 1), (2, 2), (3, 2), (5, 5)]
)
def test_smaller_beams_follow_the_rules(alpha, beam_size, count):
    """Every sentence of a batch, its limit its own, and the rows of every step."""
    limits = [5, 0, 9, 1, 7, 12] * 5
    tables = random_tables(beam_size, batch=len(limits), extra=3)
    calls, steps = [], []
    output = search_tables(tables, limits, beam_size, alpha, count, calls)
    for row, (table, limit) in enumerate(zip(tables, limits, strict=True)):
        found, taken = plain.search(language(table), limit, beam_size, alpha, count)
        steps.append(taken)
        check_equal(output, row, found)
    open_rows = [
        beam_size * sum(taken > step for taken in steps) for step in range(max(steps))
    ]
    assert calls == open_rows  # stops when it may, and ended rows are gone
    assert output.ids.shape[2] == output.lengths.numpy().max()


def traced_search(vocabulary_size, beam_size, count):
    """The search as one graph for batches of any size, any limits and any alpha."""

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, STATES, vocabulary_size], tf.float32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([], tf.float32),
        ],
        autograph=False,
    )
    def graph(tables, limits, alpha):
        batch = tf.shape(tables)[0]
        output = beam_search(
            table_step(),
            {"prefix": tf.zeros((batch * beam_size, 0), tf.int32)},
            batch_size=batch,
            vocabulary_size=vocabulary_size,
            max_lengths=limits,
            beam_size=beam_size,
            length_penalty_alpha=alpha,
            num_hypotheses=count,
            context={"tables": tables},
        )
        assert output.scores.shape.as_list() == [None, count]
        return output

    return graph


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_a_sentence_does_not_depend_on_its_batch(beam_size):
    search = traced_search(SPECIAL + 4, beam_size, beam_size)
    limits = np.array([7, 2, 9, 4, 12], "int32")
    for seed, alpha in itertools.product(range(5), (0.0, 0.6)):
        tables = random_tables(seed, batch=5, extra=4)
        together = search(tables, limits, alpha)
        turned = search(tables[::-1], limits[::-1], alpha)
        for row in range(5):
            alone = search(tables[row : row + 1], limits[row : row + 1], alpha)
            for other, place in ((turned, 4 - row), (alone, 0)):
                assert hypotheses(other, place) == hypotheses(together, row)
                np.testing.assert_allclose(
                    other.scores[place], together.scores[row], atol=1e-5
                )


def test_graph_of_unknown_sizes_equals_eager():
    graph = traced_search(SPECIAL + 3, beam_size=3, count=2)
    for batch in (3, 1, 0):
        tables = random_tables(batch, batch, extra=3)
        limits = np.arange(3, 3 + batch, dtype="int32")
        eager = search_tables(tables, limits, 3, 0.6, 2)
        traced = graph(tables, limits, 0.6)
        for one, other in zip(eager, traced, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert graph.experimental_get_tracing_count() == 1


# The toy language of published problem reports: `a` and `b` beside the special ids.
A, B = 4, 5
T1 = {START_ID: {A: 0.6, B: 0.4}, A: {END_ID: 0.4, A: 0.35, B: 0.25}}
T1[B] = {END_ID: 0.9, A: 0.06, B: 0.04}
T2 = {START_ID: {A: 0.6, END_ID: 0.4}, A: {B: 0.75, END_ID: 0.25}}
T2[B] = {END_ID: 0.75, B: 0.25}


def last_id_step(table, calls=None):
    logits = np.full((6, 6), -np.inf, "float32")
    for last, following in table.items():
        for next_id, probability in following.items():
            logits[last, next_id] = math.log(probability)
    logits[[PAD_ID, 1, END_ID]] = np.nan  # nothing may ever depend on these rows

    def step_fn(ids, step, state):
        if calls is not None:
            calls.append(int(step))
        return tf.gather(logits, ids), state

    return step_fn


def search_toy(table, beam_size, alpha, count, limits=(4,), calls=None):
    return beam_search(
        last_id_step(table, calls),
        (),
        batch_size=len(limits),
        vocabulary_size=6,
        max_lengths=list(limits),
        beam_size=beam_size,
        length_penalty_alpha=alpha,
        num_hypotheses=count,
    )


def check_toy(output, expected, row=0):
    assert hypotheses(output, row) == [ids for ids, _ in expected]
    np.testing.assert_allclose(
        output.scores[row], [score for _, score in expected], atol=6e-5
    )


def test_hypotheses_are_distinct_and_the_first_is_best():
    expected = [
        ((B, END_ID), -1.0217),
        ((A, END_ID), -1.4271),
        ((A, B, END_ID), -2.0025),
        ((A, A, END_ID), -2.4769),
    ]
    check_toy(search_toy(T1, 2, 0.0, 2), expected[:2])
    check_toy(search_toy(T1, 4, 0.0, 4), expected)
    check_toy(search_toy(T1, 4, 0.0, 1), expected[:1])


def test_a_longer_hypothesis_may_win_by_the_length_penalty():
    longer = (A, B, END_ID)
    check_toy(search_toy(T2, 2, 1.0, 2), [(longer, -0.8146), ((END_ID,), -0.9163)])
    check_toy(search_toy(T2, 2, 1.0, 1), [(longer, -0.8146)])
    check_toy(search_toy(T2, 2, 0.0, 1), [((END_ID,), -0.9163)])
    calls = []
    search_toy(T2, 2, 0.0, 1, calls=calls)
    assert calls == [0, 1, 2]  # `a b` at 0.45 may still beat 0.4, `a b b` may not


@pytest.mark.parametrize("limits", [(4,), (4, 9), (9, 4)])
def test_each_hypothesis_is_divided_by_its_own_length(limits):
    row = limits.index(4)
    output = search_toy(T2, 2, 0.6, 2, limits)
    best = [((A, B, END_ID), -0.9140), ((END_ID,), -0.9163)]
    check_toy(output, best, row)
    log_prob = output.scores[row, 0] * length_penalty(output.lengths[row, 0], 0.6)
    assert float(log_prob) == pytest.approx(math.log(0.6 * 0.75 * 0.75), abs=1e-5)


def test_greedy_takes_the_single_best_and_stops_at_the_first_end():
    calls = []
    output = search_toy(T1, 1, 1.0, 1, calls=calls)
    # `b END` is more probable, but greedy search went for `a`.
    check_toy(output, [((A, END_ID), (math.log(0.6 * 0.4)) / (7 / 6))])
    assert calls == [0, 1]


def test_repeats_stay_and_nothing_follows_the_end():
    following = {START_ID: A, A: B}
    table = {key: {value: 1.0} for key, value in following.items()}
    table[B] = {B: 0.6, END_ID: 0.4}
    output = search_toy(table, 2, 0.0, 2, (6,))
    assert hypotheses(output) == [(A, B, END_ID), (A, B, B, END_ID)]


def test_nothing_is_forced_at_the_limit():
    never = {START_ID: {A: 0.6, B: 0.4}, A: {A: 0.9, B: 0.1}, B: {B: 1.0}}
    output = search_toy(never, 2, 1.0, 2, (3,))
    penalty = 8 / 6
    expected = [
        ((A, A, A), math.log(0.6 * 0.9 * 0.9) / penalty),
        ((B, B, B), math.log(0.4) / penalty),
    ]
    check_toy(output, sorted(expected, key=lambda x: -x[1]))
    assert output.lengths.numpy().tolist() == [[3, 3]]


def test_a_pool_that_is_partly_filled_keeps_empty_slots():
    output = search_toy(T2, 3, 0.0, 3, (1,))
    assert hypotheses(output) == [(END_ID,)]
    assert output.ids.numpy().tolist() == [[[END_ID], [PAD_ID], [PAD_ID]]]
    assert output.lengths.numpy().tolist() == [[1, 0, 0]]
    assert output.scores.numpy()[0, 1:].tolist() == [-math.inf, -math.inf]


def test_limit_zero_is_the_empty_hypothesis():
    calls = []
    output = search_toy(T1, 2, 0.6, 2, (0, 0), calls)
    assert not calls
    assert output.ids.shape == (2, 2, 0)
    assert output.lengths.numpy().tolist() == [[0, 0]] * 2
    assert output.scores.numpy().tolist() == [[0.0, -math.inf]] * 2
    mixed = search_toy(T1, 2, 0.0, 1, (0, 4, -3))
    assert mixed.lengths.numpy().tolist() == [[0], [2], [0]]
    assert mixed.scores.numpy()[[0, 2]].tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_batch_without_rows(beam_size):
    output = search_toy(T1, beam_size, 0.6, 1, ())
    assert [x.shape.as_list() for x in output] == [[0, 1, 0], [0, 1], [0, 1]]


def constant_step(logits):
    def step_fn(ids, step, state):
        return tf.tile(tf.constant(logits)[None], (tf.shape(ids)[0], 1)), state

    return step_fn


def search_constant(logits, limit=2, **kwargs):
    return beam_search(
        constant_step(logits),
        (),
        batch_size=1,
        vocabulary_size=len(logits),
        max_lengths=[limit],
        **kwargs,
    )


def test_ties_keep_the_earlier():
    zeros = [0.0, -math.inf, 0.0, -math.inf, 0.0, 0.0]
    output = search_constant(zeros, beam_size=3, num_hypotheses=3)
    assert hypotheses(output) == [(A, A), (A, B), (B, A)]
    # END and `a END` score the same without a penalty if `a` is certain.
    certain = {START_ID: {A: 0.5, END_ID: 0.5}, A: {END_ID: 1.0}}
    assert hypotheses(search_toy(certain, 2, 0.0, 1)) == [(END_ID,)]


def test_pad_and_start_are_never_chosen_and_not_renormalised():
    probabilities = [0.5, 0.05, 0.2, 0.15, 0.1]
    output = search_constant(
        [math.log(p) for p in probabilities], beam_size=4, num_hypotheses=4
    )
    check = [(END_ID,), (A, END_ID), (1, END_ID)]
    assert hypotheses(output) == check
    penalized = math.log(0.15 * 0.1) / float(length_penalty(2, 0.6))
    assert float(output.scores[0, 1]) == pytest.approx(penalized, abs=1e-5)


def test_a_vocabulary_of_the_special_ids_alone():
    output = search_constant([0.0] * 4, limit=3, beam_size=5, num_hypotheses=3)
    assert hypotheses(output) == [(END_ID,), (1, END_ID), (1, 1, END_ID)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_scores_are_float32_whatever_the_logits(dtype):
    step_fn = last_id_step(T1)

    def half(ids, step, state):
        logits, state = step_fn(ids, step, state)
        return tf.cast(logits, dtype), state

    output = beam_search(half, (), 1, 6, [4], beam_size=2)
    assert output.scores.dtype == tf.float32
    assert hypotheses(output) == [(B, END_ID)]


def test_nan_logits_spoil_only_their_own_hypotheses():
    step_fn = last_id_step(T1)

    def broken(ids, step, state):
        logits, _ = step_fn(ids, step, ())
        return tf.where(state["broken"], math.nan, logits), state

    rows = [[False], [True], [True], [False], [True], [True]]  # dead beams of step 0
    state = {"broken": tf.constant(rows)}
    output = beam_search(broken, state, 2, 6, [4, 4], beam_size=3)
    for row in range(2):
        assert hypotheses(output, row) == [(B, END_ID)]
    everything = {"broken": tf.ones((6, 1), tf.bool)}
    output = beam_search(broken, everything, 2, 6, [4, 4], beam_size=3)
    assert output.lengths.numpy().tolist() == [[0], [0]]
    assert output.scores.numpy().tolist() == [[-math.inf], [-math.inf]]


def test_large_logits_keep_their_differences():
    output = search_constant([0.0, 0.0, 0.0, 1e6, 1e6 + 1.0], limit=1, beam_size=1)
    expected = -math.log1p(math.exp(-1.0)) / 1.0
    assert float(output.scores[0, 0]) == pytest.approx(expected, abs=1e-5)


def test_published_search(shared_data):
    """One search of another implementation; its ids 0, 1, 2 are 4, 5, 6 here.

    Its id 0 begins the hypotheses, where ours begin with START and leave it out,
    and its logits depend on the slot of the beam and the step.
    """
    path = shared_data / "vectors" / "beam_search_tf_models.json"
    case = json.loads(path.read_text())
    logits = np.full((2, 3, 7), -np.inf, "float32")
    logits[..., 4:] = case["probabilities"]

    def step_fn(ids, step, state):
        return tf.constant(logits)[:, step], state

    output = beam_search(step_fn, (), 1, 7, [3], beam_size=2, num_hypotheses=2)
    expected = np.array(case["expected_ids"])[:, :, 1:] + 4
    np.testing.assert_array_equal(output.ids, expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length_penalty_alpha": -0.1}, "at least 0. Received: .*-0.1"),
        ({"length_penalty_alpha": math.nan}, "finite number"),
        ({"length_penalty_alpha": math.inf}, "finite number"),
        ({"beam_size": 0}, "`beam_size` must be an integer of at least 1.*=0"),
        ({"beam_size": 2.0}, "`beam_size` must be an integer.*=2.0"),
        ({"num_hypotheses": 0}, "`num_hypotheses` must be an integer of at least 1"),
        ({"num_hypotheses": 3}, "at most `beam_size`.*num_hypotheses=3, beam_size=2"),
        ({"vocabulary_size": 3}, "`vocabulary_size` must be an integer of at least 4"),
        ({"vocabulary_size": 7}, r"logits of shape .*7\).*Received: shape \(2, 6\)"),
        ({"max_lengths": [1, 2]}, r"`max_lengths` must have the shape.*\(2,\)"),
        ({"max_lengths": 4}, r"`max_lengths` must have the shape"),
        ({"state": None}, r"`state` must be a nest of tensors.*Pass \(\)"),
        ({"state": tf.constant(1)}, r"`state` must lead with .* rows \(2\).*\(\)"),
        ({"state": tf.zeros((3, 1))}, r"`state` must lead with .*shape \(3, 1\)"),
        ({"context": tf.zeros((2, 1))}, r"`context` must lead with batch_size rows"),
        ({"context": [None]}, "`context` must be a nest of tensors"),
    ],
)
def test_what_cannot_work_is_refused(change, message):
    arguments = {
        "state": (),
        "batch_size": 1,
        "vocabulary_size": 6,
        "max_lengths": [4],
        "beam_size": 2,
    }
    with pytest.raises(ValueError, match=f"(?s){message}"):
        beam_search(last_id_step(T1), **{**arguments, **change})


def test_length_penalty_counts_from_the_formula():
    assert float(length_penalty(1, 0.6)) == 1.0
    np.testing.assert_allclose(
        length_penalty(tf.constant([0, 7, 13]), 0.6), [(5 / 6) ** 0.6, 2**0.6, 3**0.6]
    )


def test_a_huge_alpha_gives_no_nan():
    tables = random_tables(5, batch=1, extra=2)
    tables[:] = -np.inf
    tables[..., SPECIAL] = 0.0  # one hypothesis, so the other beams hold none
    output = search_tables(tables, [4], beam_size=3, alpha=1000.0, count=3)
    np.testing.assert_array_equal(output.lengths, [[4, 0, 0]])
    np.testing.assert_array_equal(output.scores, [[0.0, -np.inf, -np.inf]])
