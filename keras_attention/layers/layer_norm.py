"""Layer normalisation, section 3.1 of the paper."""

import keras

from keras_attention import ops
from keras_attention.checks import check_number


@keras.saving.register_keras_serializable("keras_attention")
class LayerNorm(keras.layers.LayerNormalization):
    """Normalises the last axis; the layer of Keras with a cheaper backward pass.

    gamma * (x - mean) / sqrt(variance + epsilon) + beta, over the last axis.

    Args:
        epsilon: float, added to the variance; the paper names none.

    Call arguments:
        inputs: float tensor of shape (..., D).

    Returns:
        Tensor of the shape of `inputs` in the compute dtype. Mean and variance are
        computed in float32.

    Raises:
        ValueError: an epsilon that cannot work, or another argument of Keras's layer.

    Masking: supported and passed on.

    Example:

    >>> import numpy as np
    >>> LayerNorm()(np.array([[1.0, 3.0]], "float32")).numpy().round(3).tolist()
    [[-1.0, 1.0]]

    Reference: section 3.1.
    """

    def __init__(self, epsilon=1e-6, **kwargs):
        check_number("epsilon", epsilon, open_low=True)
        unknown = sorted(set(kwargs) - {"name", "trainable", "dtype"})
        if unknown:
            raise ValueError(
                "`LayerNorm` scales and centres the last axis. Expected `epsilon`, "
                f"`name`, `trainable` and `dtype`. Received: {', '.join(unknown)}. "
                "Use `keras.layers.LayerNormalization` for other norms."
            )
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs, training=None):
        """Normalises."""
        by_hand = training is not False
        outputs = ops.layer_norm(
            inputs, self.gamma, self.beta, self.epsilon, gradient_by_hand=by_hand
        )
        return keras.ops.cast(outputs, self.compute_dtype)

    def get_config(self):
        """Returns the constructor arguments."""
        config = super().get_config()
        return {
            name: config[name] for name in ("name", "trainable", "dtype", "epsilon")
        }
