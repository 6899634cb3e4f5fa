"""Random calls of embeddings, positions and blocks; see `layer_cases`."""

import numpy as np

from tests.fuzz import oracle
from tests.fuzz.layer_cases import (
    ACTIVATIONS,
    Case,
    Draw,
    _built,
    add_and_norm,
    attention,
    feed_forward,
    layer_norm,
)
from tests.reference import bridge


def _embedding(draw):
    import keras_attention as ka

    size, width = draw.size("V", 5, 300, 3_000), draw.size("D", 1, 5, 8)
    bias = draw.choice("bias", False, True)
    return ka.TokenEmbedding(size, width, bias, dtype=draw.policy)


def token_embedding(seed):
    draw = Draw("token_embedding", seed)
    layer = _embedding(draw)
    shape = draw.size("B", 1, 3), draw.size("L", 1, 7)
    kind = draw.choice("ids", "int32", "int64", "uint16")
    ids = draw.numbers.integers(0, layer.vocabulary_size, shape).astype(kind)

    def expected(ids):
        return [oracle.embed(ids, np.asarray(layer.embeddings, "float64"))]

    return _built(draw, Case(draw.told, layer, [ids], lambda x: [layer(x)], expected))


def token_logits(seed):
    draw = Draw("token_logits", seed)
    layer = _embedding(draw)
    shape = draw.choice("shape", (1,), (3, 4), (2, 1, 5))
    states = draw.states(*shape, layer.model_dim)
    layer(np.zeros((1, 1), "int32"))

    def expected(x):
        bias = 0.0 if layer.output_bias is None else np.asarray(layer.output_bias)
        return [oracle.logits(x, np.asarray(layer.embeddings, "float64"), bias)]

    call = lambda x: [layer(x, reverse=True)]  # noqa: E731
    return _built(draw, Case(draw.told, layer, [states], call, expected))


def sinusoidal_positions(seed):
    import keras_attention as ka

    draw = Draw("sinusoidal_positions", seed)
    layout = draw.choice("layout", "interleaved", "concatenated")
    start = draw.choice("start", 0, 0, 1, 300, 4_000)
    layer = ka.SinusoidalPositionalEncoding(layout, dtype=draw.policy)
    shape = draw.size("B", 1, 3), draw.size("L", 1, 7, 300), draw.size("D", 1, 2, 5, 8)
    call = lambda x: [layer(x, start_index=start)]  # noqa: E731
    expected = lambda x: [oracle.add_sinusoids(x, start, layout)]  # noqa: E731
    # Angles are float32 products of positions: sin(4 000) is good to four digits.
    slack = 2e-7 * (start + shape[1])
    inputs = [draw.states(*shape)]
    return Case(draw.told, layer, inputs, call, expected, slack=slack)


def learned_positions(seed):
    import keras_attention as ka

    draw = Draw("learned_positions", seed)
    length, start = draw.size("L", 1, 7), draw.choice("start", 0, 0, 3)
    most = length + start + draw.size("more", 0, 0, 9)
    layer = ka.LearnedPositionalEmbedding(most, dtype=draw.policy)
    x = draw.states(draw.size("B", 1, 3), length, draw.size("D", 1, 8))

    def expected(x):
        table = np.asarray(layer.embeddings, "float64")
        return [oracle.add_learned(x, start, table)]

    call = lambda x: [layer(x, start_index=start)]  # noqa: E731
    return _built(draw, Case(draw.told, layer, [x], call, expected))


def _block(draw, cls):
    way = draw.choice("way", "whole", "whole", "window", "chunks")
    options = {"attention_window": None, "attention_chunk_length": None}
    if way == "window":
        options["attention_window"] = draw.size("r", 1, 3, 99)
    if way == "chunks":
        options["attention_chunk_length"] = draw.size("C", 1, 4, 99)
    layer = cls(
        draw.size("H", 1, 2),
        draw.size("K", 2, 3),
        draw.size("F", 4, 16),
        draw.size("Kv", None, 3, 5),
        activation=draw.choice("activation", *ACTIVATIONS),
        norm_position=draw.choice("position", "post", "pre"),
        layer_norm_epsilon=draw.choice("epsilon", 1e-6, 1e-3),
        use_bias=draw.choice("bias", False, True),
        dtype=draw.policy,
        **options,
    )
    told = draw.told
    oracle_options = (told["position"], told["epsilon"], told["activation"])
    return layer, options["attention_window"], oracle_options


def encoder_block(seed):
    import keras_attention as ka

    draw = Draw("encoder_block", seed)
    layer, window, options = _block(draw, ka.EncoderBlock)
    rows, length = draw.size("B", 1, 3), draw.size("L", 1, 5, 9, 40)
    x, mask = draw.states(rows, length, 8), draw.mask("mask", rows, length)
    shape = (rows, 1, length, length)
    seen = oracle.may_attend(shape, value_mask=mask, window=window)[:, 0]

    def expected(x):
        return [oracle.encoder_block(x, bridge.block_weights(layer), seen, *options)]

    call = lambda x: [layer(x, mask=mask)]  # noqa: E731
    return _built(draw, Case(draw.told, layer, [x], call, expected))


def decoder_block(seed):
    import keras_attention as ka

    draw = Draw("decoder_block", seed)
    layer, window, options = _block(draw, ka.DecoderBlock)
    rows = draw.size("B", 1, 3)
    length, memory_length = draw.size("T", 1, 5, 40), draw.size("S", 1, 6, 33)
    inputs = [draw.states(rows, length, 8), draw.states(rows, memory_length, 8)]
    mask = draw.mask("mask", rows, length)
    memory_mask = draw.mask("memory mask", rows, memory_length)
    shape = (rows, 1, length, length)
    seen = oracle.may_attend(shape, mask, causal=True, window=window)[:, 0]
    shape = (rows, 1, length, memory_length)
    memory_seen = oracle.may_attend(shape, memory_mask)[:, 0]

    def call(x, memory):
        return [layer(x, memory, inputs_mask=mask, memory_mask=memory_mask)]

    def expected(x, memory):
        weights = bridge.block_weights(layer)
        return [oracle.decoder_block(x, memory, weights, seen, memory_seen, *options)]

    return _built(draw, Case(draw.told, layer, inputs, call, expected))


CASES = {
    "MultiHeadAttention": (attention,),
    "PositionwiseFeedForward": (feed_forward,),
    "AddAndNorm": (add_and_norm,),
    "LayerNorm": (layer_norm,),
    "TokenEmbedding": (token_embedding, token_logits),
    "SinusoidalPositionalEncoding": (sinusoidal_positions,),
    "LearnedPositionalEmbedding": (learned_positions,),
    "EncoderBlock": (encoder_block,),
    "DecoderBlock": (decoder_block,),
}
