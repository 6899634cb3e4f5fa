"""Label-smoothed cross entropy, section 5.4 of the paper."""

import keras
from keras import ops

from keras_attention.checks import check_number
from keras_attention.vocabulary import PAD_ID


@keras.saving.register_keras_serializable("keras_attention")
class LabelSmoothedCrossEntropy(keras.losses.Loss):
    """Cross entropy against a target with some probability on the wrong classes.

    The right class has 1 - eps, each of the V - 1 others eps / (V - 1):
    loss = -(1 - eps - eps') log p_right - eps' sum_v log p_v, eps' = eps / (V - 1).

    It is computed from the label's logit, the sum of the logits and their
    log-sum-exp, so that no one-hot tensor of shape (B, T, V) exists.

    `call` gives the loss of every token, `__call__` the mean over real tokens.
    `Transformer` takes `call` and divides by the tokens of the global batch itself.

    Args:
        label_smoothing: eps_ls, in [0, 1).
        name: of the loss.
        ignored: `reduction` and `dtype`, for Keras; see Raises.

    Call arguments:
        y_true: integer labels of shape (B, T); PAD gives exactly 0.
        y_pred: logits of shape (B, T, V); computed in float32.
        sample_weight: weights of real tokens, (B, T), (B, 1) or (B,); None = 1.

    Returns:
        float32 (B, T) from `call`, a float32 scalar from `__call__`.

    Raises:
        ValueError: a smoothing that cannot work, or logits whose shape does not
            fit the labels.

    Example:

    >>> import numpy as np
    >>> loss = LabelSmoothedCrossEntropy(label_smoothing=0.0)
    >>> labels, logits = np.array([[3, 2, 0]]), np.zeros((1, 3, 8), "float32")
    >>> round(float(loss(labels, logits)), 6)  # ln 8
    2.079442

    Reference: section 5.4.
    """

    def __init__(
        self, label_smoothing=0.1, name="label_smoothed_cross_entropy", **kwargs
    ):
        super().__init__(name=name, **kwargs)
        self.label_smoothing = check_number(
            "label_smoothing", label_smoothing, high=1.0
        )

    def call(self, y_true, y_pred):
        """Returns the loss of every token, exactly 0 where the label is PAD."""
        labels, logits = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
        if len(logits.shape) != len(labels.shape) + 1:
            raise ValueError(
                "Labels must be ids of shape (B, T) and predictions logits of shape "
                f"(B, T, V). Received: labels of shape {tuple(labels.shape)}, "
                f"predictions of shape {tuple(logits.shape)}."
            )
        losses = _smoothed_cross_entropy(
            labels, ops.cast(logits, "float32"), self.label_smoothing
        )
        return ops.where(ops.not_equal(labels, PAD_ID), losses, 0.0)

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Returns sum of losses / sum of weights; 0 if nothing is real."""
        losses = self.call(y_true, y_pred)
        weights = token_weights(y_true, sample_weight)
        total = ops.sum(weights)
        return ops.sum(losses * weights) / ops.where(total == 0, 1.0, total)

    def get_config(self):
        """Returns the constructor arguments."""
        return {**super().get_config(), "label_smoothing": self.label_smoothing}


def _smoothed_cross_entropy(labels, logits, smoothing):
    """Cross entropy of every token, (B, T), with its gradient written by hand.

    Left to the tape, the log-sum-exp, the sum and the label's logit would each send a
    gradient of shape (B, T, V) back; their sum has a closed form, and needs one pass:
    d loss / d logit_v = p_v - eps' for the wrong classes, p_v - (1 - eps) for the
    right one.
    """
    classes = logits.shape[-1]
    other = smoothing / (classes - 1)

    @ops.custom_gradient
    def cross_entropy(logits):
        highest, exponentials, total = exponential_sums(logits)
        normalizer = highest + ops.log(total)
        right = label_logits(labels, logits)
        # -sum_v log p_v = V * log Z - sum_v logit_v
        everything = classes * normalizer - ops.sum(logits, axis=-1)
        losses = (1 - smoothing - other) * (normalizer - right) + other * everything

        def gradient(*arguments, upstream=None):
            upstream = arguments[0] if upstream is None else upstream  # (B, T)
            scale = ops.expand_dims(upstream / total, -1)
            wrong = exponentials * scale - ops.expand_dims(other * upstream, -1)
            at_label = (ops.exp(right - normalizer) - (1 - smoothing)) * upstream
            return _set_at_labels(wrong, labels, at_label)

        return losses, gradient

    return cross_entropy(logits)


def _set_at_labels(values, labels, updates):
    """Replaces values (B, T, V) at the labels (B, T) by updates (B, T)."""
    classes = values.shape[-1]
    flat = ops.reshape(values, (-1, classes))
    labels = ops.reshape(ops.cast(labels, "int32"), (-1,))
    index = ops.stack([ops.arange(ops.shape(flat)[0], dtype="int32"), labels], axis=1)
    flat = ops.scatter_update(flat, index, ops.reshape(updates, (-1,)))
    return ops.reshape(flat, ops.shape(values))


def exponential_sums(logits):
    """Returns max (B, T), exp(logits - max) (B, T, V) and its sum (B, T)."""
    highest = ops.max(logits, axis=-1)
    exponentials = ops.exp(logits - ops.expand_dims(highest, -1))
    return highest, exponentials, ops.sum(exponentials, axis=-1)


def label_logits(labels, logits):
    """Picks the logit of each label: (B, T), (B, T, V) -> (B, T).

    A label that is no class gives NaN, so that a loss says so on every device.
    """
    # Not `take_along_axis`: it is some sixty operations on TensorFlow.
    classes = logits.shape[-1]
    # JAX has no int64 by default; the others count beyond 2^31 logits.
    dtype = "int32" if keras.backend.backend() == "jax" else "int64"
    labels = ops.cast(ops.reshape(labels, (-1,)), dtype)
    places = ops.arange(ops.shape(labels)[0], dtype=dtype) * classes
    places = places + ops.clip(labels, 0, classes - 1)
    chosen = ops.take(ops.reshape(logits, (-1,)), places)
    real = ops.logical_and(labels >= 0, labels < classes)
    chosen = ops.where(real, chosen, float("nan"))
    return ops.reshape(chosen, ops.shape(logits)[:-1])


def token_weights(labels, sample_weight=None):
    """Returns the float32 weight of every token: given, or 1; 0 where the label is PAD.

    Args:
        labels: integer tensor of shape (B, T).
        sample_weight: tensor of shape (B, T), (B, 1) or (B,), or None.

    Raises:
        ValueError: weights of another rank.
    """
    real = ops.cast(ops.not_equal(ops.convert_to_tensor(labels), PAD_ID), "float32")
    if sample_weight is None:
        return real
    weights = ops.cast(sample_weight, "float32")
    if len(weights.shape) not in (1, 2):
        raise ValueError(
            "`sample_weight` must have the shape (B, T), (B, 1) or (B,). "
            f"Received: {tuple(weights.shape)}."
        )
    if len(weights.shape) == 1:
        weights = ops.expand_dims(weights, -1)
    # A weight of a sentence must not count its padding, and one of padding, which
    # may even be NaN, never counts.
    return ops.where(real > 0, weights, 0.0)
