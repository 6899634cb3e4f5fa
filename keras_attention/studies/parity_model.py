"""What the paper says of the model, sections 3 and 4."""

import math

import numpy as np

from keras_attention.evaluation.complexity import layer_complexity
from keras_attention.ops.attention import MASKED_SCORE
from keras_attention.ops.positions import sinusoids
from keras_attention.studies.parity import Statement

LAYERS = "keras_attention.layers"
TESTS = "tests/unit/layers"


def _heads(c):
    key_dim, value_dim = c.transformer.head_dims()
    return f"h = {c.transformer.num_heads}, d_k = {key_dim}, d_v = {value_dim}"


def _projections(c):
    biases = "with" if c.transformer.use_bias else "without"
    return f"four projections {biases} biases"


def _norm(c):
    if c.transformer.norm_position == "post":
        return "LayerNorm(x + Sublayer(x))"
    return "x + Sublayer(LayerNorm(x)), and a norm behind the last block"


def _scale(c):
    key_dim, _ = c.transformer.head_dims()
    return f"softmax(QK^T * {key_dim**-0.5:.4f})V, the softmax in float32"


def _self_attention(c):
    window = c.transformer.attention_window
    return "no restriction" if window is None else f"|i - j| <= {window} only"


def _sharing(c):
    one = "one matrix" if c.transformer.share_embeddings else "three matrices"
    return one + (", with a bias for each logit" if c.transformer.output_bias else "")


def _embedding_scale(c):
    return f"times {math.sqrt(c.transformer.model_dim):.4f}"


def _positions(c):
    if c.transformer.positions == "learned":
        return f"a learned table of {c.transformer.max_length} positions"
    layout = c.transformer.position_layout
    row = np.asarray(sinusoids(1, c.transformer.model_dim, 1, layout))[0]
    values = ", ".join(f"{value:.4f}" for value in row[:3])
    return f"sinusoids, {layout}: PE(1) = {values}, ..."


def _attention_cost(c):
    d, window = c.transformer.model_dim, c.transformer.attention_window
    if window is None:
        found = layer_complexity("self_attention", 100, d)
    else:
        found = layer_complexity("restricted_self_attention", 100, d, window=window)
    per_layer, _, path = found.orders
    return f"{per_layer}, path {path}; n = 100: {found.operations:,} and " + (
        f"{found.path_length}"
    )


STATEMENTS = (
    Statement(
        "3.1",
        "The encoder is a stack of N = 6 identical layers, the decoder too.",
        lambda c: f"{c.transformer.num_layers} blocks in each stack",
        "keras_attention.models.parts:TransformerParts",
        "tests/unit/models/test_build.py::test_every_preset_has_as_many_parameters",
        ("transformer.num_layers",),
    ),
    Statement(
        "3.1",
        "Around each sub-layer a residual connection, then layer normalisation: "
        "LayerNorm(x + Sublayer(x)).",
        _norm,
        f"{LAYERS}.add_and_norm:AddAndNorm",
        f"{TESTS}/test_add_and_norm.py::test_post_norm_equals_the_oracle",
        ("transformer.norm_position",),
    ),
    Statement(
        "3.1",
        "All sub-layers and the embeddings produce outputs of d_model = 512.",
        lambda c: f"d_model = {c.transformer.model_dim}",
        "keras_attention.models.transformer:Transformer",
        "tests/unit/models/test_transformer.py::test_equals_the_oracle",
        ("transformer.model_dim",),
    ),
    Statement(
        "3.1",
        "A third sub-layer of the decoder attends to the encoder's output.",
        lambda c: "queries of the decoder; keys and values of the memory",
        f"{LAYERS}.decoder_block:DecoderBlock",
        f"{TESTS}/test_blocks.py::test_decoder_block_equals_the_oracle",
    ),
    Statement(
        "3.1",
        "Masking and outputs shifted by one: position i depends on those before i.",
        lambda c: "target_ids = START + pieces, label_ids = pieces + END; causal mask",
        "keras_attention.ops.masks:causal_mask",
        "tests/unit/models/test_transformer.py::test_the_future_does_not_reach_the_past",
    ),
    Statement(
        "3.2.1",
        "Attention(Q, K, V) = softmax(QK^T / sqrt(d_k))V.",
        _scale,
        "keras_attention.ops.attention:scaled_dot_product_attention",
        "tests/unit/ops/test_attention.py::test_equals_the_oracle",
    ),
    Statement(
        "3.2.2",
        "h = 8 heads, d_k = d_v = d_model / h = 64.",
        _heads,
        f"{LAYERS}.multi_head_attention:MultiHeadAttention",
        f"{TESTS}/test_multi_head_attention.py::test_equals_the_oracle",
        ("transformer.num_heads", "transformer.key_dim", "transformer.value_dim"),
    ),
    Statement(
        "3.2.2",
        "MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with head_i = "
        "Attention(Q W_i^Q, K W_i^K, V W_i^V); no biases are written.",
        _projections,
        f"{LAYERS}.multi_head_attention:MultiHeadAttention",
        f"{TESTS}/test_multi_head_attention.py::"
        "test_parameters_without_and_with_biases",
        ("transformer.use_bias",),
    ),
    Statement(
        "3.2.3",
        "In self-attention every position may attend to all positions of the layer "
        "below (in the decoder: up to its own).",
        _self_attention,
        "keras_attention.ops.windowed_attention:windowed_attention",
        "tests/unit/models/test_transformer.py::"
        "test_every_target_position_sees_every_real_source_token",
        ("transformer.attention_window",),
    ),
    Statement(
        "3.2.3",
        "Illegal connections are masked out, set to -infinity before the softmax.",
        lambda c: f"{MASKED_SCORE:.0e} is added, finite in float32; weights exactly 0",
        "keras_attention.ops.attention:masked_softmax",
        "tests/unit/ops/test_attention.py::test_masked_entries_are_exactly_zero",
    ),
    Statement(
        "3.3",
        "FFN(x) = max(0, x W_1 + b_1) W_2 + b_2.",
        lambda c: f"{c.transformer.activation}, two biases",
        f"{LAYERS}.positionwise_feed_forward:PositionwiseFeedForward",
        f"{TESTS}/test_positionwise_feed_forward.py::test_equals_the_oracle",
        ("transformer.activation",),
    ),
    Statement(
        "3.3",
        "The inner layer has d_ff = 2048.",
        lambda c: f"d_ff = {c.transformer.feed_forward_dim}",
        f"{LAYERS}.positionwise_feed_forward:PositionwiseFeedForward",
        f"{TESTS}/test_positionwise_feed_forward.py::test_parameters",
        ("transformer.feed_forward_dim",),
    ),
    Statement(
        "3.4",
        "One weight matrix for both embeddings and the pre-softmax transformation.",
        _sharing,
        f"{LAYERS}.token_embedding:TokenEmbedding",
        "tests/unit/models/test_transformer.py::test_one_matrix_or_three",
        ("transformer.share_embeddings", "transformer.output_bias"),
    ),
    Statement(
        "3.4",
        "In the embedding layers those weights are multiplied by sqrt(d_model).",
        _embedding_scale,
        f"{LAYERS}.token_embedding:TokenEmbedding",
        f"{TESTS}/test_token_embedding.py::"
        "test_embeddings_are_rows_times_the_root_of_the_width",
    ),
    Statement(
        "3.5",
        "PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i+1) = cos of the "
        "same, added to the embeddings; a learned table does as well (Table 3, E).",
        _positions,
        "keras_attention.ops.positions:sinusoids",
        "tests/unit/ops/test_positions.py::test_published_values_of_the_paper_formula",
        ("transformer.positions", "transformer.position_layout"),
    ),
    Statement(
        "3.5",
        "PE(pos + k) is a linear function of PE(pos).",
        lambda c: "holds" if c.transformer.positions == "sinusoidal" else "learned",
        "keras_attention.ops.positions:sinusoids",
        "tests/unit/ops/test_positions.py::test_a_shift_is_a_linear_function",
        ("transformer.positions",),
    ),
    Statement(
        "4",
        "Table 1: self-attention costs O(n^2 d) a layer, its longest path is O(1); "
        "restricted to a neighbourhood r, O(r n d) and O(n / r).",
        _attention_cost,
        "keras_attention.evaluation.complexity:layer_complexity",
        "tests/unit/evaluation/test_complexity.py::test_paths_by_walking",
        ("transformer.attention_window",),
    ),
)
