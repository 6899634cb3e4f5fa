"""The work that every contender does: the model's sizes and the sentences."""

import dataclasses

import numpy as np

FIRST_ID = 4  # behind PAD, UNK, START and END


@dataclasses.dataclass(frozen=True)
class Work:
    """A Transformer and what it translates.

    Args:
        vocabulary_size, num_layers, model_dim, num_heads, feed_forward_dim: its sizes.
        length: pieces of every source and of every hypothesis.
        sentences: at least so many are translated between two looks at the clock.
    """

    vocabulary_size: int
    num_layers: int
    model_dim: int
    num_heads: int
    feed_forward_dim: int
    length: int
    sentences: int

    def calls(self, rows):
        """Batches of `rows` sentences between two looks at the clock."""
        return max(1, self.sentences // rows)

    def sources(self, rows):
        """Returns int32 (rows, length): no END, no PAD, no unknown word."""
        shape = (rows, self.length)
        ids = np.random.default_rng(1).integers(FIRST_ID, self.vocabulary_size, shape)
        return ids.astype("int32")


WORK = {
    "tiny": Work(8_000, 4, 128, 4, 256, length=20, sentences=32),
    "base": Work(37_000, 6, 512, 8, 2048, length=24, sentences=8),
}


@dataclasses.dataclass(frozen=True)
class Task:
    """What a contender is asked for: `calls` times the same batch.

    Args:
        beams: 1 is greedy search.
        rows: sentences of the batch.
        length: pieces of every hypothesis; no more and no less.
        calls: how often.
    """

    beams: int
    rows: int
    length: int
    calls: int = 1

    @property
    def tokens(self):
        """Target tokens of the best hypotheses of all calls."""
        return self.rows * self.length * self.calls
