"""One update: the gradient of all token losses over all real tokens."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.reference import bridge
from tests.reference import transformer as oracle
from tests.unit.models.tiny import (
    DATA,
    LABELS,
    SOURCE,
    TARGET,
    Line,
    Output,
    assert_same_weights,
    make,
    step,
    tensors,
    weights_of,
)


def oracle_loss(model, arrays, eps=0.1):
    return oracle.loss(bridge.oracle_of(model, arrays)(SOURCE, TARGET), LABELS, eps)


@pytest.fixture(scope="module")
def gradients():
    """Numerical gradients of the oracle's loss for the model that `make` gives."""
    model = make()
    arrays = bridge.values_by_id(model.trainable_variables)

    def gradient_of(key):
        return oracle.numerical_gradient(
            lambda x: oracle_loss(model, {**arrays, key: x}), arrays[key], 1e-5
        )

    return [gradient_of(id(v)) for v in model.trainable_variables]


def test_sgd_moves_by_the_numerical_gradient(gradients):
    model = make()
    before = weights_of(model)
    expected = oracle_loss(model, None)
    results = step(model)
    np.testing.assert_allclose(results["loss"], expected, atol=1e-5)
    for old, new, gradient in zip(before, weights_of(model), gradients, strict=True):
        np.testing.assert_allclose(old - new, gradient, atol=2e-5)


def test_adam_on_the_schedule_as_computed_by_hand(gradients):
    model = make(ka.make_optimizer(4, warmup_steps=2))
    before = weights_of(model)
    step(model)
    reference = oracle.Adam(lambda k: oracle.noam_rate(k, 4, 2))
    expected = reference.update(dict(enumerate(before)), dict(enumerate(gradients)))
    for i, new in enumerate(weights_of(model)):
        # The first step of Adam is the sign of the gradient: no use where it is 0.
        clear = np.abs(gradients[i]) > 1e-4
        np.testing.assert_allclose(new[clear], expected[i][clear], atol=1e-4)
    assert int(model.optimizer.iterations) == 1


def test_metrics_of_a_step():
    model = make()
    logits = bridge.oracle_of(model)(SOURCE, TARGET)
    results = step(model)
    assert list(results) == ["loss", "nll", "perplexity", "token_accuracy"]
    nll = oracle.loss(logits, LABELS, 0.0)
    np.testing.assert_allclose(results["loss"], oracle.loss(logits, LABELS, 0.1), 1e-5)
    np.testing.assert_allclose(results["nll"], nll, 1e-5)
    np.testing.assert_allclose(results["perplexity"], np.exp(nll), 1e-5)
    right = (logits.argmax(-1) == LABELS)[LABELS != 0]
    np.testing.assert_allclose(results["token_accuracy"], right.mean(), 1e-6)


def test_metrics_are_exact_over_batches_of_different_size():
    model = make()
    model.reset_metrics()
    for rows in (slice(0, 1), slice(1, 4)):
        inputs = {"source_ids": SOURCE[rows], "target_ids": TARGET[rows]}
        results = model.test_step(tensors((inputs, LABELS[rows])))
    expected = oracle_loss(model, None)
    np.testing.assert_allclose(results["loss"], expected, 1e-5)
    assert [m.name for m in model.metrics] == list(results)
    model.reset_metrics()
    assert float(model.metrics[0].result()) == 0.0


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_micro_batches_change_nothing(parts, clip):
    # The parts have different numbers of tokens: an average of averages would show.
    whole = make(compile=dict(gradient_clip_norm=clip))
    split = make(compile=dict(gradient_clip_norm=clip, micro_batches=parts))
    for _ in range(3):
        expected, results = step(whole), step(split)
        assert results == pytest.approx(expected, abs=1e-5)
    assert_same_weights(whole, split, atol=1e-5)


@pytest.mark.parametrize("parts", [3, 8])
def test_micro_batches_need_not_divide_the_rows(parts):
    whole, split = make(), make(compile=dict(micro_batches=parts))
    expected, results = step(whole), step(split)
    assert results == pytest.approx(expected, rel=1e-5)
    assert_same_weights(whole, split, atol=1e-5)


def test_micro_batches_have_their_own_dropout():
    model = make(dropout_rate=0.5, compile=dict(micro_batches=2))
    rows = [0, 1, 0, 1]
    inputs = {"source_ids": SOURCE[rows], "target_ids": TARGET[rows]}
    seen = []
    states = model._parts.states

    def recording(*arguments, **options):
        seen.append(states(*arguments, **options))
        return seen[-1]

    model._parts.states = recording
    step(model, (inputs, LABELS[rows]))
    assert len(seen) >= 2 and np.abs(seen[0] - seen[1]).max() > 1e-3


def test_padding_rows_and_columns_change_nothing():
    model, padded = make(), make()
    wide = [np.pad(x, ((0, 4), (0, 3))) for x in (SOURCE, TARGET, LABELS)]
    expected = step(model)
    results = step(padded, ({"source_ids": wide[0], "target_ids": wide[1]}, wide[2]))
    assert results == pytest.approx(expected, abs=1e-5)
    assert_same_weights(model, padded, atol=1e-5)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_a_batch_without_a_token_changes_nothing(micro_batches):
    optimizer = ka.make_optimizer(4)
    model = make(optimizer, compile=dict(micro_batches=micro_batches))
    step(model)
    before = [v.numpy() for v in (*model.variables, *model.optimizer.variables)]
    empty = ({"source_ids": SOURCE * 0, "target_ids": TARGET * 0}, LABELS * 0)
    results = step(model, empty)
    after = [v.numpy() for v in (*model.variables, *model.optimizer.variables)]
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
    assert all(np.isfinite(value) for value in results.values())


def test_weights_weigh_tokens():
    # A weight of zero is as good as a pad.
    weighted, padded = make(), make()
    mask = (LABELS != 0).astype("float32")
    mask[0, 1:] = 0
    cut = LABELS * mask.astype("int32")
    results, expected = step(weighted, (*DATA, mask)), step(padded, (DATA[0], cut))
    assert results == pytest.approx(expected, abs=1e-5)
    assert_same_weights(weighted, padded, atol=1e-5)


@pytest.mark.parametrize("norm", [1e-3, 1e3])
def test_clipping_bounds_the_norm_of_the_whole_gradient(norm):
    free, clipped = make(), make(compile=dict(gradient_clip_norm=norm))
    start = weights_of(free)
    step(free), step(clipped)
    moves = [
        np.sqrt(
            sum(((a - b) ** 2).sum() for a, b in zip(start, weights_of(m), strict=True))
        )
        for m in (free, clipped)
    ]
    np.testing.assert_allclose(moves[1], min(norm, moves[0]), rtol=1e-3)


def test_four_tokens_of_loss_1_and_one_of_loss_5():
    model = Line()
    model.compile(optimizer=keras.optimizers.SGD(1.0), loss=Output())
    x = np.array([[1, 1, 1, 1], [5, 0, 0, 0]], "float32")
    results = step(model, ({"x": x}, np.array([[1, 1, 1, 1], [1, 0, 0, 0]])))
    np.testing.assert_allclose(results["loss"], 1.8, 1e-6)
    np.testing.assert_allclose(model.w, -0.8, 1e-6)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_fifty_steps_in_half_precision(policy):
    model = make(ka.make_optimizer(4, warmup_steps=10), policy=policy)
    graph = tf.function(model.train_step)
    losses = []
    for _ in range(50):
        model.reset_metrics()
        losses.append(float(graph(tensors(DATA))["loss"]))
    assert np.isfinite(losses).all() and losses[-1] < losses[0]
    assert all(np.isfinite(w).all() for w in weights_of(model))


def test_a_logit_beyond_float16_gives_a_finite_loss():
    model = make(policy="mixed_float16")
    ids = tensors(DATA)[0]
    assert model(ids).dtype == tf.float32
    # The row of a piece that is in no input: its logit alone becomes huge.
    table = next(v for v in model.trainable_variables if v.shape == (8, 4))
    array = table.numpy()
    direction = (
        model._parts.states(**ids, training=False)[0, 0].numpy().astype("float32")
    )
    array[7] = 7e4 * direction / np.square(direction).sum()
    table.assign(array)
    logits = model(ids).numpy()
    assert logits.max() > 6.5e4 and np.isfinite(logits).all()
    results = step(model)
    assert np.isfinite(results["loss"]) and results["nll"] > 100
    assert all(np.isfinite(weight).all() for weight in weights_of(model))


def test_a_step_that_overflows_is_skipped_and_not_counted():
    model = make(ka.make_optimizer(4), policy="mixed_float16")
    step(model)
    counted = int(model.optimizer.iterations)
    gamma = model._parts.decoder_blocks[0].feed_forward_norm.norm.gamma
    kept = gamma.numpy()
    gamma.assign(kept + np.inf)
    before = weights_of(model)
    step(model)
    for old, new in zip(before, weights_of(model), strict=True):
        np.testing.assert_array_equal(old, new)
    inner = model.optimizer.inner_optimizer
    assert int(inner.iterations) == counted == 1
    gamma.assign(kept)
    step(model)
    assert int(inner.iterations) == 2


@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (4, 6), (12,)], ids=str)
def test_labels_of_another_shape_are_refused(shape):
    labels = np.resize(LABELS, shape)
    with pytest.raises(ValueError, match="`label_ids` must have the shape.*Received"):
        step(make(), (DATA[0], labels))


def test_weights_of_another_shape_are_refused():
    for shape, named in (((4, 3, 1), "sample_weight"), ((4, 2), "weights")):
        with pytest.raises(ValueError, match=f"`{named}` must have the shape"):
            step(make(), (*DATA, np.ones(shape, "float32")))


def test_labels_of_another_shape_are_refused_in_a_graph_of_any_shape():
    ids = tf.TensorSpec((None, None), tf.int32)
    signature = ({"source_ids": ids, "target_ids": ids}, ids)
    update = tf.function(
        lambda inputs, labels: make_once.train_step((inputs, labels)),
        input_signature=signature,
        autograph=False,
    )
    make_once = make()
    inputs, labels = tensors(DATA)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`label_ids` must have"):
        update(inputs, labels[:, :2])


def test_a_weight_of_padding_never_counts():
    weights = np.where(LABELS == 0, np.nan, 1.0).astype("float32")
    model, weighted = make(), make()
    assert step(weighted, (*DATA, weights)) == pytest.approx(step(model))
    assert_same_weights(model, weighted)


def test_losses_of_layers_are_refused():
    model = make()
    layer = model._parts.output_embedding
    layer.embeddings.regularizer = keras.regularizers.L2(0.1)
    with pytest.raises(ValueError, match="without losses of its layers.*Received: 1"):
        step(model)


def test_a_call_of_ones_own_is_refused():
    class Scaled(ka.Transformer):
        def call(self, *arguments, **options):
            return super().call(*arguments, **options) * 0.25

    model = Scaled(8, num_layers=1, model_dim=4, num_heads=2, feed_forward_dim=4)
    with pytest.raises(ValueError, match="keeps the `call`.*Received: Scaled.call"):
        model.compile(loss=ka.LabelSmoothedCrossEntropy())


@pytest.mark.parametrize("policy", ["float64", "bfloat16", "float16"])
def test_variables_that_are_not_float32_are_refused(policy):
    with pytest.raises(ValueError, match=f"variables in float32.*Received: '{policy}'"):
        make(policy=policy)
