"""The batches of one epoch as a sequence that computes its members when asked."""

import collections.abc


class Plan(collections.abc.Sequence):
    """Batches of an epoch: (indices of pairs, (rows, length)) each.

    A corpus of millions of pairs has tens of thousands of batches; so a batch is a
    place in one array, and a slice of the plan copies no index.

    Args:
        order: (pairs,) uint32, all pairs, batch beside batch.
        starts: (batches,) where each batch begins in `order`.
        kinds: (batches,) index into `shapes`.
        shapes: list of (rows, length).
    """

    def __init__(self, order, starts, kinds, shapes):
        self._order = order
        self._starts = starts
        self._kinds = kinds
        self._shapes = shapes

    def __len__(self):
        return len(self._starts)

    def __getitem__(self, index):
        if isinstance(index, slice):
            part = self._starts[index], self._kinds[index]
            return Plan(self._order, *part, self._shapes)
        start, shape = self._starts[index], self._shapes[self._kinds[index]]
        return self._order[start : start + shape[0]], shape
