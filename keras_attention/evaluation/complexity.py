"""What a layer costs and how far signals travel: Table 1 of the paper."""

import dataclasses
import math

from keras_attention.checks import check_choice, check_integer

# kind -> operations a layer, sequential operations, longest path; as printed, and for
# what the table leaves to the text of section 4 (separable and dilated convolutions).
ORDERS = {
    "self_attention": ("O(n^2 d)", "O(1)", "O(1)"),
    "recurrent": ("O(n d^2)", "O(n)", "O(n)"),
    "convolutional": ("O(k n d^2)", "O(1)", "O(n / k)"),
    "dilated_convolutional": ("O(k n d^2)", "O(1)", "O(log_k n)"),
    "separable_convolutional": ("O(k n d + n d^2)", "O(1)", "O(n / k)"),
    "restricted_self_attention": ("O(r n d)", "O(1)", "O(n / r)"),
}
KINDS = tuple(ORDERS)


@dataclasses.dataclass(frozen=True)
class LayerComplexity:
    """One row of Table 1 in numbers.

    Attributes:
        kind: one of `KINDS`.
        operations: of one layer, the term that the table prints, without its constant.
        sequential_operations: that cannot run beside each other.
        path_length: layers until every position has been reached from every other; of
            a recurrent layer the steps between the two ends.
        orders: the three as the paper prints them.
    """

    kind: str
    operations: int
    sequential_operations: int
    path_length: int
    orders: tuple[str, str, str]


def layer_complexity(kind, length, model_dim, kernel_size=3, window=64):
    """Returns a row of Table 1 for one length.

    The paths are exact, not orders: stacks of layers in which position i sees
    `window` positions to either side, or those under a centred kernel. The dilated
    stack looks back, as in ByteNet: layer l (l = 0, 1, ...) sees k positions that are
    k^l apart, the last of them its own, and counts as connected when every position
    has been reached from all before it.

    Args:
        kind: one of `KINDS`.
        length: int, n.
        model_dim: int, d.
        kernel_size: int, k, odd and at least 3.
        window: int, the r of restricted self-attention: |i - j| <= r.

    Returns:
        `LayerComplexity`.

    Raises:
        ValueError: an unknown kind, a size below 1, or an even kernel.

    Example:

    >>> layer_complexity("restricted_self_attention", 1000, 512, window=100).path_length
    10

    Reference: section 4 and Table 1.
    """
    check_choice("kind", kind, KINDS)
    n, d = check_integer("length", length), check_integer("model_dim", model_dim)
    r, k = check_integer("window", window), check_integer("kernel_size", kernel_size)
    if k < 3 or k % 2 == 0:
        raise ValueError(
            "`kernel_size` must be odd and at least 3: a kernel that is centred and "
            f"sees a neighbour. Received: {kernel_size}."
        )
    operations = {
        "self_attention": n * n * d,
        "recurrent": n * d * d,
        "convolutional": k * n * d * d,
        "dilated_convolutional": k * n * d * d,
        "separable_convolutional": k * n * d + n * d * d,
        "restricted_self_attention": min(r, n) * n * d,
    }
    return LayerComplexity(
        kind=kind,
        operations=operations[kind],
        sequential_operations=n if kind == "recurrent" else 1,
        path_length=_path_length(kind, n, k, r),
        orders=ORDERS[kind],
    )


def _path_length(kind, n, k, r):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return max(n - 1, 1)
    if kind == "dilated_convolutional":
        layers = 1
        while k**layers < n:  # not math.log, which is off by one at powers of k
            layers += 1
        return layers
    reach = r if kind == "restricted_self_attention" else k // 2
    return max(math.ceil((n - 1) / reach), 1)


def fit_exponent(lengths, values):
    """Returns the slope p of log(value) = p * log(length) + c by least squares.

    Args:
        lengths: floats above 0, at least two different ones.
        values: as many floats above 0, seconds for example.

    Raises:
        ValueError: too few points, or one that has no logarithm.

    Example:

    >>> round(fit_exponent([64, 128, 256], [1.0, 4.0, 16.0]), 3)
    2.0
    """
    lengths, values = list(lengths), list(values)
    fits = len(lengths) == len(values) and len(set(lengths)) > 1
    if not fits or min(*lengths, *values) <= 0:
        raise ValueError(
            "An exponent needs two or more different lengths and as many values, all "
            f"above 0. Received: lengths {lengths}, values {values}."
        )
    x, y = ([math.log(value) for value in part] for part in (lengths, values))
    mean_x, mean_y = (sum(part) / len(part) for part in (x, y))
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)
