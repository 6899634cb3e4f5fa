"""Matrix products for inputs of any rank: one product over all leading axes."""

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
    flat = inputs if len(inputs.shape) == 2 else ops.reshape(inputs, (-1, input_dim))
    outputs = ops.matmul(flat, ops.cast(kernel, inputs.dtype))
    if bias is not None:
        outputs = outputs + ops.cast(bias, inputs.dtype)
    if len(inputs.shape) == 2:
        return outputs
    return ops.reshape(outputs, (*ops.shape(inputs)[:-1], output_dim))


def linear_transposed(inputs, kernel):
    """Computes `inputs @ transpose(kernel)` over the last axis.

    Left to the tape, the gradient of the kernel would be computed transposed and then
    turned, which for an output matrix of base is another 76 MB to read and write.

    Args:
        inputs: tensor of shape (..., I).
        kernel: tensor of shape (O, I), cast to the dtype of `inputs`.

    Returns:
        Tensor of shape (..., O) in the dtype of `inputs`.

    Example:

    >>> import numpy as np
    >>> kernel = np.ones((5, 4), "float32")
    >>> linear_transposed(np.ones((2, 3, 4), "float32"), kernel).shape[-1]
    5
    """
    inputs, kernel = ops.convert_to_tensor(inputs), ops.convert_to_tensor(kernel)
    output_dim, input_dim = kernel.shape
    kernel = ops.cast(kernel, inputs.dtype)
    if len(inputs.shape) == 2:
        return _product(inputs, kernel)
    outputs = _product(ops.reshape(inputs, (-1, input_dim)), kernel)
    return ops.reshape(outputs, (*ops.shape(inputs)[:-1], output_dim))


def _product(inputs, kernel):
    @ops.custom_gradient
    def product(inputs, kernel):
        def gradient(*arguments, upstream=None):
            upstream = arguments[0] if upstream is None else upstream  # (N, O)
            to_kernel = ops.matmul(ops.transpose(upstream), inputs)
            return ops.matmul(upstream, kernel), to_kernel

        return ops.matmul(inputs, ops.transpose(kernel)), gradient

    return product(inputs, kernel)
