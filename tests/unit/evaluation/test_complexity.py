"""Table 1: the formulas as printed, the paths by walking through the layers."""

import numpy as np
import pytest

from keras_attention.evaluation.complexity import (
    KINDS,
    ORDERS,
    fit_exponent,
    layer_complexity,
)


def test_the_orders_are_those_of_the_paper():
    assert ORDERS["self_attention"] == ("O(n^2 d)", "O(1)", "O(1)")
    assert ORDERS["recurrent"] == ("O(n d^2)", "O(n)", "O(n)")
    assert ORDERS["convolutional"][0] == "O(k n d^2)"
    assert ORDERS["dilated_convolutional"][2] == "O(log_k n)"
    assert ORDERS["restricted_self_attention"] == ("O(r n d)", "O(1)", "O(n / r)")


@pytest.mark.parametrize(
    "kind, operations",
    [
        ("self_attention", 100 * 100 * 8),
        ("recurrent", 100 * 8 * 8),
        ("convolutional", 5 * 100 * 8 * 8),
        ("dilated_convolutional", 5 * 100 * 8 * 8),
        ("separable_convolutional", 5 * 100 * 8 + 100 * 8 * 8),
        ("restricted_self_attention", 7 * 100 * 8),
    ],
)
def test_operations(kind, operations):
    found = layer_complexity(kind, 100, 8, kernel_size=5, window=7)
    assert found.operations == operations
    assert found.sequential_operations == (100 if kind == "recurrent" else 1)
    assert found.orders == ORDERS[kind]


def test_a_separable_convolution_with_k_n_costs_as_attention_and_a_feed_forward():
    """Section 4: with k = n it equals self-attention plus the point-wise layer."""
    separable = layer_complexity("separable_convolutional", 101, 8, kernel_size=101)
    attention = layer_complexity("self_attention", 101, 8)
    assert separable.operations == attention.operations + 101 * 8 * 8


def layers_until_all_are_connected(n, reaches, backward=False):
    """Walks: which positions have reached which, one layer after the other."""
    reached, positions = np.eye(n, dtype=bool), np.arange(n)
    wanted = np.tri(n, dtype=bool) if backward else np.ones((n, n), bool)
    for count, offsets in enumerate(reaches, start=1):
        seen = np.isin(positions[:, None] - positions[None, :], offsets)
        reached = (seen.astype(int) @ reached.astype(int)) > 0
        if reached[wanted].all():
            return count


def under_the_kernel(k):
    return list(range(-(k // 2), k // 2 + 1))


def looking_back(k, layer):
    return [k**layer * offset for offset in range(k)]


@pytest.mark.parametrize("n", [1, 2, 3, 9, 10, 41])
@pytest.mark.parametrize("k", [3, 5, 7])
def test_paths_by_walking(n, k):
    stacks = {
        "self_attention": [list(range(-n, n + 1))],
        "convolutional": [under_the_kernel(k)] * n,
        "separable_convolutional": [under_the_kernel(k)] * n,
        "dilated_convolutional": [looking_back(k, layer) for layer in range(9)],
        "restricted_self_attention": [list(range(-k, k + 1))] * n,
        "recurrent": [[-1, 0, 1]] * n,
    }
    assert set(stacks) == set(KINDS)
    for kind, stack in stacks.items():
        found = layer_complexity(kind, n, 8, kernel_size=k, window=k)
        backward = kind == "dilated_convolutional"
        walked = layers_until_all_are_connected(n, stack, backward)
        assert found.path_length == walked, kind


def test_exponents():
    lengths = [64, 128, 256, 512]
    assert fit_exponent(lengths, [3 * n**1.5 for n in lengths]) == pytest.approx(1.5)
    noisy = [n**2 * factor for n, factor in zip(lengths, (1, 1.1, 0.9, 1), strict=True)]
    assert fit_exponent(lengths, noisy) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    "lengths, values", [([1], [1]), ([2, 2], [1, 1]), ([1, 2], [1]), ([1, 2], [0, 1])]
)
def test_no_exponent(lengths, values):
    with pytest.raises(ValueError, match="two or more different lengths.*Received"):
        fit_exponent(lengths, values)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_kernel_has_a_centre_and_a_neighbour(size):
    with pytest.raises(ValueError, match="odd and at least 3.*Received"):
        layer_complexity("convolutional", 4, 4, kernel_size=size)


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0)])
def test_sizes_are_checked(sizes):
    with pytest.raises(ValueError, match="Received"):
        layer_complexity("recurrent", *sizes)
    with pytest.raises(ValueError, match="kind.*Received"):
        layer_complexity("magic", 4, 4)
