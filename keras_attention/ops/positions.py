"""Sinusoidal positions, section 3.5 of the paper."""

import math

from keras import ops


def sinusoids(length, model_dim, start_index=0, layout="interleaved"):
    """Computes the sinusoids of `length` positions from `start_index` on.

    "interleaved" is the paper's formula:
    PE(pos, 2i) = sin(pos / 10000^(2i / D)), PE(pos, 2i + 1) = cos(the same).
    "concatenated" is what tensor2tensor and its descendants compute instead, all
    sines before all cosines with frequencies 10000^(-i / (D / 2 - 1)); an odd last
    channel is 0 there.

    Always float32: integers above 256 are not exact in bfloat16.

    Args:
        length: int or scalar tensor, number of positions.
        model_dim: int, D, at least 1.
        start_index: int or scalar tensor, the first position.
        layout: "interleaved" or "concatenated".

    Returns:
        float32 tensor of shape (length, D).

    Example:

    >>> [round(float(x), 4) for x in sinusoids(2, 4)[1]]
    [0.8415, 0.5403, 0.01, 0.9999]

    Reference: section 3.5.
    """
    positions = ops.cast(ops.arange(length) + start_index, "float32")
    if layout == "interleaved":
        pairs = (model_dim + 1) // 2
        exponents = [2 * i / model_dim for i in range(pairs)]
    else:
        pairs = model_dim // 2
        exponents = [i / max(pairs - 1, 1) for i in range(pairs)]
    frequencies = [math.pow(10_000.0, -exponent) for exponent in exponents]
    angles = ops.expand_dims(positions, 1) * ops.convert_to_tensor(
        [frequencies], dtype="float32"
    )  # (L, pairs)
    sines, cosines = ops.sin(angles), ops.cos(angles)
    if layout == "interleaved":
        table = ops.reshape(ops.stack([sines, cosines], axis=-1), (-1, 2 * pairs))
        return table[:, :model_dim]
    table = ops.concatenate([sines, cosines], axis=-1)
    return ops.pad(table, ((0, 0), (0, model_dim - 2 * pairs)))
