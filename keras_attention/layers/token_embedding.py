"""Token embedding that is also the output projection, section 3.4 of the paper."""

import keras

from keras_attention import ops
from keras_attention.checks import check_integer


@keras.saving.register_keras_serializable("keras_attention")
class TokenEmbedding(keras.layers.Layer):
    """Looks pieces up in a matrix E, and turns states into logits with E again.

    Embedding(ids) = E[ids] * sqrt(d_model), and with `reverse=True` the logits
    x E^T, in float32 under every dtype policy.

    E starts as a normal distribution of deviation d_model^-0.5 (the paper names no
    initialisation), so that embeddings and first logits have unit scale.

    Args:
        vocabulary_size: int, V.
        model_dim: int, D.
        use_bias: add a bias to the logits; the paper has none (departs from 3.4).

    Call arguments:
        inputs: integer ids of shape (B, L), or with `reverse=True` float states of
            shape (..., D).
        reverse: bool, compute logits.

    Returns:
        Embeddings (B, L, D) in the compute dtype, or float32 logits (..., V).

    Raises:
        ValueError: a size that cannot work, or float ids.

    Masking: makes the mask `ids != PAD`; logits carry none.

    Example:

    >>> import numpy as np
    >>> layer = TokenEmbedding(vocabulary_size=10, model_dim=4)
    >>> embedded = layer(np.array([[4, 5, 0]]))
    >>> tuple(embedded.shape), tuple(layer(embedded, reverse=True).shape)
    ((1, 3, 4), (1, 3, 10))

    Reference: section 3.4.
    """

    def __init__(self, vocabulary_size, model_dim, use_bias=False, **kwargs):
        # Ids must not be cast to a float of few digits, nor states of the logits.
        super().__init__(autocast=False, **kwargs)
        self.supports_masking = True
        self.vocabulary_size = check_integer("vocabulary_size", vocabulary_size)
        self.model_dim = check_integer("model_dim", model_dim)
        self.use_bias = bool(use_bias)

    def build(self, input_shape):
        """Creates the matrix, and perhaps the bias of the logits."""
        self.embeddings = self.add_weight(
            shape=(self.vocabulary_size, self.model_dim),
            initializer=keras.initializers.RandomNormal(stddev=self.model_dim**-0.5),
            name="embeddings",
            # Without this Keras hands out a half-precision copy whenever the layer
            # is called outside of a model, and logits would differ between the two.
            autocast=False,
        )
        self.output_bias = None
        if self.use_bias:
            self.output_bias = self.add_weight(
                shape=(self.vocabulary_size,),
                initializer="zeros",
                name="output_bias",
                autocast=False,
            )
        self.built = True

    def call(self, inputs, reverse=False):
        """Embeds ids, or computes logits."""
        if reverse:
            states = keras.ops.cast(inputs, "float32")
            logits = ops.linear_transposed(states, self.embeddings)
            return logits if self.output_bias is None else logits + self.output_bias
        inputs = keras.ops.convert_to_tensor(inputs)
        if not keras.backend.is_int_dtype(inputs.dtype):
            raise ValueError(
                "Token ids must be integers; pass `reverse=True` to compute logits "
                f"from states. Received: inputs of dtype {inputs.dtype}."
            )
        if keras.backend.standardize_dtype(inputs.dtype) not in ("int32", "int64"):
            inputs = keras.ops.cast(inputs, "int32")  # TensorFlow gathers by no uint16
        embedded = keras.ops.take(self.embeddings, inputs, axis=0)
        return keras.ops.cast(embedded, self.compute_dtype) * keras.ops.cast(
            self.model_dim**0.5, self.compute_dtype
        )

    def compute_mask(self, inputs, previous_mask=None):
        """Marks real ids; None for states."""
        if keras.backend.is_int_dtype(inputs.dtype):
            return ops.padding_mask(inputs)
        return None

    def compute_output_spec(self, inputs, reverse=False):
        """Shapes and dtypes without running the layer."""
        if reverse:
            shape = (*inputs.shape[:-1], self.vocabulary_size)
            return keras.KerasTensor(shape, dtype="float32")
        return keras.KerasTensor(
            (*inputs.shape, self.model_dim), dtype=self.compute_dtype
        )

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "model_dim": self.model_dim,
            "use_bias": self.use_bias,
        }
