"""Learned positions, the alternative of Table 3, row E."""

import keras

from keras_attention.checks import check_integer


@keras.saving.register_keras_serializable("keras_attention")
class LearnedPositionalEmbedding(keras.layers.Layer):
    """Adds a learned vector of the position (departs from section 3.5's sinusoids).

    Args:
        max_length: int, positions of the table.

    Call arguments:
        inputs: float tensor of shape (B, L, D).
        start_index: int or scalar tensor, position of the first of them.

    Returns:
        Tensor of the shape and dtype of `inputs`.

    Raises:
        ValueError: a size that cannot work, or an input known to be longer than the
            table. Inside a graph of unknown length the addition fails with an
            `InvalidArgumentError` that names both lengths; nothing is ever clamped.

    Masking: supported and passed on.

    Example:

    >>> import numpy as np
    >>> layer = LearnedPositionalEmbedding(max_length=16)
    >>> tuple(layer(np.zeros((2, 5, 8), "float32")).shape)
    (2, 5, 8)

    Reference: section 3.5 and Table 3, row (E).
    """

    def __init__(self, max_length, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.max_length = check_integer("max_length", max_length)

    def build(self, input_shape):
        """Creates the table."""
        self.embeddings = self.add_weight(
            shape=(self.max_length, input_shape[-1]),
            initializer=keras.initializers.RandomNormal(stddev=input_shape[-1] ** -0.5),
            name="embeddings",
        )
        self.built = True

    def call(self, inputs, start_index=0):
        """Adds the embedding of each position."""
        length = keras.ops.shape(inputs)[1]
        end = start_index + length
        if isinstance(end, int) and end > self.max_length:
            raise ValueError(
                f"The table of learned positions holds {self.max_length} of them. "
                f"Received: an input that reaches position {end}. Shorten the input, "
                "or make the layer with a larger `max_length`."
            )
        # `slice` refuses to reach past the end, on every device; indexing would come
        # out short, and one short row would be broadcast to all positions.
        rows = keras.ops.slice(
            self.embeddings, (start_index, 0), (length, inputs.shape[-1])
        )
        return inputs + keras.ops.cast(rows, inputs.dtype)

    def compute_output_shape(self, input_shape):
        """The shape does not change."""
        return input_shape

    def get_config(self):
        """Returns the constructor arguments."""
        return {**super().get_config(), "max_length": self.max_length}
