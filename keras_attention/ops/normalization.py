"""Layer normalisation with its gradient written by hand."""

from keras import ops


def layer_norm(inputs, gamma, beta, epsilon, gradient_by_hand=True):
    """Normalises the last axis: gamma * (x - mean) / sqrt(variance + epsilon) + beta.

    Left to the tape, mean and variance would send some thirty tensors of the size of
    the inputs back; the closed form needs a third of them.

    Args:
        inputs: float tensor of shape (..., D).
        gamma, beta: tensors of shape (D,).
        epsilon: float, added to the variance.
        gradient_by_hand: False spares inference what a gradient would need; the tape
            can still take one.

    Returns:
        Tensor of the shape and dtype of `inputs`; computed in float32.

    Example:

    >>> import numpy as np
    >>> ones, zeros = np.ones(2, "float32"), np.zeros(2, "float32")
    >>> layer_norm(np.array([[1.0, 3.0]], "float32"), ones, zeros, 0.0).numpy().tolist()
    [[-1.0, 1.0]]
    """
    inputs = ops.convert_to_tensor(inputs)
    gamma, beta = ops.convert_to_tensor(gamma), ops.convert_to_tensor(beta)
    flat = ops.cast(inputs, "float32")
    gamma, beta = ops.cast(gamma, "float32"), ops.cast(beta, "float32")
    normalize = _with_gradient if gradient_by_hand else _plain
    if len(inputs.shape) == 2:
        outputs = normalize(flat, gamma, beta, epsilon)
    else:
        flat = ops.reshape(flat, (-1, inputs.shape[-1]))
        outputs = normalize(flat, gamma, beta, epsilon)
        outputs = ops.reshape(outputs, ops.shape(inputs))
    return ops.cast(outputs, inputs.dtype)


def _plain(inputs, gamma, beta, epsilon):
    return _normal(inputs, epsilon)[0] * gamma + beta


def _normal(inputs, epsilon):
    """Returns inputs of mean 0 and variance 1, and 1 / their deviation before."""
    centred = inputs - ops.mean(inputs, axis=-1, keepdims=True)
    variance = ops.mean(ops.square(centred), axis=-1, keepdims=True)
    inverse = ops.rsqrt(variance + epsilon)
    return centred * inverse, inverse


def _with_gradient(inputs, gamma, beta, epsilon):
    @ops.custom_gradient
    def normalize(inputs, gamma, beta):
        normal, inverse = _normal(inputs, epsilon)

        def gradient(*arguments, upstream=None):
            upstream = arguments[0] if upstream is None else upstream  # (N, D)
            product = upstream * normal
            scaled = upstream * gamma
            # The means of `scaled` and of `scaled * normal` over the last axis.
            shift = ops.mean(scaled, axis=-1, keepdims=True)
            slope = ops.matmul(product, gamma[:, None]) / gamma.shape[0]
            to_inputs = (scaled - shift - normal * slope) * inverse
            return to_inputs, ops.sum(product, axis=0), ops.sum(upstream, axis=0)

        return normal * gamma + beta, gradient

    return normalize(inputs, gamma, beta)
