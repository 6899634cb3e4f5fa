"""One matrix product for inputs of any rank."""

from keras import ops


def linear(inputs, kernel, bias=None):
    """Computes `inputs @ kernel + bias` over the last axis.

    The leading axes are merged into one first: one matrix product, and one in the
    backward pass, instead of a batch of small ones that must be summed.

    Args:
        inputs: tensor of shape (..., I).
        kernel: tensor of shape (I, O), cast to the dtype of `inputs`.
        bias: tensor of shape (O,) or None.

    Returns:
        Tensor of shape (..., O) in the dtype of `inputs`.

    Example:

    >>> import numpy as np
    >>> linear(np.ones((2, 3, 4), "float32"), np.ones((4, 5), "float32")).shape[-1]
    5
    """
    inputs = ops.convert_to_tensor(inputs)
    input_dim, output_dim = kernel.shape
    flat = ops.reshape(inputs, (-1, input_dim))
    outputs = ops.matmul(flat, ops.cast(kernel, inputs.dtype))
    if bias is not None:
        outputs = outputs + ops.cast(bias, inputs.dtype)
    return ops.reshape(outputs, (*ops.shape(inputs)[:-1], output_dim))
