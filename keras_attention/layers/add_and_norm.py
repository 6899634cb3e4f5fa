"""The residual connection around every sub-layer, section 3.1 of the paper."""

import keras

from keras_attention.checks import check_choice, check_number
from keras_attention.layers.layer_norm import LayerNorm


@keras.saving.register_keras_serializable("keras_attention")
class AddAndNorm(keras.layers.Layer):
    """Adds a sub-layer's output to its input and normalises.

    LayerNorm(x + Dropout(Sublayer(x))).

    With `norm_position="pre"` (departs from section 3.1) the sub-layer reads
    `prepare(x)` = LayerNorm(x) instead, and the sum x + Dropout(Sublayer(prepare(x)))
    is not normalised. With "post" `prepare(x)` is x, so that a block is written once:
    `x = add_and_norm(x, sublayer(add_and_norm.prepare(x)))`.

    Args:
        dropout_rate: P_drop on the sub-layer's output (5.4).
        layer_norm_epsilon: float, added to the variance.
        norm_position: "post" (paper) or "pre".

    Call arguments:
        inputs: float tensor of shape (..., D).
        sublayer_output: float tensor of the same shape.
        training: bool, whether to apply dropout.

    Returns:
        Tensor of the shape and dtype of `inputs`. Mean and variance are computed in
        float32.

    Raises:
        ValueError: a rate, epsilon or position that cannot work.

    Masking: supported; the mask of `inputs` is passed on.

    Example:

    >>> import numpy as np
    >>> x = np.array([[[1.0, 3.0]]], "float32")
    >>> AddAndNorm(dropout_rate=0.0)(x, np.zeros_like(x)).numpy().round(3).tolist()
    [[[-1.0, 1.0]]]

    Reference: sections 3.1 and 5.4.
    """

    def __init__(
        self,
        dropout_rate=0.1,
        layer_norm_epsilon=1e-6,
        norm_position="post",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.dropout_rate = check_number("dropout_rate", dropout_rate, high=1.0)
        self.layer_norm_epsilon = check_number(
            "layer_norm_epsilon", layer_norm_epsilon, open_low=True
        )
        self.norm_position = check_choice(
            "norm_position", norm_position, ("post", "pre")
        )
        self.dropout = keras.layers.Dropout(
            dropout_rate, name="dropout", dtype=self.dtype_policy
        )
        self.norm = LayerNorm(
            epsilon=layer_norm_epsilon, name="norm", dtype=self.dtype_policy
        )

    def build(self, inputs_shape, sublayer_output_shape=None):
        """Creates gamma and beta."""
        self.norm.build(inputs_shape)
        self.built = True

    def prepare(self, inputs, training=None):
        """Returns what the sub-layer reads, shape (..., D)."""
        if self.norm_position == "post":
            return inputs
        return self.norm(inputs, training=training)

    def call(self, inputs, sublayer_output, training=None):
        """Adds, and normalises unless the norm comes first."""
        outputs = inputs + self.dropout(sublayer_output, training=training)
        if self.norm_position == "pre":
            return outputs
        return self.norm(outputs, training=training)

    def compute_output_shape(self, inputs_shape, sublayer_output_shape=None):
        """The shape does not change."""
        return inputs_shape

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "dropout_rate": self.dropout_rate,
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "norm_position": self.norm_position,
        }
