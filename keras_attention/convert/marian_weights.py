"""The weights of a Hugging Face Marian model in a `Transformer` of equal logits."""

import math

import keras
import numpy as np

from keras_attention import ops
from keras_attention.convert.tensor_files import Tensors
from keras_attention.models.build import build_transformer
from keras_attention.vocabulary import PAD_ID

POSITIONS = (
    "model.encoder.embed_positions.weight",
    "model.decoder.embed_positions.weight",
)
SHARED, OUTPUT = "model.shared.weight", "lm_head.weight"
SOURCE = "model.encoder.embed_tokens.weight"
TARGET = "model.decoder.embed_tokens.weight"
OUTPUT_BIAS = "final_logits_bias"
# What nothing that can be written outweighs, and what float16 can hold.
NEVER = -1e4
PROJECTIONS = {
    "query": "q_proj",
    "key": "k_proj",
    "value": "v_proj",
    "output": "out_proj",
}


def build_marian(config, tensors, rows, tied, scaled, dtype_policy=None):
    """Builds a `Transformer` with the weights of a Marian model.

    Hugging Face writes the paper's sinusoids all sines first, then all cosines, which
    is an order of channels and not another formula: so the channels of the model are
    put into the paper's order. A file that holds its table of positions may have
    tensor2tensor's frequencies instead; then the channels stay.

    Args:
        config: `TransformerConfig` without `position_layout`, which is found here.
        tensors: dictionary, name -> float32 array, of Hugging Face.
        rows: V integers, the row of their embeddings for each of our ids.
        tied: bool, whether both embeddings and the output layer are one matrix.
        scaled: bool, whether embeddings are multiplied by sqrt(D).
        dtype_policy: as for `build_transformer`.

    Returns:
        `Transformer`.

    Raises:
        ValueError: a tensor is missing, too much, or of another shape.
    """
    tensors = Tensors(tensors)
    layout, channels = _positions(tensors, config.model_dim)
    config = config.replace(
        position_layout=layout, share_embeddings=tied and scaled, output_bias=True
    )
    model = build_transformer(config, dtype_policy)
    _set_embeddings(model, tensors, rows, channels, tied, scaled)
    parts = model._parts
    for number, block in enumerate(parts.encoder_blocks):
        _set_block(block, tensors, f"model.encoder.layers.{number}.", channels)
    for number, block in enumerate(parts.decoder_blocks):
        name = f"model.decoder.layers.{number}."
        _set_block(block, tensors, name, channels)
        _set_attention(
            block.memory_attention, tensors, f"{name}encoder_attn.", channels
        )
        norm = f"{name}encoder_attn_layer_norm."
        _set_norm(block.memory_attention_norm, tensors, norm, channels)
    tensors.check_empty()
    return model


def _positions(tensors, model_dim):
    """Returns the layout of the sinusoids, and their channel for each of ours."""
    half = (model_dim + 1) // 2  # sines
    channels = [i // 2 + half * (i % 2) for i in range(model_dim)]
    tables = [table for name in POSITIONS if (table := tensors.drop(name)) is not None]
    layouts = {
        "interleaved": channels,  # what Hugging Face computes, put into our order
        "concatenated": list(range(model_dim)),
    }
    for layout, order in layouts.items():
        if all(_is_table(table, layout, order) for table in tables):
            return layout, order
    raise ValueError(
        "The table of positions must hold sinusoids. Received: "
        f"{', '.join(POSITIONS)} with other values. Such models cannot be converted."
    )


def _is_table(table, layout, order):
    if table.ndim != 2 or table.shape[1] != len(order):
        return False
    ours = ops.sinusoids(*table.shape, layout=layout)
    return np.allclose(table[:, order], keras.ops.convert_to_numpy(ours), atol=1e-4)


def _set_embeddings(model, tensors, rows, channels, tied, scaled):
    """Fills in the matrices and the bias of the logits."""
    parts, size = model._parts, (max(rows) + 1, len(channels))
    names = (SHARED, SOURCE, TARGET, OUTPUT)
    there = {n: a for n in names if (a := tensors.drop(n)) is not None}

    def first(*names):
        name = next((name for name in names if name in there), names[0])
        return tensors.check(name, there.get(name), size)[np.ix_(rows, channels)]

    if tied:  # one matrix; a file may hold copies of it
        read = [first(SHARED, TARGET, SOURCE, OUTPUT)] * 2
        written = read[0]
    else:
        read = [first(SOURCE, SHARED), first(TARGET, SHARED)]
        written = first(OUTPUT)
    scale = 1.0 if scaled else math.sqrt(len(channels))  # this package always scales
    parts.source_embedding.embeddings.assign(read[0] / scale)
    parts.target_embedding.embeddings.assign(read[1] / scale)
    parts.output_embedding.embeddings.assign(written)
    bias = tensors.take(OUTPUT_BIAS, (1, size[0]))[0, rows]
    bias[PAD_ID] = NEVER  # START is their padding; PAD is ours alone
    parts.output_embedding.output_bias.assign(bias)


def _set_block(block, tensors, name, channels):
    """Fills in what blocks of encoder and decoder have in common."""
    attention = f"{name}self_attn."
    _set_attention(block.self_attention, tensors, attention, channels)
    norm = f"{name}self_attn_layer_norm."
    _set_norm(block.self_attention_norm, tensors, norm, channels)
    network, inner = block.feed_forward, block.feed_forward.feed_forward_dim
    kernel, bias = _linear(tensors, f"{name}fc1.", (inner, len(channels)))
    network.inner_kernel.assign(kernel[channels])
    network.inner_bias.assign(bias)
    kernel, bias = _linear(tensors, f"{name}fc2.", (len(channels), inner))
    network.output_kernel.assign(kernel[:, channels])
    network.output_bias.assign(bias[channels])
    _set_norm(block.feed_forward_norm, tensors, f"{name}final_layer_norm.", channels)


def _set_attention(attention, tensors, name, channels):
    size = (len(channels), len(channels))
    for ours, theirs in PROJECTIONS.items():
        kernel, bias = _linear(tensors, f"{name}{theirs}.", size)
        if ours == "output":
            kernel, bias = kernel[:, channels], bias[channels]
        else:
            kernel = kernel[channels]
        getattr(attention, f"{ours}_kernel").assign(kernel)
        getattr(attention, f"{ours}_bias").assign(bias)


def _set_norm(add_and_norm, tensors, name, channels):
    norm, size = add_and_norm.norm, (len(channels),)
    norm.gamma.assign(tensors.take(f"{name}weight", size)[channels])
    norm.beta.assign(tensors.take(f"{name}bias", size)[channels])


def _linear(tensors, name, size):
    """Returns a kernel (input, output) and its bias; PyTorch has (output, input)."""
    return tensors.take(f"{name}weight", size).T, tensors.take(f"{name}bias", size[:1])
