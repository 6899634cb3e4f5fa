"""Batches of a token budget with one shape a bucket (paper, section 5.1).

The order of an epoch is a pure function of (seed, epoch), so a resumed run goes on
with the batch that the uninterrupted run would have used, whatever the machine.
"""

import functools

import numpy as np

from keras_attention.data.encoded import PAIRS_A_PASS
from keras_attention.data.pipeline import epoch_dataset
from keras_attention.data.plan import Plan

MAX_BUCKETS = 16
PLANS_KEPT = 2


class TokenBatches:
    """The batches of every epoch.

    A pair belongs to the bucket of max(source, target) + 1 cells. Each bucket has one
    shape: rows = max(M, batch_tokens // length // M * M), M = `rows_multiple`. Pairs
    that do not fill a batch go into the next longer bucket; only the last batch of
    the epoch is filled up, with all-PAD rows. Nothing is lost and nothing repeated.

    The bucket lengths (at most 16) are those with the fewest cells an epoch, so they
    follow the corpus: a small corpus under a large budget gets few buckets.

    Args:
        encoded: an `EncodedCorpus`.
        batch_tokens: cells of one side of a batch.
        rows_multiple: rows of every batch are a multiple of this.
        seed: of the order.

    Raises:
        ValueError: a count below 1.
    """

    def __init__(self, encoded, batch_tokens, rows_multiple=8, seed=1):
        for name, value in (
            ("batch_tokens", batch_tokens),
            ("rows_multiple", rows_multiple),
        ):
            if value < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {value}.")
        self.encoded = encoded
        self.batch_tokens = batch_tokens
        self.rows_multiple = rows_multiple
        self.seed = seed
        counts = np.zeros(1, np.int64)
        for _, cells in self._cells():
            counts = _add(counts, np.bincount(cells))
        lengths = choose_lengths(counts, batch_tokens, rows_multiple)
        self.shapes = [
            (bucket_rows(length, batch_tokens, rows_multiple), int(length))
            for length in lengths
        ]
        bucket_of = np.searchsorted(lengths, np.arange(len(counts))).astype(np.uint8)
        self._buckets = np.empty(encoded.num_pairs, np.uint8)
        for part, cells in self._cells():
            self._buckets[part] = bucket_of[cells]
        self._counts = np.bincount(bucket_of, counts, len(lengths)).astype(np.int64)
        self._starts, self._kinds = self._places()
        self._plan = functools.lru_cache(maxsize=PLANS_KEPT)(self._make_plan)

    def _cells(self):
        """Iterates over slices of the pairs and the cells of each: pieces and END."""
        for start in range(0, self.encoded.num_pairs, PAIRS_A_PASS):
            part = slice(start, min(start + PAIRS_A_PASS, self.encoded.num_pairs))
            yield part, np.maximum(*self.encoded.lengths(part)) + 1

    def _places(self):
        """Where the batches begin among pairs sorted by bucket, and their shapes."""
        starts, kinds, start = [], [], 0
        for kind, end in enumerate(np.cumsum(self._counts)):
            rows = self.shapes[kind][0]
            full = (int(end) - start) // rows
            starts.append(start + rows * np.arange(full))
            kinds.append(np.full(full, kind, np.uint8))
            start += rows * full  # Left-over pairs stay before the next longer bucket.
        if start < self.encoded.num_pairs:
            starts.append([start])
            kinds.append(np.array([len(self.shapes) - 1], np.uint8))
        return np.concatenate(starts).astype(np.int64), np.concatenate(kinds)

    def plan(self, epoch, shuffle=True):
        """Returns the batches of an epoch, a pure function of (seed, epoch).

        Args:
            epoch: from 0.
            shuffle: False = shortest first, pairs in the order of the corpus.

        Returns:
            Sequence of (indices of pairs, (rows, length)), a `Plan`; only the last
            has fewer indices than rows. The last two plans asked for are kept.
        """
        return self._plan(int(epoch), bool(shuffle))

    def _make_plan(self, epoch, shuffle):
        order = np.arange(self.encoded.num_pairs, dtype=np.uint32)
        numbers = np.arange(len(self._starts))
        if shuffle:
            rng = np.random.Generator(np.random.Philox(key=[self.seed, epoch]))
            rng.shuffle(order)
            rng.shuffle(numbers[: self._num_full()])  # the part-filled one stays last
        order = self._by_bucket(order)
        order.flags.writeable = False
        return Plan(order, self._starts[numbers], self._kinds[numbers], self.shapes)

    def _num_full(self):
        last = self._starts[-1] + self.shapes[self._kinds[-1]][0]
        return len(self._starts) - int(last > self.encoded.num_pairs)

    def _by_bucket(self, order):
        """Sorts pairs by bucket, stably, with little memory beside the result."""
        result = np.empty_like(order)
        places = np.cumsum(self._counts) - self._counts
        for start in range(0, len(order), PAIRS_A_PASS):
            part = order[start : start + PAIRS_A_PASS]
            buckets = self._buckets[part]
            part = part[np.argsort(buckets, kind="stable")]
            counts = np.bincount(buckets, minlength=len(places))
            begins = np.cumsum(counts) - counts
            for place, begin, count in zip(places, begins, counts, strict=True):
                result[place : place + count] = part[begin : begin + count]
            places += counts
        return result

    def dataset(self, epoch, start=0, shuffle=True):
        """Returns the epoch from batch `start` on; see `pipeline.epoch_dataset`."""
        return epoch_dataset(self, epoch, start, shuffle)

    def steps_per_epoch(self, epoch=0):
        """Returns the number of batches, the same for every epoch."""
        return len(self._starts)

    def epoch_shapes(self):
        """Returns [((rows, length), batches)] of an epoch, the same for every one."""
        counts = np.bincount(self._kinds, minlength=len(self.shapes))
        return [(s, int(n)) for s, n in zip(self.shapes, counts, strict=True) if n]

    def real_token_share(self, epoch=0):
        """Returns real cells / all cells of both sides, the same for every epoch."""
        cells = np.array([rows * length for rows, length in self.shapes])
        framing = 2 * self.encoded.num_pairs
        real = sum(self.encoded.num_tokens) + framing
        return float(real / (2 * cells[self._kinds].sum()))


def _add(one, other):
    """Sum of two counts by length, the shorter filled up with zeros."""
    total = np.zeros(max(len(one), len(other)), np.int64)
    total[: len(one)] = one
    total[: len(other)] += other
    return total


def bucket_rows(length, batch_tokens, rows_multiple):
    """Returns the rows of the one shape of a bucket."""
    fitting = batch_tokens // int(length) // rows_multiple * rows_multiple
    return max(rows_multiple, fitting)


def choose_lengths(counts, batch_tokens, rows_multiple):
    """Returns ascending bucket lengths with the fewest cells an epoch.

    For every number of buckets up to 16, the lengths that waste the fewest cells if
    all buckets could be filled (dynamic programming over the distinct lengths) are
    tried with the left-overs counted, and the best are taken.

    Args:
        counts: how many pairs need 0, 1, 2, ... cells on their longer side.
        batch_tokens, rows_multiple: of `TokenBatches`.

    Returns:
        int64 array, its last element the largest number of cells that a pair needs.
    """
    lengths = np.flatnonzero(counts)
    counts = counts[lengths]
    if len(lengths) > 512:  # keeps the work bounded for very long sentences
        step = -(-int(lengths[-1]) // 512)
        rounded = np.minimum(-(-lengths // step) * step, lengths[-1])
        lengths, places = np.unique(rounded, return_inverse=True)
        counts = np.bincount(places, counts).astype(np.int64)
    candidates = _partitions(lengths, counts, min(MAX_BUCKETS, len(lengths)))
    costs = [
        _epoch_cells(lengths, counts, ends, batch_tokens, rows_multiple)
        for ends in candidates
    ]
    return lengths[candidates[int(np.argmin(costs))]]


def _partitions(lengths, counts, most):
    """For 1..most buckets, the indices of bucket ends with the least padding."""
    total = np.concatenate([[0], np.cumsum(counts)])
    # cost[i, j]: cells of a bucket that holds lengths i..j
    cost = (total[None, 1:] - total[:-1, None]) * lengths[None, :].astype(np.float64)
    cost[np.tril_indices(len(lengths), -1)] = np.inf
    best = cost[0]
    choices, found = [], []
    for buckets in range(1, most + 1):
        if buckets > 1:
            options = best[:-1, None] + cost[1:, :]  # previous bucket ends at i
            choices.append(np.argmin(options, axis=0))
            best = np.min(options, axis=0)
        ends = [len(lengths) - 1]
        for choice in reversed(choices):
            ends.append(int(choice[ends[-1]]))
        found.append(np.array(ends[::-1]))
    return found


def _epoch_cells(lengths, counts, ends, batch_tokens, rows_multiple):
    """Cells of an epoch when left-overs cascade into longer buckets."""
    total = np.cumsum(counts)[ends]
    cells = start = 0
    for length, end in zip(lengths[ends], total, strict=True):
        rows = bucket_rows(length, batch_tokens, rows_multiple)
        full = (int(end) - start) // rows
        cells += full * rows * int(length)
        start += full * rows
    return cells + (rows * int(length) if start < total[-1] else 0)
