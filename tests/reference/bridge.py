"""Between the weights of the package and the symbols of the oracle.

The package keeps the heads of one projection side by side, kernel (d_model, h * d_k);
the oracle keeps the head axis first, (h, d_model, d_k).
"""

import numpy as np

from tests.reference import transformer


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


def block_parts(block):
    """Pairs of an oracle key and the variables of one part of a block."""
    parts = [
        ("self", attention_variables(block.self_attention)),
        ("norm_self", norm_variables(block.self_attention_norm)),
        ("ffn", feed_forward_variables(block.feed_forward)),
        ("norm_ffn", norm_variables(block.feed_forward_norm)),
    ]
    if hasattr(block, "memory_attention"):
        parts.append(("cross", attention_variables(block.memory_attention)))
        parts.append(("norm_cross", norm_variables(block.memory_attention_norm)))
    return parts


def values_by_id(variables, values=None):
    """Arrays (the variables' own, or gradients of them) by the variable's identity."""
    values = variables if values is None else values
    return {
        id(v): np.asarray(a, dtype="float64")
        for v, a in zip(variables, values, strict=True)
    }


def to_symbols(block, arrays):
    """Arrays of `values_by_id` -> the oracle's dictionary of one block."""
    heads = block.self_attention.num_heads
    result = {}
    for key, pairs in block_parts(block):
        result[key] = {}
        for symbol, variable in pairs:
            array = arrays[id(variable)]
            if key in ("self", "cross") and symbol[-1] != "O":
                array = _split(array, heads)
            result[key][symbol] = array
    return result


def block_weights(block):
    """Weights of an `EncoderBlock` or `DecoderBlock` for the oracle."""
    return to_symbols(block, values_by_id(block.trainable_variables))


def set_block(block, weights):
    """Gives a built block the weights of the oracle."""
    set_attention(block.self_attention, weights["self"])
    if "cross" in weights:
        set_attention(block.memory_attention, weights["cross"])
    for key, pairs in block_parts(block):
        if key not in ("self", "cross"):
            assign(pairs, weights[key])


def oracle_of(model, arrays=None):
    """The oracle with the weights of a `Transformer` model, or with other arrays."""
    parts, config = model._parts, model.transformer_config
    if arrays is None:
        arrays = values_by_id(model.trainable_variables)
    weights = {
        "source_embedding": arrays[id(parts.source_embedding.embeddings)],
        "target_embedding": arrays[id(parts.target_embedding.embeddings)],
        "output": arrays[id(parts.output_embedding.embeddings)],
        "encoder": [to_symbols(block, arrays) for block in parts.encoder_blocks],
        "decoder": [to_symbols(block, arrays) for block in parts.decoder_blocks],
    }
    if config.output_bias:
        weights["output_bias"] = arrays[id(parts.output_embedding.output_bias)]
    if config.positions == "learned":
        weights["source_positions"] = arrays[id(parts.source_positions.embeddings)]
        weights["target_positions"] = arrays[id(parts.target_positions.embeddings)]
    for name in ("encoder_norm", "decoder_norm"):
        norm = getattr(parts, name)
        if norm is not None:
            weights[name] = {"g": arrays[id(norm.gamma)], "b": arrays[id(norm.beta)]}
    return transformer.Transformer(
        weights,
        config.norm_position,
        config.layer_norm_epsilon,
        activation=config.activation,
        layout=config.position_layout,
    )
