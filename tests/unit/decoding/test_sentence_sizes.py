"""Sentences of one batch that are searched with sizes of their own."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import SentenceSizes
from tests.reference import search as plain
from tests.unit.decoding.test_beam_search import (
    check_equal,
    language,
    random_tables,
    search_tables,
    table_step,
)

WIDTH, SLOTS = 5, 4
# (beam size, hypotheses, alpha, limit), in an order that mixes them.
REQUESTS = [
    (beams, hypotheses, alpha, limit)
    for limit in (5, 9, 1, 12)
    for alpha in (0.6, 0.0, 1.0)
    for beams, hypotheses in ((1, 1), (5, 4), (2, 2), (3, 1), (4, 3))
]


def search_own(tables, requests, calls=None, fixed_length=None):
    """Searches each table with the sizes and the alpha of its request."""
    beams, hypotheses, alphas, limits = zip(*requests, strict=True)
    return beam_search(
        table_step(calls),
        {"prefix": tf.zeros((len(requests) * WIDTH, 0), tf.int32)},
        batch_size=len(requests),
        vocabulary_size=tables.shape[-1],
        max_lengths=limits,
        beam_size=WIDTH,
        length_penalty_alpha=tf.constant(alphas),
        num_hypotheses=SLOTS,
        context={"tables": tf.constant(tables)},
        fixed_length=fixed_length,
        sentence_sizes=SentenceSizes(beams, hypotheses),
    )


def test_each_follows_the_rules_of_its_own_sizes():
    tables = random_tables(3, batch=len(REQUESTS), extra=3)
    calls, steps = [], []
    output = search_own(tables, REQUESTS, calls)
    for row, (table, request) in enumerate(zip(tables, REQUESTS, strict=True)):
        beams, hypotheses, alpha, limit = request
        found, taken = plain.search(language(table), limit, beams, alpha, hypotheses)
        steps.append(taken)
        check_equal(output, row, found)
    open_rows = [WIDTH * sum(x > step for x in steps) for step in range(max(steps))]
    assert calls == open_rows  # each stops when it may, whatever its neighbours do


def test_sizes_that_are_all_alike_change_nothing():
    tables = random_tables(4, batch=20, extra=3)
    own = search_own(tables, [(WIDTH, SLOTS, 0.6, 9)] * 20)
    usual = search_tables(tables, [9] * 20, WIDTH, 0.6, SLOTS)
    for one, other in zip(own, usual, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_batch_without_rows():
    output = beam_search(
        table_step(),
        {"prefix": tf.zeros((0, 0), tf.int32)},
        batch_size=0,
        vocabulary_size=7,
        max_lengths=tf.zeros((0,), tf.int32),
        beam_size=WIDTH,
        length_penalty_alpha=tf.zeros((0,)),
        context={"tables": tf.zeros((0, 97, 7))},
        sentence_sizes=SentenceSizes(tf.zeros((0,), tf.int32), tf.zeros(0, tf.int32)),
    )
    assert output.scores.shape == (0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beams": [1, 2]}, r"sentence_sizes.beams.*shape \(2,\), batch_size=1"),
        ({"hypotheses": 1}, r"sentence_sizes.hypotheses.*shape \(\), batch_size=1"),
    ],
)
def test_sizes_of_another_shape_are_refused(change, message):
    sizes = SentenceSizes([1], [1])._replace(**change)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        beam_search(table_step(), (), 1, 7, [4], sentence_sizes=sizes)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ([0.6, 0.6], r"scalar or have the shape.*shape \(2,\), batch_size=1"),
        ([-1.0], "finite number of at least 0"),
    ],
)
def test_alphas_that_cannot_work_are_refused(alpha, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        beam_search(table_step(), (), 1, 7, [4], length_penalty_alpha=alpha)
