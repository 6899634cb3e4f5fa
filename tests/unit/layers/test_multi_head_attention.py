"""Multi-head attention against the oracle, and what must hold for any weights."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import keras_attention as ka
from tests.reference import bridge
from tests.reference import transformer as oracle

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(query_dim=6, memory_dim=6, **arguments):
    layer = ka.MultiHeadAttention(**{"num_heads": 3, "key_dim": 4, **arguments})
    layer(normal(1, 2, query_dim), normal(1, 2, memory_dim))
    for i, variable in enumerate(layer.variables):
        if "bias" in variable.path:
            variable.assign(normal(*variable.shape, seed=i))
    return layer


def mask_of(*lengths, size):
    return np.arange(size) < np.array(lengths)[:, None]


@settings(max_examples=20, deadline=None)
@given(
    heads=st.integers(1, 4),
    key_dim=st.integers(1, 5),
    value_dim=st.one_of(st.none(), st.integers(1, 5)),
    use_bias=st.booleans(),
    causal=st.booleans(),
    seed=st.integers(0, 99),
)
def test_equals_the_oracle(heads, key_dim, value_dim, use_bias, causal, seed):
    layer = make(
        num_heads=heads, key_dim=key_dim, value_dim=value_dim, use_bias=use_bias
    )
    query, memory = normal(2, 5, 6, seed=seed), normal(2, 5, 6, seed=seed + 1)
    memory_mask = mask_of(5, 2, size=5)
    output, weights = layer(
        query,
        memory,
        value_mask=memory_mask,
        use_causal_mask=causal,
        return_attention_weights=True,
    )
    mask = memory_mask[:, None]
    if causal:
        mask = mask & oracle.causal_mask(5)
    expected, maps = oracle.multi_head_attention(
        query, memory, bridge.attention_weights(layer), mask
    )
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(weights, maps, atol=1e-5)
    assert weights.shape == (2, heads, 5, 5)


def test_key_given_apart_from_the_value():
    layer = make()
    query, value, key = (normal(2, n, 6, seed=n) for n in (3, 4, 4))
    output, weights = layer(query, value, key, return_attention_weights=True)
    w = bridge.attention_weights(layer)
    heads = []
    for i in range(3):
        Q, K, V = (
            x @ w[name][i] for x, name in ((query, "W_Q"), (key, "W_K"), (value, "W_V"))
        )
        heads.append(oracle.attention(Q, K, V)[0])
    np.testing.assert_allclose(output, np.concatenate(heads, -1) @ w["W_O"], atol=1e-5)
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-6)


def test_parameters_without_and_with_biases():
    # The paper writes W_Q, W_K, W_V, W_O and no bias (3.2.2).
    plain = make(num_heads=3, key_dim=4, value_dim=5)
    assert plain.count_params() == 2 * 6 * 3 * 4 + 2 * 6 * 3 * 5
    biased = make(num_heads=3, key_dim=4, value_dim=5, use_bias=True)
    assert biased.count_params() - plain.count_params() == 2 * 12 + 15 + 6


def test_permuting_the_positions_permutes_the_outputs():
    layer = make()
    x, order = normal(2, 7, 6), np.random.default_rng(3).permutation(7)
    np.testing.assert_allclose(
        layer(x[:, order], x[:, order]), layer(x, x).numpy()[:, order], atol=1e-5
    )


def test_the_order_of_the_memory_does_not_matter():
    layer, query, memory = make(), normal(2, 3, 6), normal(2, 7, 6, seed=1)
    order = np.random.default_rng(3).permutation(7)
    np.testing.assert_allclose(
        layer(query, memory[:, order]), layer(query, memory), atol=1e-5
    )


def test_the_future_does_not_reach_the_past():
    layer, x = make(), normal(1, 6, 6)
    changed = x.copy()
    changed[:, 4:] += 5.0
    before, after = (layer(y, y, use_causal_mask=True).numpy() for y in (x, changed))
    np.testing.assert_array_equal(before[:, :4], after[:, :4])
    assert np.abs(before[:, 4:] - after[:, 4:]).max() > 0.1


def test_masked_memory_is_as_if_absent():
    layer, query, memory = make(), normal(2, 3, 6), normal(2, 5, 6, seed=1)
    padded = np.concatenate([memory, np.full((2, 2, 6), 1e3, "float32")], axis=1)
    np.testing.assert_allclose(
        layer(query, padded, value_mask=mask_of(5, 5, size=7)),
        layer(query, memory),
        atol=1e-5,
    )


def test_attention_mask_and_value_mask_are_joined():
    layer, x = make(), normal(2, 4, 6)
    allowed = np.random.default_rng(5).random((2, 4, 4)) < 0.6
    value_mask = mask_of(4, 3, size=4)
    _, weights = layer(
        x,
        x,
        value_mask=value_mask,
        attention_mask=allowed,
        return_attention_weights=True,
    )
    both = allowed & value_mask[:, None]
    weights = np.asarray(weights)
    assert np.all(weights[~np.broadcast_to(both[:, None], weights.shape)] == 0)
    sums = weights.sum(-1)
    expected = np.broadcast_to(both.any(-1)[:, None], sums.shape)
    np.testing.assert_allclose(sums, expected, atol=1e-6)


def test_masks_of_keras_arrive_by_themselves():
    layer = make()
    embedding = keras.layers.Embedding(9, 6, mask_zero=True)
    ids = np.array([[5, 6, 7, 0, 0]])
    padded, short = embedding(ids), embedding(ids[:, :3])
    np.testing.assert_allclose(
        layer(padded, padded)[:, :3], layer(short, short), atol=1e-5
    )
    output = layer(padded, padded)
    mask = keras.src.backend.get_keras_mask(output)
    np.testing.assert_array_equal(mask, ids != 0)
    # keras.layers.MultiHeadAttention clears the mask of what it is given.
    assert keras.src.backend.get_keras_mask(padded) is not None


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_to_attend_to_gives_zeros(policy):
    layer = make(dtype=policy)
    x = tf.Variable(normal(2, 3, 6))
    mask = mask_of(3, 0, size=3)
    with tf.GradientTape() as tape:
        output, weights = layer(x, x, value_mask=mask, return_attention_weights=True)
        total = tf.reduce_sum(tf.cast(output, "float32") ** 2)
    np.testing.assert_array_equal(tf.cast(weights[1], "float32"), np.zeros((3, 3, 3)))
    np.testing.assert_array_equal(tf.cast(output[1], "float32"), np.zeros((3, 6)))
    alone = layer(x[:1], x[:1])
    np.testing.assert_allclose(
        tf.cast(output[0], "float32"), tf.cast(alone[0], "float32"), atol=1e-5
    )
    for gradient in tape.gradient(total, [x, *layer.trainable_variables]):
        assert np.isfinite(tf.convert_to_tensor(gradient).numpy()).all()


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_masked_twice_in_half_precision(policy):
    # Key 3 of query 0 is masked by the padding and by causality.
    layer, x = make(dtype=policy), normal(1, 4, 6)
    full = make()
    full.set_weights(layer.get_weights())
    arguments = dict(
        value_mask=mask_of(2, size=4),
        use_causal_mask=True,
        return_attention_weights=True,
    )
    output, weights = layer(x, x, **arguments)
    weights = tf.cast(weights, "float32").numpy()
    assert np.all(weights[:, :, :, 2:] < 1e-6)
    np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-3)
    np.testing.assert_allclose(
        tf.cast(output, "float32"), full(x, x, **arguments)[0], atol=2e-2
    )


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_large_scores_stay_finite_in_half_precision(policy):
    layer = make(dtype=policy)
    output = layer(normal(1, 4, 6) * 100, normal(1, 4, 6) * 100)
    assert np.isfinite(tf.cast(output, "float32")).all()


def test_dropout_only_in_training_and_on_the_weights():
    layer, x = make(dropout_rate=0.5), normal(2, 6, 6)
    np.testing.assert_array_equal(layer(x, x), layer(x, x, training=False))
    _, weights = layer(x, x, return_attention_weights=True, training=True)
    _, kept = layer(x, x, return_attention_weights=True)
    assert np.any(np.asarray(layer(x, x, training=True)) != np.asarray(layer(x, x)))
    assert weights.shape == kept.shape


@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0)])
def test_empty_sequences(lengths):
    query, memory = (normal(2, n, 6) for n in lengths)
    output = make()(query, memory)
    assert output.shape == (2, lengths[0], 6)
    assert np.all(np.isfinite(output)) and np.all(np.asarray(output) == 0)


def test_empty_batch():
    assert make()(normal(0, 3, 6), normal(0, 4, 6)).shape == (0, 3, 6)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(num_heads=0),
        dict(key_dim=0),
        dict(value_dim=-1),
        dict(dropout_rate=1.0),
        dict(dropout_rate=-0.1),
        dict(window=-1),
        dict(window=0),
        dict(chunk_length=0),
    ],
)
def test_what_cannot_work_is_refused(arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=f"{name}.*Received"):
        make(**arguments)


@pytest.mark.parametrize("other", [dict(window=3), dict(dropout_rate=0.1)], ids=str)
def test_chunks_are_asked_for_alone(other):
    with pytest.raises(ValueError, match="without a window and .* rate of 0.*Received"):
        make(chunk_length=8, **other)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("part", [dict(window=3), dict(chunk_length=4)], ids=str)
def test_without_the_matrix_of_weights_the_output_is_the_same(part, causal, policy):
    layer = make(key_dim=4, value_dim=5, use_bias=True, dtype=policy, **part)
    inputs, mask = normal(2, 70, 6), mask_of(70, 9, size=70)
    options = dict(value_mask=mask, use_causal_mask=causal)
    output = layer(inputs, inputs, **options)
    expected, _ = layer(inputs, inputs, return_attention_weights=True, **options)
    assert output.dtype == expected.dtype
    output, expected = (keras.ops.cast(x, "float32") for x in (output, expected))
    limit = {"float32": 1e-5, "mixed_float16": 2e-3, "mixed_bfloat16": 2e-2}[policy]
    np.testing.assert_allclose(output, expected, atol=limit, rtol=limit)
    if "window" in part and policy == "float32":
        # Padding 3 positions behind the last real one attends to nothing.
        bias = np.asarray(layer.output_bias)
        np.testing.assert_allclose(output[1, 12:], np.tile(bias, (58, 1)), atol=1e-6)


def test_dropout_acts_inside_a_window():
    layer = make(window=3, dropout_rate=0.5)
    inputs = normal(1, 70, 6)
    assert np.any(layer(inputs, inputs, training=True) != layer(inputs, inputs))
    np.testing.assert_array_equal(layer(inputs, inputs), layer(inputs, inputs))
