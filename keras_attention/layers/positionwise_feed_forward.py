"""Position-wise feed-forward network, section 3.3 of the paper."""

import keras

from keras_attention import ops
from keras_attention.checks import check_integer, check_number


@keras.saving.register_keras_serializable("keras_attention")
class PositionwiseFeedForward(keras.layers.Layer):
    """Applies the same two-layer network to every position.

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2.

    Args:
        feed_forward_dim: int, d_ff, inner width.
        activation: name or function; the paper has relu.
        dropout_rate: dropout after the activation. The paper has none (5.4).

    Call arguments:
        inputs: float tensor of shape (..., D).
        training: bool, whether to apply dropout.

    Returns:
        Tensor of the shape and dtype of `inputs`.

    Raises:
        ValueError: a size, rate or activation that cannot work.

    Masking: supported and passed on.

    Example:

    >>> import numpy as np
    >>> layer = PositionwiseFeedForward(16)
    >>> tuple(layer(np.ones((2, 3, 8), "float32")).shape)
    (2, 3, 8)

    Reference: section 3.3, equation (2).
    """

    def __init__(self, feed_forward_dim, activation="relu", dropout_rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.feed_forward_dim = check_integer("feed_forward_dim", feed_forward_dim)
        self.activation = keras.activations.get(activation)
        self.dropout_rate = check_number("dropout_rate", dropout_rate, high=1.0)
        self.dropout = keras.layers.Dropout(
            dropout_rate, name="dropout", dtype=self.dtype_policy
        )

    def build(self, input_shape):
        """Creates both kernels and biases."""
        model_dim, inner_dim = input_shape[-1], self.feed_forward_dim
        self.inner_kernel = self.add_weight(
            shape=(model_dim, inner_dim),
            initializer="glorot_uniform",
            name="inner_kernel",
        )
        self.inner_bias = self.add_weight(
            shape=(inner_dim,), initializer="zeros", name="inner_bias"
        )
        self.output_kernel = self.add_weight(
            shape=(inner_dim, model_dim),
            initializer="glorot_uniform",
            name="output_kernel",
        )
        self.output_bias = self.add_weight(
            shape=(model_dim,), initializer="zeros", name="output_bias"
        )
        self.built = True

    def call(self, inputs, training=None):
        """Computes FFN(inputs)."""
        inner = ops.linear(inputs, self.inner_kernel, self.inner_bias)
        inner = self.activation(inner)
        if self.dropout_rate:
            inner = self.dropout(inner, training=training)
        return ops.linear(inner, self.output_kernel, self.output_bias)

    def compute_output_shape(self, input_shape):
        """The shape does not change."""
        return input_shape

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "feed_forward_dim": self.feed_forward_dim,
            "activation": keras.activations.serialize(self.activation),
            "dropout_rate": self.dropout_rate,
        }
