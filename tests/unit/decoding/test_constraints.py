"""What a search may not, or must, choose; against plain Python."""

import math

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.constraints import forbid_repeats
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID
from tests.reference import search as plain
from tests.unit.decoding.test_beam_search import (
    check_equal,
    hypotheses,
    language,
    random_tables,
    table_step,
)

NEVER = -math.inf


def search(tables, limits, beam_size=3, count=2, **options):
    batch, _, size = tables.shape
    return beam_search(
        table_step(),
        {"prefix": tf.zeros((batch * beam_size, 0), tf.int32)},
        batch_size=batch,
        vocabulary_size=size,
        max_lengths=limits,
        beam_size=beam_size,
        num_hypotheses=count,
        context={"tables": tf.constant(tables)},
        **options,
    )


@pytest.fixture
def model_probabilities(monkeypatch):
    """The plain search takes what a language gives as log-probabilities."""
    monkeypatch.setattr(plain, "log_softmax", lambda values: values)


def check(output, tables, limits, forbidden, beam_size=3, count=2):
    """`forbidden(row, prefix, id)`, the prefix without START."""
    originals = [language(table) for table in tables]
    for row, limit in enumerate(limits):

        def logits(prefix, row=row):
            values = np.array(originals[row](prefix))
            values = values - np.logaddexp.reduce(values)
            ids = [i for i in range(len(values)) if forbidden(row, prefix[1:], i)]
            values[ids] = NEVER
            return values.tolist()

        expected, _ = plain.search(logits, limit, beam_size, 0.6, count)
        check_equal(output, row, expected)


@pytest.mark.parametrize("suppressed", [(4,), (4, 6, END_ID), (4, 5, 6, 7, 1)])
def test_suppressed_ids_never_come(model_probabilities, suppressed, monkeypatch):
    tables, limits = random_tables(1, batch=6, extra=4), [5, 1, 7, 4, 0, 6]
    for few in (8, 0):  # both ways to leave them out
        monkeypatch.setattr("keras_attention.decoding.constraints.FEW", few)
        output = search(tables, limits, suppress_ids=suppressed)
        check(output, tables, limits, lambda row, prefix, i: i in suppressed)
        assert not np.isin(output.ids, suppressed).any()


def repeats(prefix, i, size):
    longer = (*prefix, i)
    grams = [longer[j : j + size] for j in range(len(longer) - size + 1)]
    return bool(grams) and grams[-1] in grams[:-1]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_ngram_comes_twice(model_probabilities, size):
    tables, limits = random_tables(2, batch=5, extra=2), [9, 3, 7, 1, 12]
    output = search(tables, limits, no_repeat_ngram_size=size)
    check(output, tables, limits, lambda row, prefix, i: repeats(prefix, i, size))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 50])
def test_forbidden_repeats_of_random_rows(size):
    rng = np.random.default_rng(size)
    ids = rng.integers(0, 3, (20, 7)).astype("int32")
    for step in range(8):
        found = forbid_repeats(tf.zeros((20, 4)), tf.constant(ids), step, size)
        for row, values in zip(ids, np.isinf(found), strict=True):
            prefix = tuple(row[:step].tolist())
            assert values.tolist() == [repeats(prefix, i, size) for i in range(4)]


@pytest.mark.parametrize("columns", [0, 1])
def test_a_graph_takes_prefixes_of_any_width(columns):
    def step_fn(ids, step, state):
        return tf.fill((tf.shape(ids)[0], 6), 0.0) + [0.0, 0.0, 0.0, 3.0, 2.0, 1.0], ()

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def graph(prefixes):
        return beam_search(step_fn, (), 2, 6, [3, 3], beam_size=1, prefix_ids=prefixes)

    found = graph(tf.fill((2, columns), 5)).ids.numpy()[:, 0].tolist()
    assert found == [[5] * columns + [END_ID]] * 2


def test_a_prefix_is_forced_and_then_all_is_free(model_probabilities):
    tables, limits = random_tables(3, batch=4, extra=4), [6, 5, 7, 4]
    tables = np.where(np.isinf(tables), -3.0, tables).astype("float32")
    prefixes = [[4, 5, 6], [7, PAD_ID, PAD_ID], [PAD_ID] * 3, [4, 4, 4]]

    def forbidden(row, prefix, i):
        wanted = [x for x in prefixes[row] if x != PAD_ID]
        return len(prefix) < len(wanted) and i != wanted[len(prefix)]

    for beam_size, count in ((3, 2), (1, 1)):
        output = search(tables, limits, beam_size, count, prefix_ids=prefixes)
        check(output, tables, limits, forbidden, beam_size, count)


def test_what_is_forced_may_be_suppressed_and_repeated():
    tables = np.zeros((1, 97, 8), "float32")
    output = search(
        tables,
        [6],
        prefix_ids=[[4, 4, 4]],
        suppress_ids=(4,),
        no_repeat_ngram_size=1,
    )
    for ids in hypotheses(output):
        assert ids[:3] == (4, 4, 4) and 4 not in ids[3:]


def test_a_bonus_ranks_what_was_found():
    """Hypotheses that pass through id 5 lose; the state remembers it."""
    tables = random_tables(4, batch=6, extra=3)
    step_fn = table_step()

    def remembering(ids, step, state, context):
        logits, rest = step_fn(ids, step, {"prefix": state["prefix"]}, context)
        seen = state["seen"] + tf.cast(ids == 5, tf.float32)
        return logits, {**rest, "seen": seen}

    def run(bonus):
        return beam_search(
            remembering,
            {"prefix": tf.zeros((18, 0), tf.int32), "seen": tf.zeros((18,))},
            batch_size=6,
            vocabulary_size=7,
            max_lengths=[6, 3, 8, 5, 1, 7],
            beam_size=3,
            num_hypotheses=3,
            context={"tables": tf.constant(tables)},
            bonus_fn=bonus,
        )

    plain_output, ranked = run(None), run(lambda state: -100.0 * state["seen"])
    changed = 0
    for row in range(6):
        for ids, score in zip(
            hypotheses(ranked, row), ranked.scores[row], strict=False
        ):
            seen = ids[:-1].count(5)
            assert (score < -50) == (seen > 0)
        changed += hypotheses(ranked, row) != hypotheses(plain_output, row)
    assert changed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suppress_ids": (8,)}, "`suppress_ids` must hold ids .* 0 to 7.*Received: 8"),
        ({"suppress_ids": (1.5,)}, "`suppress_ids` must hold ids"),
        ({"no_repeat_ngram_size": -1}, "`no_repeat_ngram_size` must be an integer"),
        ({"no_repeat_ngram_size": 1.0}, "`no_repeat_ngram_size` must be an integer"),
        ({"prefix_ids": [[4], [5]]}, r"`prefix_ids` must have the shape \(batch_size"),
    ],
)
def test_constraints_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        search(random_tables(0, 1, 4), [3], **options)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_fixed_shapes_give_the_same(jit_compile):
    """As XLA needs it; rows that have ended stay, and are not read."""
    tables, limits = random_tables(5, batch=6, extra=3), [5, 0, 9, 1, 7, 12]
    size, beams, longest = tables.shape[-1], 3, 12

    def step_fn(ids, step, state, context):
        prefix = tf.where(tf.range(longest + 1) == step, ids[:, None], state)
        powers = 7 ** tf.range(longest + 1, dtype=tf.int64)
        places = tf.reduce_sum(tf.cast(prefix, tf.int64) * powers, axis=1) % 97
        places = tf.reshape(places, (-1, beams))
        logits = tf.gather(context, places, batch_dims=1)
        return tf.reshape(logits, (-1, size)), prefix

    def run(fixed_length):
        return beam_search(
            step_fn,
            tf.zeros((6 * beams, longest + 1), tf.int32),
            batch_size=6,
            vocabulary_size=size,
            max_lengths=limits,
            beam_size=beams,
            num_hypotheses=2,
            context=tf.constant(tables),
            fixed_length=fixed_length,
        )

    fixed = tf.function(lambda: run(longest), jit_compile=jit_compile or None)()
    expected = run(None)
    assert fixed.ids.shape == (6, 2, longest)
    width = expected.ids.shape[2]
    np.testing.assert_array_equal(fixed.ids[:, :, :width], expected.ids)
    assert not np.any(fixed.ids[:, :, width:])
    np.testing.assert_array_equal(fixed.lengths, expected.lengths)
    np.testing.assert_allclose(fixed.scores, expected.scores, rtol=1e-5)


def test_no_special_id_is_ever_chosen():
    output = search(np.zeros((2, 97, 8), "float32"), [5, 5])
    assert not np.isin(output.ids[:, :, 0], (PAD_ID, START_ID)).any()
