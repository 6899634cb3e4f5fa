"""Between the weights of the package and the symbols of `transformer.py`.

The package keeps the heads of one projection side by side, kernel (d_model, h * d_k);
the oracle keeps the head axis first, (h, d_model, d_k).
"""

import numpy as np


def _value(variable):
    return np.asarray(variable, dtype="float64")


def _split(array, heads):
    """(..., h * k) -> (h, ..., k)."""
    return np.moveaxis(array.reshape(*array.shape[:-1], heads, -1), -2, 0)


def _join(array):
    """(h, ..., k) -> (..., h * k)."""
    moved = np.moveaxis(np.asarray(array), 0, -2)
    return moved.reshape(*moved.shape[:-2], -1)


def attention_variables(layer):
    """Pairs of a symbol and the variable that holds it."""
    names = {"Q": "query", "K": "key", "V": "value", "O": "output"}
    pairs = []
    for letter, name in names.items():
        pairs.append((f"W_{letter}", getattr(layer, f"{name}_kernel")))
        if layer.use_bias:
            pairs.append((f"b_{letter}", getattr(layer, f"{name}_bias")))
    return pairs


def attention_weights(layer):
    """Weights of a `MultiHeadAttention` for the oracle."""
    return {
        symbol: _value(variable)
        if symbol.endswith("O")
        else _split(_value(variable), layer.num_heads)
        for symbol, variable in attention_variables(layer)
    }


def set_attention(layer, weights):
    """Gives a built `MultiHeadAttention` the weights of the oracle."""
    for symbol, variable in attention_variables(layer):
        array = weights[symbol]
        variable.assign(array if symbol.endswith("O") else _join(array))


def feed_forward_variables(layer):
    """Pairs of a symbol and the variable that holds it."""
    return [
        ("W_1", layer.inner_kernel),
        ("b_1", layer.inner_bias),
        ("W_2", layer.output_kernel),
        ("b_2", layer.output_bias),
    ]


def norm_variables(add_and_norm):
    """Pairs of a symbol and the variable that holds it."""
    return [("g", add_and_norm.norm.gamma), ("b", add_and_norm.norm.beta)]


def weights_of(pairs):
    """Arrays in place of variables."""
    return {symbol: _value(variable) for symbol, variable in pairs}


def assign(pairs, weights):
    """Arrays into variables."""
    for symbol, variable in pairs:
        variable.assign(weights[symbol])
