"""The work that every contender does: shapes, data and operations of one update."""

import dataclasses

import numpy as np

DROPOUT = 0.1
SMOOTHING = 0.1
LEARNING_RATE = 1e-4


@dataclasses.dataclass(frozen=True)
class Work:
    """A Transformer and the batch it learns from.

    Args:
        vocabulary_size, num_layers, model_dim, num_heads, feed_forward_dim: its sizes.
        rows, length: sentences of a batch and pieces of each side; no padding.
        steps: updates between two looks at the clock.
    """

    vocabulary_size: int
    num_layers: int
    model_dim: int
    num_heads: int
    feed_forward_dim: int
    rows: int
    length: int
    steps: int

    @property
    def tokens(self):
        """Target tokens of a batch."""
        return self.rows * self.length

    @property
    def operations(self):
        """Floating-point operations of the matrix products of one update.

        Forward, and twice as many backward; a product (a, b) x (b, c) counts 2 a b c.
        """
        width, inner = self.model_dim, self.feed_forward_dim
        projections = 4 * width * width
        attention = 2 * self.length * width  # scores and their product with values
        network = 2 * width * inner
        encoder = projections + attention + network
        decoder = 2 * (projections + attention) + network
        per_token = self.num_layers * (encoder + decoder)
        per_token += self.vocabulary_size * width
        return 3 * 2 * per_token * self.tokens

    def batch(self):
        """Returns source_ids, target_ids, label_ids, int32 (rows, length), no PAD."""
        shape = (3, self.rows, self.length)
        ids = np.random.default_rng(1).integers(4, self.vocabulary_size, shape)
        return ids.astype("int32")


WORK = {
    "tiny": Work(8_000, 4, 128, 4, 256, rows=64, length=24, steps=6),
    "small": Work(8_000, 3, 256, 4, 1024, rows=64, length=24, steps=3),
    "base": Work(37_000, 6, 512, 8, 2048, rows=16, length=32, steps=2),
}
