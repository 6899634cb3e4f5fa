"""Batches of a token budget with one shape a bucket (paper, section 5.1).

The order of an epoch is a pure function of (seed, epoch), so a resumed run goes on
with the batch that the uninterrupted run would have used, whatever the machine.
"""

import dataclasses

import numpy as np

from keras_attention.data.pipeline import epoch_dataset
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID

MAX_BUCKETS = 16
_TEXTS_A_CALL = 4_096


@dataclasses.dataclass(frozen=True)
class EncodedCorpus:
    """A parallel corpus as subword ids, flat with offsets, without START and END.

    Args:
        source_tokens: (tokens,) uint16 or int32.
        source_offsets: (pairs + 1,) int64; pair i is `offsets[i]:offsets[i + 1]`.
        target_tokens, target_offsets: the same for the target side.
        dropped: dict, reason -> number of pairs left out.
    """

    source_tokens: np.ndarray
    source_offsets: np.ndarray
    target_tokens: np.ndarray
    target_offsets: np.ndarray
    dropped: dict

    @property
    def num_pairs(self):
        """Number of pairs that were kept."""
        return len(self.source_offsets) - 1

    def lengths(self):
        """Returns the pieces of each side, two int64 arrays (pairs,)."""
        return np.diff(self.source_offsets), np.diff(self.target_offsets)

    def padded(self, rows, shape):
        """Returns one framed batch.

        Args:
            rows: (n,) indices of pairs, n <= shape[0].
            shape: (rows, length) of the batch.

        Returns:
            source_ids, target_ids, label_ids, int32 of `shape`: pieces + END, START +
            pieces, pieces + END. Rows beyond n are all PAD.
        """
        source = _pad(self.source_tokens, self.source_offsets, rows, shape)
        label = _pad(self.target_tokens, self.target_offsets, rows, shape)
        target = np.full(shape, PAD_ID, np.int32)
        target[:, 1:] = label[:, :-1]
        target[target == END_ID] = PAD_ID
        target[: len(rows), 0] = START_ID
        return source, target, label


def _pad(tokens, offsets, rows, shape):
    """Pieces + END of some rows, without a loop over them."""
    starts = offsets[rows]
    lengths = offsets[np.asarray(rows) + 1] - starts
    padded = np.full(shape, PAD_ID, np.int32)
    columns = np.arange(shape[1])
    real = columns[None, :] < lengths[:, None]  # (n, length)
    padded[: len(rows)][real] = tokens[(starts[:, None] + columns)[real]]
    padded[np.arange(len(rows)), lengths] = END_ID
    return padded


def encode_pairs(corpus, tokenizer, max_source_length, max_target_length):
    """Tokenizes a corpus and drops what cannot be learned from.

    Args:
        corpus: a `ParallelCorpus`.
        tokenizer: a `SubwordTokenizer`.
        max_source_length: pieces; a pair with a longer source is dropped.
        max_target_length: the same for the target. A length equal to the maximum
            stays, and nothing is ever cut.

    Returns:
        An `EncodedCorpus`.

    Raises:
        ValueError: no pair is left.
    """
    source = _tokenize(corpus.sources, tokenizer)
    target = _tokenize(corpus.targets, tokenizer)
    lengths = np.diff(source[1]), np.diff(target[1])
    empty = (lengths[0] == 0) | (lengths[1] == 0)
    long_source = ~empty & (lengths[0] > max_source_length)
    long_target = ~empty & ~long_source & (lengths[1] > max_target_length)
    dropped = {
        "empty": int(empty.sum()) + corpus.counts.get("empty", 0),
        "source_too_long": int(long_source.sum()),
        "target_too_long": int(long_target.sum()),
    }
    keep = ~(empty | long_source | long_target)
    if not keep.any():
        raise ValueError(
            "No pair is left to learn from. Expected sides of 1 to "
            f"{max_source_length} source and {max_target_length} target pieces. "
            f"Received: {len(corpus)} pairs, dropped {dropped}. Raise the maxima."
        )
    return EncodedCorpus(*_select(*source, keep), *_select(*target, keep), dropped)


def _tokenize(texts, tokenizer):
    dtype = np.uint16 if tokenizer.vocabulary_size <= 1 << 16 else np.int32
    tokens, lengths = [], [np.zeros(1, np.int64)]
    for start in range(0, len(texts), _TEXTS_A_CALL):
        ids = tokenizer.tokenize(texts[start : start + _TEXTS_A_CALL])
        tokens.append(ids.flat_values.numpy().astype(dtype))
        lengths.append(ids.row_lengths().numpy())
    return np.concatenate(tokens), np.cumsum(np.concatenate(lengths))


def _select(tokens, offsets, keep):
    lengths = np.diff(offsets)
    kept = np.concatenate([[0], np.cumsum(lengths[keep])])
    return tokens[np.repeat(keep, lengths)], kept


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
        cells = np.maximum(*encoded.lengths()) + 1  # END, or START, of both sides
        lengths = choose_lengths(cells, batch_tokens, rows_multiple)
        self.shapes = [
            (bucket_rows(length, batch_tokens, rows_multiple), int(length))
            for length in lengths
        ]
        self._buckets = np.searchsorted(lengths, cells)

    def plan(self, epoch, shuffle=True):
        """Returns the batches of an epoch, a pure function of (seed, epoch).

        Args:
            epoch: from 0.
            shuffle: False = shortest first, pairs in the order of the corpus.

        Returns:
            list of (indices of pairs, (rows, length)); only the last has fewer
            indices than rows.
        """
        rng = np.random.Generator(np.random.Philox(key=[self.seed, epoch]))
        order = np.arange(self.encoded.num_pairs)
        if shuffle:
            rng.shuffle(order)
        order = order[np.argsort(self._buckets[order], kind="stable")]
        ends = np.cumsum(np.bincount(self._buckets, minlength=len(self.shapes)))
        batches, start = [], 0
        for end, shape in zip(ends, self.shapes, strict=True):
            while end - start >= shape[0]:
                batches.append((order[start : start + shape[0]], shape))
                start += shape[0]
            # Pairs left over here stay in front of the next longer bucket.
        if shuffle:
            batches = [batches[i] for i in rng.permutation(len(batches))]
        if start < len(order):
            batches.append((order[start:], self.shapes[-1]))
        return batches

    def dataset(self, epoch, start=0, shuffle=True):
        """Returns the epoch from batch `start` on; see `pipeline.epoch_dataset`."""
        return epoch_dataset(self, epoch, start, shuffle)

    def steps_per_epoch(self, epoch=0):
        """Returns the number of batches, the same for every epoch."""
        return len(self.plan(epoch, shuffle=False))

    def real_token_share(self, epoch=0):
        """Returns real cells / all cells of both sides."""
        plan = self.plan(epoch, shuffle=False)
        cells = 2 * sum(rows * length for _, (rows, length) in plan)
        source, target = self.encoded.lengths()
        return float((source.sum() + target.sum() + 2 * len(source)) / cells)


def bucket_rows(length, batch_tokens, rows_multiple):
    """Returns the rows of the one shape of a bucket."""
    fitting = batch_tokens // int(length) // rows_multiple * rows_multiple
    return max(rows_multiple, fitting)


def choose_lengths(cells, batch_tokens, rows_multiple):
    """Returns ascending bucket lengths with the fewest cells an epoch.

    For every number of buckets up to 16, the lengths that waste the fewest cells if
    all buckets could be filled (dynamic programming over the distinct lengths) are
    tried with the left-overs counted, and the best are taken.

    Args:
        cells: (pairs,) cells that each pair needs on a side.
        batch_tokens, rows_multiple: of `TokenBatches`.

    Returns:
        int64 array, its last element the largest of `cells`.
    """
    lengths, counts = np.unique(cells, return_counts=True)
    if len(lengths) > 512:  # keeps the work bounded for very long sentences
        step = -(-int(lengths[-1]) // 512)
        rounded = np.minimum(-(-cells // step) * step, lengths[-1])
        lengths, counts = np.unique(rounded, return_counts=True)
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
