"""Layer normalisation, section 3.1 of the paper."""

import keras

from keras_attention import ops


@keras.saving.register_keras_serializable("keras_attention")
class LayerNorm(keras.layers.LayerNormalization):
    """Normalises the last axis; the layer of Keras with a cheaper backward pass.

    gamma * (x - mean) / sqrt(variance + epsilon) + beta, over the last axis.

    Args:
        epsilon: float, added to the variance; the paper names none.

    Call arguments:
        inputs: float tensor of shape (..., D).

    Returns:
        Tensor of the shape and dtype of `inputs`. Mean and variance are computed in
        float32.

    Masking: supported and passed on.

    Example:

    >>> import numpy as np
    >>> LayerNorm()(np.array([[1.0, 3.0]], "float32")).numpy().round(3).tolist()
    [[-1.0, 1.0]]

    Reference: section 3.1.
    """

    def __init__(self, epsilon=1e-6, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, inputs):
        """Normalises."""
        return ops.layer_norm(inputs, self.gamma, self.beta, self.epsilon)

    def get_config(self):
        """Returns the constructor arguments."""
        names = ("name", "trainable", "dtype", "epsilon")
        return {name: super().get_config()[name] for name in names}
