"""Sinusoidal positional encoding, section 3.5 of the paper."""

import keras

from keras_attention import ops
from keras_attention.checks import check_choice


@keras.saving.register_keras_serializable("keras_attention")
class SinusoidalPositionalEncoding(keras.layers.Layer):
    """Adds sines and cosines of the position.

    PE(pos, 2i) = sin(pos / 10000^(2i / D)), PE(pos, 2i + 1) = cos(the same).

    Args:
        layout: "interleaved" (paper), or "concatenated", what tensor2tensor computes
            instead (see `keras_attention.ops.sinusoids`; departs from section 3.5).

    Call arguments:
        inputs: float tensor of shape (B, L, D).
        start_index: int or scalar tensor, position of the first of them.

    Returns:
        Tensor of the shape and dtype of `inputs`. Angles are computed in float32, and
        any length is possible.

    Raises:
        ValueError: an unknown layout.

    Masking: supported and passed on.

    Example:

    >>> import numpy as np
    >>> layer = SinusoidalPositionalEncoding()
    >>> layer(np.zeros((1, 2, 2), "float32")).numpy().round(4).tolist()
    [[[0.0, 1.0], [0.8414999842643738, 0.5403000116348267]]]

    Reference: section 3.5.
    """

    def __init__(self, layout="interleaved", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.layout = check_choice("layout", layout, ("interleaved", "concatenated"))

    def call(self, inputs, start_index=0):
        """Adds the encoding."""
        length, model_dim = keras.ops.shape(inputs)[1], inputs.shape[-1]
        table = ops.sinusoids(length, model_dim, start_index, self.layout)
        return inputs + keras.ops.cast(table, inputs.dtype)

    def compute_output_shape(self, input_shape):
        """The shape does not change."""
        return input_shape

    def get_config(self):
        """Returns the constructor arguments."""
        return {**super().get_config(), "layout": self.layout}
