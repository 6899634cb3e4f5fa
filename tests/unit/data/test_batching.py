"""Every pair once an epoch, in few shapes, in an order that only the seed decides."""

import collections
import hashlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.data import (
    EncodedCorpus,
    SubwordTokenizer,
    TokenBatches,
    batching,
    encode_pairs,
    read_pairs,
)
from keras_attention.data.batching import MAX_BUCKETS, choose_lengths
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID, UNK_ID


def encoded_of(lengths, seed=0):
    """A corpus of random ids from 4 on with the given (source, target) lengths."""
    rng = np.random.default_rng(seed)
    sides = []
    for side in zip(*lengths, strict=True):
        offsets = np.concatenate([[0], np.cumsum(side)])
        sides += [rng.integers(4, 60_000, offsets[-1]).astype(np.uint16), offsets]
    return EncodedCorpus(*sides, dropped={})


pairs = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1)
budgets = st.integers(1, 500)
multiples = st.sampled_from([1, 2, 8])


@settings(deadline=None)
@given(pairs, budgets, multiples, st.integers(0, 5), st.booleans())
def test_invariants_of_a_plan(lengths, budget, multiple, epoch, shuffle):
    encoded = encoded_of(lengths)
    batches = TokenBatches(encoded, budget, multiple, seed=3)
    plan = batches.plan(epoch, shuffle)
    need = np.max(lengths, axis=1) + 1
    assert sorted(np.concatenate([rows for rows, _ in plan])) == [*range(len(lengths))]
    for number, (rows, shape) in enumerate(plan):
        assert shape in batches.shapes
        assert need[rows].max() <= shape[1]
        assert 0 < len(rows) <= shape[0]
        assert len(rows) == shape[0] or number == len(plan) - 1
        assert shape[0] % multiple == 0
        assert shape[0] * shape[1] <= budget or shape[0] == multiple
    assert len(plan) == batches.steps_per_epoch(epoch)
    shapes = collections.Counter(shape for _, shape in plan)
    assert dict(batches.epoch_shapes()) == shapes
    assert len(batches.shapes) <= MAX_BUCKETS
    assert batches.shapes[-1][1] == need.max()


@settings(deadline=None, max_examples=30)
@given(pairs, budgets)
def test_real_token_share_counts_cells(lengths, budget):
    encoded = encoded_of(lengths)
    batches = TokenBatches(encoded, budget, 2)
    real = cells = 0
    for rows, shape in batches.plan(0):
        source, target, label = encoded.padded(rows, shape)
        real += (source != PAD_ID).sum() + (label != PAD_ID).sum()
        assert (target != PAD_ID).sum() == (label != PAD_ID).sum()
        cells += 2 * source.size
    assert batches.real_token_share(0) == pytest.approx(real / cells)


def test_small_budget_keeps_every_sentence():
    lengths = [(n, n) for n in (1, 2, 3, 4, 5, 9, 20)]
    for budget in (1, 16, 21):
        plan = TokenBatches(encoded_of(lengths), budget, rows_multiple=1).plan(0)
        assert sorted(np.concatenate([rows for rows, _ in plan])) == [*range(7)]
        for _, (rows, length) in plan:
            assert rows * length <= budget or rows == 1


def test_the_order_is_a_function_of_seed_and_epoch():
    encoded = encoded_of([(1 + i % 30, 1 + i % 7) for i in range(500)])

    def order(seed, epoch, shuffle=True):
        plan = TokenBatches(encoded, 200, seed=seed).plan(epoch, shuffle)
        return [(rows.tolist(), shape) for rows, shape in plan]

    assert order(1, 4) == order(1, 4)
    assert order(1, 4) != order(1, 5)
    assert order(1, 4) != order(2, 4)
    assert order(1, 0, shuffle=False) == order(9, 7, shuffle=False)
    batches = TokenBatches(encoded, 200)
    batches.plan(3)
    assert [r.tolist() for r, _ in batches.plan(4)] == [r for r, _ in order(1, 4)]


@pytest.mark.parametrize(
    ("shuffle", "recorded"),
    [
        (True, "4561439ea08f05c8fe131bc78696f07f"),
        (False, "41e64ebb66d3fc7a869a94470bbf8a74"),
    ],
)
def test_the_order_is_that_of_earlier_versions(monkeypatch, shuffle, recorded):
    # A run of theirs goes on with the batch that they would have taken.
    monkeypatch.setattr(batching, "PAIRS_A_PASS", 300)
    encoded = encoded_of([(1 + i * 7 % 31, 1 + i * 5 % 17) for i in range(1_000)])
    digest = hashlib.sha256()
    for rows, shape in TokenBatches(encoded, 200, seed=3).plan(2, shuffle):
        digest.update(f"{rows.tolist()} {shape} ".encode())
    assert digest.hexdigest().startswith(recorded)


def test_epochs_have_the_same_shapes_and_other_batches():
    encoded = encoded_of([(1 + i % 30, 1 + i % 7) for i in range(500)])
    batches = TokenBatches(encoded, 200)
    shapes = [sorted(shape for _, shape in batches.plan(epoch)) for epoch in range(3)]
    assert shapes[0] == shapes[1] == shapes[2]
    together = [
        {frozenset(rows.tolist()) for rows, _ in batches.plan(e)} for e in (0, 1)
    ]
    assert not together[0] & together[1]
    lengths = [shape[1] for _, shape in batches.plan(0)][:-1]
    assert lengths != sorted(lengths)


def peak_of(num_pairs):
    """Most bytes taken at a time while batches are made and two epochs begun."""
    offsets = np.arange(0, 20 * num_pairs + 1, 20)
    tokens = np.full(offsets[-1], 4, np.uint16)
    encoded = EncodedCorpus(tokens, offsets, tokens, offsets, dropped={})
    tracemalloc.start()
    try:
        batches = TokenBatches(encoded, 1_024)
        for epoch in range(2):
            plan = batches.plan(epoch)
            encoded.padded(*plan[len(plan) // 2])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_pair_takes_at_most_32_bytes():
    # Beyond a constant, which both sizes have; NumPy reports its arrays to Python.
    few, many = 600_000, 1_600_000
    assert (peak_of(many) - peak_of(few)) / (many - few) <= 32


def test_unshuffled_is_shortest_first_in_corpus_order():
    encoded = encoded_of([(5, 5), (1, 1), (5, 5), (1, 1)])
    plan = TokenBatches(encoded, 1, rows_multiple=2).plan(0, shuffle=False)
    assert [rows.tolist() for rows, _ in plan] == [[1, 3], [0, 2]]


def test_very_long_sentences_keep_the_choice_cheap_and_complete():
    cells = np.arange(2, 6_002)
    lengths = choose_lengths(np.bincount(cells), 4_096, 8)
    assert lengths[-1] == 6_001
    assert (np.diff(lengths) > 0).all()
    assert len(lengths) <= MAX_BUCKETS


def test_framing():
    encoded = EncodedCorpus(
        np.array([7, 8, 9], np.uint16),
        np.array([0, 2, 3]),
        np.array([5, UNK_ID, 6, 4], np.uint16),
        np.array([0, 1, 4]),
        {},
    )
    source, target, label = encoded.padded(np.array([1, 0]), (3, 4))
    assert source.tolist() == [[9, END_ID, 0, 0], [7, 8, END_ID, 0], [0] * 4]
    assert target.tolist() == [[START_ID, UNK_ID, 6, 4], [START_ID, 5, 0, 0], [0] * 4]
    assert label.tolist() == [[UNK_ID, 6, 4, END_ID], [5, END_ID, 0, 0], [0] * 4]
    assert source.dtype == target.dtype == label.dtype == np.int32


@pytest.mark.parametrize("field", ["batch_tokens", "rows_multiple"])
def test_counts_below_one_are_refused(field):
    arguments = {"batch_tokens": 10, "rows_multiple": 1, field: 0}
    with pytest.raises(ValueError, match=f"`{field}` must be at least 1.*Received: 0"):
        TokenBatches(encoded_of([(1, 1)]), **arguments)


@pytest.mark.parametrize("batch_tokens", [25_000, 4_096])
def test_real_corpus_fills_its_batches(shared_data, batch_tokens):
    folder = shared_data / "mt" / "multi30k"
    files = [folder / "train.en.gz", folder / "train.de.gz"]
    tokenizer = SubwordTokenizer.learn(files, 8_000)
    corpus = read_pairs(*files)
    encoded = encode_pairs(corpus, tokenizer, 256, 256)
    assert sum(encoded.dropped.values()) <= 0.001 * corpus.counts["read"]
    batches = TokenBatches(encoded, batch_tokens)
    assert batches.real_token_share(0) >= 0.85
    assert len(batches.shapes) <= MAX_BUCKETS
