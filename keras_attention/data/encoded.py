"""A parallel corpus as subword ids: in memory, or mapped from files."""

import dataclasses
import functools
import hashlib

import numpy as np

from keras_attention.vocabulary import END_ID, PAD_ID, START_ID

PAIRS_A_PASS = 1 << 18  # bounds the temporary arrays of a pass over all pairs


@dataclasses.dataclass(frozen=True)
class EncodedCorpus:
    """A parallel corpus as subword ids, flat with offsets, without START and END.

    The arrays may be mapped from files (`encode_files`); then no pair takes memory of
    its own here.

    Args:
        source_tokens: (tokens,) uint16 or int32.
        source_offsets: (pairs + 1,) int64; pair i is `offsets[i]:offsets[i + 1]`.
        target_tokens, target_offsets: the same for the target side.
        dropped: dict, reason -> number of pairs left out.
        numbers: (pairs,) uint32, line number of each pair in the text it came from,
            from 1; None = nothing was left out.
        weights: (pairs,) float32, what each pair counts in the loss; None = 1 each.
    """

    source_tokens: np.ndarray
    source_offsets: np.ndarray
    target_tokens: np.ndarray
    target_offsets: np.ndarray
    dropped: dict
    numbers: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def num_pairs(self):
        """Number of pairs that were kept."""
        return len(self.source_offsets) - 1

    @property
    def num_tokens(self):
        """(source pieces, target pieces) of all pairs, without START and END."""
        offsets = self.source_offsets, self.target_offsets
        return tuple(int(side[-1]) - int(side[0]) for side in offsets)

    def lengths(self, rows=None):
        """Returns the pieces of each side, two int64 arrays.

        Args:
            rows: (n,) indices of pairs, or a slice of them; None = all pairs.
        """
        if isinstance(rows, slice) or rows is None:
            start, stop, _ = (rows or slice(None)).indices(self.num_pairs)
            part = slice(start, stop + 1)
            return np.diff(self.source_offsets[part]), np.diff(
                self.target_offsets[part]
            )
        offsets = self.source_offsets, self.target_offsets
        source, target = (side[rows + 1] - side[rows] for side in offsets)
        return source, target

    def line_numbers(self, rows):
        """Returns the line numbers, from 1, of some pairs in their source text.

        Args:
            rows: (n,) indices of pairs.

        Returns:
            int64 (n,). Several files of a side count as one text, in their order.
        """
        rows = np.asarray(rows, np.int64)
        return rows + 1 if self.numbers is None else self.numbers[rows].astype(np.int64)

    @functools.cached_property
    def sha256(self):
        """Fingerprint of the ids of all pairs in their order, and of their weights."""
        digest = hashlib.sha256()
        arrays = [
            self.source_tokens,
            self.source_offsets,
            self.target_tokens,
            self.target_offsets,
        ]
        for array in arrays if self.weights is None else [*arrays, self.weights]:
            digest.update(f"{array.dtype} {array.shape} ".encode())
            for start in range(0, len(array), PAIRS_A_PASS):
                digest.update(np.ascontiguousarray(array[start : start + PAIRS_A_PASS]))
        return digest.hexdigest()

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

    def padded_weights(self, rows, count):
        """Returns the weights of some pairs and 0 behind them, float32 (count,)."""
        weights = np.zeros(count, np.float32)
        weights[: len(rows)] = self.weights[rows]
        return weights


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
