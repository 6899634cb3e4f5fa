"""The whole model: against the oracle, and what padding and time must not change."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.reference import bridge

TINY = dict(
    vocabulary_size=13,
    num_layers=2,
    model_dim=8,
    num_heads=2,
    feed_forward_dim=12,
    dropout_rate=0.1,
)
OPTIONS = {
    "paper": dict(),
    "pre": dict(norm_position="pre", use_bias=True),
    "unshared": dict(share_embeddings=False, activation="gelu"),
    "output bias": dict(output_bias=True),
    "learned": dict(positions="learned", max_length=9, layer_norm_epsilon=1e-3),
    "heads": dict(key_dim=3, value_dim=5, position_layout="concatenated"),
    "all": dict(
        norm_position="pre",
        share_embeddings=False,
        output_bias=True,
        positions="learned",
        max_length=7,
        key_dim=2,
        use_bias=True,
        activation="silu",
        num_layers=1,
    ),
}
SOURCE = np.array([[5, 6, 7, 3, 0, 0], [8, 3, 0, 0, 0, 0], [4, 9, 12, 7, 5, 3]])
TARGET = np.array([[2, 5, 9, 0, 0], [2, 11, 4, 7, 8], [2, 6, 0, 0, 0]])
INVALID = tf.errors.InvalidArgumentError


def make(policy=None, **options):
    keras.utils.set_random_seed(3)
    config = ka.TransformerConfig(**{**TINY, **options})
    model = ka.build_transformer(config, dtype_policy=policy)
    for i, variable in enumerate(model.trainable_variables):
        noise = np.random.default_rng(i).normal(0, 0.2, variable.shape)
        variable.assign(variable.numpy() + noise)
    return model


@pytest.fixture(scope="module", params=OPTIONS)
def any_model(request):
    return make(**OPTIONS[request.param])


@pytest.fixture(scope="module")
def model():
    return make()


def logits_of(model, source, target, training=False):
    inputs = {"source_ids": np.asarray(source), "target_ids": np.asarray(target)}
    return np.asarray(model(inputs, training=training))


def test_equals_the_oracle(any_model):
    oracle = bridge.oracle_of(any_model)
    real = TARGET != 0
    np.testing.assert_allclose(
        logits_of(any_model, SOURCE, TARGET)[real],
        oracle(SOURCE, TARGET)[real],
        atol=1e-5,
        rtol=1e-5,
    )
    memory = np.asarray(any_model.encode(SOURCE))
    expected = oracle.encode(SOURCE)
    np.testing.assert_allclose(memory[SOURCE != 0], expected[SOURCE != 0], atol=1e-5)


def test_steps_with_caches_equal_all_positions_at_once(any_model):
    whole = logits_of(any_model, SOURCE, TARGET)
    context = any_model.decoding_context(SOURCE)
    state = any_model.initial_state(3)
    for t in range(TARGET.shape[1]):
        ids = tf.constant(TARGET[:, t], "int32")
        step = tf.constant(t)
        logits, state, context = any_model.decode_step(ids, step, state, context)
        real = TARGET[:, t] != 0
        np.testing.assert_allclose(logits[real], whole[real, t], atol=1e-5, rtol=1e-5)


def test_beams_of_a_sentence_share_its_context(model):
    targets = np.stack([[2, 5, 9, 4], [2, 7, 3, 6]])  # two beams of every sentence
    whole = logits_of(model, np.repeat(SOURCE, 2, axis=0), np.tile(targets, (3, 1)))
    context, state = model.decoding_context(SOURCE, 2), model.initial_state(6)
    for t in range(4):
        ids = tf.constant(np.tile(targets[:, t], 3), "int32")
        step = tf.constant(t)
        logits, state, context = model.decode_step(ids, step, state, context)
        np.testing.assert_allclose(logits, whole[:, t], atol=1e-5, rtol=1e-5)
    for tensor in tf.nest.flatten(context):
        assert tensor.shape[0] == 3
    for tensor in tf.nest.flatten(state):
        assert tensor.shape[0] == 6


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_steps_equal_all_positions_in_half_precision(policy):
    half = make(policy)
    whole = logits_of(half, SOURCE, TARGET)
    context, state = half.decoding_context(SOURCE), half.initial_state(3)
    for t in range(2):
        ids = tf.constant(TARGET[:, t], "int32")
        step = tf.constant(t)
        logits, state, context = half.decode_step(ids, step, state, context)
        assert logits.dtype == tf.float32
        np.testing.assert_allclose(logits, whole[:, t], atol=8e-2)


@pytest.mark.parametrize(
    ("layers", "norm_position"), [(1, "post"), (2, "post"), (6, "post"), (2, "pre")]
)
def test_padding_of_the_source_carries_no_information(layers, norm_position):
    model = make(num_layers=layers, norm_position=norm_position)
    short = np.array([[5, 6, 7]])
    padded = np.array([[5, 6, 7, 0, 0]])
    expected = np.asarray(model.encode(short))
    np.testing.assert_allclose(model.encode(padded)[:, :3], expected, atol=1e-5)
    target = np.array([[2, 4, 6, 5]])
    logits = logits_of(model, short, target)
    np.testing.assert_allclose(logits_of(model, padded, target), logits, atol=1e-5)
    embeddings = model._parts.source_embedding.embeddings
    changed = embeddings.numpy()
    changed[0] += 10.0
    embeddings.assign(changed)
    np.testing.assert_allclose(model.encode(padded)[:, :3], expected, atol=1e-5)


def test_padding_of_the_target_carries_no_information(model):
    short, padded = np.array([[2, 4, 6]]), np.array([[2, 4, 6, 0, 0, 0]])
    np.testing.assert_allclose(
        logits_of(model, SOURCE[:1], padded)[:, :3],
        logits_of(model, SOURCE[:1], short),
        atol=1e-5,
    )


def test_rows_do_not_see_each_other(model):
    together = logits_of(model, SOURCE, TARGET)
    for row in range(3):
        one = slice(row, row + 1)
        alone = logits_of(model, SOURCE[one], TARGET[one])
        np.testing.assert_allclose(together[one], alone, atol=1e-5)


def test_the_future_does_not_reach_the_past(any_model):
    changed = TARGET.copy()
    changed[:, 3:] = 10
    before = logits_of(any_model, SOURCE, TARGET)
    after = logits_of(any_model, SOURCE, changed)
    np.testing.assert_allclose(before[:, :3], after[:, :3], atol=1e-6)
    assert np.abs(before[:, 3:] - after[:, 3:]).max() > 1e-2


def test_every_target_position_sees_every_real_source_token(model):
    # Source and target have different lengths, and the target's padding is not the
    # source's: the first target position must still depend on the last source token.
    source, target = np.array([[7, 8, 9, 0, 0, 0]]), np.array([[2, 4, 5, 6, 0]])
    memory = tf.convert_to_tensor(model.encode(source))
    mask = tf.constant(source != 0)
    with tf.GradientTape() as tape:
        tape.watch(memory)
        x = model._parts.embed_target(tf.constant(target))
        for block in model._parts.decoder_blocks:
            x = block(x, memory, memory_mask=mask)
        first = tf.reduce_sum(x[:, 0, 0])
    gradient = np.abs(tape.gradient(first, memory).numpy()).sum(-1)[0]
    assert np.all(gradient[:3] > 1e-6)
    np.testing.assert_array_equal(gradient[3:], 0)


def test_word_order_matters(model):
    swapped = SOURCE[:, [1, 0, 2, 3, 4, 5]]
    assert np.abs(model.encode(SOURCE) - model.encode(swapped))[:, 3].max() > 1e-3


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("float32", {}),
        ("float32", {"norm_position": "pre"}),
        ("mixed_float16", {}),
        ("mixed_bfloat16", {}),
        ("mixed_float16", {"attention_window": 1}),
        ("mixed_bfloat16", {"attention_chunk_length": 2}),
    ],
    ids=str,
)
def test_an_empty_source_row_harms_nothing(policy, options):
    model = make(policy, num_layers=1, **options)
    source = np.array([[3, 4, 5], [0, 0, 0]])
    target, labels = np.array([[2, 4, 5], [2, 6, 0]]), np.array([[4, 5, 3], [6, 3, 0]])
    loss = ka.LabelSmoothedCrossEntropy(0.1)
    with tf.GradientTape() as tape:
        logits = model({"source_ids": source, "target_ids": target}, training=True)
        value = loss(labels, logits)
    gradients = tape.gradient(value, [v.value for v in model.trainable_variables])
    assert np.isfinite(value) and np.isfinite(logits).all()
    for gradient in gradients:
        assert np.isfinite(tf.convert_to_tensor(gradient)).all()
    np.testing.assert_allclose(
        logits_of(model, source, target)[:1],
        logits_of(model, source[:1], target[:1]),
        atol=1e-5 if policy == "float32" else 3e-2,
    )


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_close_and_logits_are_float32(policy, model):
    half = make(policy)
    half.set_weights(model.get_weights())
    inputs = {"source_ids": SOURCE, "target_ids": TARGET}
    logits = half(inputs)
    assert logits.dtype == tf.float32 and half.compute_dtype == policy[6:]
    assert all(v.dtype == "float32" for v in half.trainable_variables)
    real = TARGET != 0
    expected = logits_of(model, SOURCE, TARGET)[real]
    np.testing.assert_allclose(np.asarray(logits)[real], expected, atol=0.15)


def test_a_logit_beyond_float16_is_finite():
    model = make("mixed_float16", share_embeddings=False)
    output = model._parts.output_embedding.embeddings
    output.assign(output.numpy() * 1e5)
    logits = logits_of(model, SOURCE, TARGET)
    assert np.isfinite(logits).all() and np.abs(logits).max() > 65_504


def test_shapes_are_dynamic_in_batch_and_length(model):
    assert model.output.shape == (None, None, 13)
    assert keras.backend.standardize_dtype(model.output.dtype) == "float32"
    for rows, source, target in [(1, 1, 1), (0, 3, 2), (2, 0, 3), (3, 4, 0), (2, 9, 4)]:
        shape = logits_of(model, np.full((rows, source), 5), np.full((rows, target), 5))
        assert shape.shape == (rows, target, 13) and np.isfinite(shape).all()


def test_learned_positions_bound_the_decoding(model):
    learned = make(positions="learned", max_length=6)
    assert learned.max_decoding_length == 6
    assert model.max_decoding_length is None
    logits_of(learned, SOURCE, np.full((3, 6), 5))
    spec = tf.TensorSpec((None, None), tf.int32)
    spec = {"source_ids": spec, "target_ids": spec}
    graph = tf.function(learned, input_signature=[spec], autograph=False)
    for lengths in ((6, 7), (7, 6)):
        source, target = (np.full((3, length), 5, "int32") for length in lengths)
        for run, error in ((learned, ValueError), (graph, INVALID)):
            with pytest.raises(error) as refused:
                run({"source_ids": source, "target_ids": target})
            assert "6" in str(refused.value) and "7" in str(refused.value)


def test_first_loss_is_near_that_of_guessing():
    config = ka.TransformerConfig(500, num_layers=2, model_dim=64, num_heads=4)
    keras.utils.set_random_seed(0)
    fresh = ka.build_transformer(config)
    random = np.random.default_rng(0)
    source, target, labels = (random.integers(4, 500, (8, 12)) for _ in range(3))
    loss = ka.LabelSmoothedCrossEntropy(0.0)(labels, logits_of(fresh, source, target))
    assert np.log(500) - 0.1 < loss < np.log(500) + 1.0


def test_dropout_acts_in_training_only(model):
    still = logits_of(model, SOURCE, TARGET)
    np.testing.assert_array_equal(logits_of(model, SOURCE, TARGET), still)
    assert np.abs(logits_of(model, SOURCE, TARGET, training=True) - still).max() > 1e-2
    certain = make(dropout_rate=0.0)
    np.testing.assert_allclose(
        logits_of(certain, SOURCE, TARGET, training=True),
        logits_of(certain, SOURCE, TARGET),
        atol=1e-6,
    )


def test_the_configuration_can_be_read_back(any_model):
    config = any_model.transformer_config
    again = ka.Transformer.from_config(any_model.get_config())
    assert again.transformer_config == config
    assert again.get_config() == any_model.get_config()
    shapes = [tuple(v.shape) for v in any_model.trainable_variables]
    assert [tuple(v.shape) for v in again.trainable_variables] == shapes


def test_one_matrix_or_three():
    shared = [v for v in make().trainable_variables if tuple(v.shape) == (13, 8)]
    apart = make(share_embeddings=False).trainable_variables
    assert len(shared) == 1
    assert len([v for v in apart if tuple(v.shape) == (13, 8)]) == 3


def test_arguments_that_cannot_work_are_refused():
    with pytest.raises(ValueError, match="num_layers.*Received"):
        ka.Transformer(vocabulary_size=50, num_layers=0)
