"""Metrics that are exact over tokens, whatever the batches and replicas."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keras_attention")
class TokenMean(keras.metrics.Metric):
    """Mean of a quantity over tokens: sums and tokens are kept apart.

    Keras's `Mean` fed with batch means weights every batch alike. This one is fed
    with the sum over a batch and its number of tokens.

    Args:
        name: of the metric.
        dtype: of its variables, float32.

    Example:

    >>> metric = TokenMean(name="nll")
    >>> metric.update_state(4.0, 1.0)
    >>> metric.update_state(3.0, 3.0)
    >>> float(metric.result())
    1.75
    """

    def __init__(self, name="token_mean", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")
        self.tokens = self.add_variable((), "zeros", name="tokens")

    def update_state(self, total, tokens):
        """Adds a batch.

        Args:
            total: float scalar, sum over the tokens of the batch.
            tokens: float scalar, their number (or summed weight).
        """
        self.total.assign_add(ops.cast(total, self.dtype))
        self.tokens.assign_add(ops.cast(tokens, self.dtype))

    def result(self):
        """Returns the mean so far, 0 before the first token."""
        tokens = ops.convert_to_tensor(self.tokens)
        return self.total / ops.where(tokens == 0, 1.0, tokens)


@keras.saving.register_keras_serializable("keras_attention")
class Perplexity(TokenMean):
    """exp of the mean negative log-likelihood (unsmoothed), per piece (Table 3).

    Args:
        name: of the metric.
        dtype: of its variables, float32.

    Example:

    >>> metric = Perplexity()
    >>> metric.update_state(0.0, 2.0)
    >>> float(metric.result())
    1.0
    """

    def __init__(self, name="perplexity", dtype=None):
        super().__init__(name=name, dtype=dtype)

    def result(self):
        """Returns exp(nll); 1 before the first token."""
        return ops.exp(super().result())
