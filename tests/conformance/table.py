"""Every public class that Keras serialises, with all arguments off their defaults."""

import dataclasses

import numpy as np

import keras_attention as ka
from keras_attention.layers import LayerNorm
from keras_attention.objectives import Perplexity, TokenMean


def states(length, width=8, rows=2, seed=0):
    random = np.random.default_rng(seed + length)
    return random.normal(size=(rows, length, width)).astype("float32")


def ids(length, rows=2, size=20, seed=0):
    values = np.random.default_rng(seed).integers(1, size, (rows, length))
    values[0, -1] = 0
    return values.astype("int32")


@dataclasses.dataclass(frozen=True)
class Case:
    """One class.

    Attributes:
        cls: the class.
        arguments: constructor arguments, each different from its default.
        inputs: call argument -> array; the order is that of `call`.
        output: shape of the output for these inputs.
        mask: the call argument whose mask the output carries, or None.
        call: further keyword arguments of the call.
        variant: what this case is for, where another has arguments that it excludes.
    """

    cls: type
    arguments: dict
    inputs: dict = dataclasses.field(default_factory=dict)
    output: tuple = ()
    mask: str | None = None
    call: dict = dataclasses.field(default_factory=dict)
    variant: str = ""

    @property
    def id(self):
        return self.cls.__name__ + self.variant


BLOCK = dict(
    num_heads=2,
    key_dim=3,
    feed_forward_dim=12,
    value_dim=5,
    dropout_rate=0.3,
    attention_dropout_rate=0.2,
    activation="gelu",
    norm_position="pre",
    layer_norm_epsilon=1e-3,
    use_bias=True,
    attention_window=2,
)
CHUNKED_BLOCK = {
    name: value
    for name, value in (BLOCK | {"attention_chunk_length": 2}).items()
    if name not in ("attention_window", "attention_dropout_rate")
}

LAYERS = [
    Case(
        ka.MultiHeadAttention,
        dict(
            num_heads=2,
            key_dim=3,
            value_dim=5,
            dropout_rate=0.3,
            window=2,
            use_bias=True,
        ),
        dict(query=states(4), value=states(6)),
        (2, 4, 8),
        mask="query",
        call=dict(use_causal_mask=True),
    ),
    Case(
        ka.MultiHeadAttention,
        dict(num_heads=2, key_dim=3, value_dim=5, use_bias=True, chunk_length=2),
        dict(query=states(4), value=states(6)),
        (2, 4, 8),
        mask="query",
        call=dict(use_causal_mask=True),
        variant="InChunks",
    ),
    Case(
        ka.PositionwiseFeedForward,
        dict(feed_forward_dim=12, activation="silu", dropout_rate=0.3),
        dict(inputs=states(4)),
        (2, 4, 8),
        mask="inputs",
    ),
    Case(
        ka.AddAndNorm,
        dict(dropout_rate=0.3, layer_norm_epsilon=1e-3, norm_position="pre"),
        dict(inputs=states(4), sublayer_output=states(4, seed=1)),
        (2, 4, 8),
        mask="inputs",
    ),
    Case(LayerNorm, dict(epsilon=1e-3), dict(inputs=states(4)), (2, 4, 8), "inputs"),
    Case(
        ka.TokenEmbedding,
        dict(vocabulary_size=20, model_dim=8, use_bias=True),
        dict(inputs=ids(4)),
        (2, 4, 8),
        mask="inputs",
    ),
    Case(
        ka.SinusoidalPositionalEncoding,
        dict(layout="concatenated"),
        dict(inputs=states(4)),
        (2, 4, 8),
        mask="inputs",
        call=dict(start_index=3),
    ),
    Case(
        ka.LearnedPositionalEmbedding,
        dict(max_length=9),
        dict(inputs=states(4)),
        (2, 4, 8),
        mask="inputs",
        call=dict(start_index=3),
    ),
    Case(ka.EncoderBlock, BLOCK, dict(inputs=states(4)), (2, 4, 8), mask="inputs"),
    Case(
        ka.DecoderBlock,
        BLOCK,
        dict(inputs=states(4), memory=states(6)),
        (2, 4, 8),
        mask="inputs",
    ),
    Case(
        ka.EncoderBlock,
        CHUNKED_BLOCK,
        dict(inputs=states(4)),
        (2, 4, 8),
        mask="inputs",
        variant="InChunks",
    ),
    Case(
        ka.DecoderBlock,
        CHUNKED_BLOCK,
        dict(inputs=states(4), memory=states(6)),
        (2, 4, 8),
        mask="inputs",
        variant="InChunks",
    ),
]

MODELS = [
    Case(
        ka.Transformer,
        dict(
            vocabulary_size=20,
            num_layers=2,
            model_dim=8,
            num_heads=2,
            key_dim=3,
            value_dim=5,
            feed_forward_dim=12,
            dropout_rate=0.3,
            attention_dropout_rate=0.2,
            attention_window=2,
            activation="gelu",
            norm_position="pre",
            positions="learned",
            position_layout="concatenated",
            max_length=9,
            layer_norm_epsilon=1e-3,
            use_bias=True,
            share_embeddings=False,
            output_bias=True,
        ),
        dict(source_ids=ids(6), target_ids=ids(4, seed=1)),
        (2, 4, 20),
    ),
    Case(
        ka.Transformer,
        dict(
            vocabulary_size=20,
            num_layers=1,
            model_dim=8,
            num_heads=2,
            feed_forward_dim=12,
            attention_chunk_length=2,
        ),
        dict(source_ids=ids(6), target_ids=ids(4, seed=1)),
        (2, 4, 20),
        variant="InChunks",
    ),
]

# These are no layers: their inputs go to `__call__` or `update_state`.
OBJECTIVES = [
    Case(
        ka.LabelSmoothedCrossEntropy,
        dict(label_smoothing=0.3, name="x1"),
        dict(y_true=ids(4), y_pred=states(4, width=20)),
    ),
    Case(
        ka.NoamSchedule,
        dict(model_dim=8, warmup_steps=3, scale=0.5),
        dict(step=np.int64(7)),
    ),
    Case(
        TokenMean,
        dict(name="x1", dtype="float64"),
        dict(total=np.float32(6), tokens=np.float32(4)),
    ),
    Case(
        Perplexity,
        dict(name="x1", dtype="float64"),
        dict(total=np.float32(6), tokens=np.float32(4)),
    ),
]

CASES = [*LAYERS, *MODELS, *OBJECTIVES]
