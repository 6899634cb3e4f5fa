"""Label-smoothed cross-entropy: eps/(V-1) on the wrong classes, nothing on PAD."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.objectives.losses import token_weights
from tests.reference import transformer as oracle

LN_8 = 2.079442


def random_case(seed=0, batch=3, length=5, size=11):
    random = np.random.default_rng(seed)
    logits = random.normal(0, 3, (batch, length, size)).astype("float32")
    labels = random.integers(1, size, (batch, length)).astype("int32")
    labels[1, 3:] = ka.PAD_ID
    labels[2, 1:] = ka.PAD_ID
    return logits, labels


def losses(logits, labels, eps):
    loss = ka.LabelSmoothedCrossEntropy(eps)
    return keras.ops.convert_to_numpy(loss.call(np.asarray(labels), np.asarray(logits)))


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.2, 0.7])
def test_equals_the_one_hot_formula(eps):
    logits, labels = random_case()
    expected = oracle.token_losses(logits, labels, eps)
    np.testing.assert_allclose(losses(logits, labels, eps), expected, atol=1e-5)
    value = ka.LabelSmoothedCrossEntropy(eps)(labels, logits)
    np.testing.assert_allclose(value, oracle.loss(logits, labels, eps), atol=1e-5)


def test_gradient_is_softmax_minus_smoothed_target():
    logits, labels = random_case(1)
    variable = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(variable)
        value = ka.LabelSmoothedCrossEntropy(0.1)(labels, variable)
    real = labels != ka.PAD_ID
    softmax = np.exp(oracle.log_softmax(logits.astype("float64")))
    expected = (softmax - oracle.smoothed_targets(labels, 11, 0.1)) / real.sum()
    gradient = tape.gradient(value, variable).numpy()
    np.testing.assert_allclose(gradient[real], expected[real], atol=1e-6)
    np.testing.assert_array_equal(gradient[~real], 0.0)


@pytest.mark.parametrize(("eps", "value"), [(0.0, 0.432653), (0.1, 0.632653)])
def test_hand_computed_value_and_pads(eps, value):
    row = [2.0, 0.0, 0.0, 0.0, 0.0]
    logits = np.array([[row, row, row]], "float32")
    # Class 0 is PAD here, so the likely class is moved to 1.
    logits = np.roll(logits, 1, axis=-1)
    np.testing.assert_allclose(
        losses(logits, [[1, 0, 0]], eps), [[value, 0, 0]], atol=1e-6
    )
    np.testing.assert_allclose(
        ka.LabelSmoothedCrossEntropy(eps)(np.array([[1, 0, 0]]), logits),
        value,
        atol=1e-6,
    )


@pytest.mark.parametrize("length", [4, 8])
def test_loss_does_not_depend_on_the_padding(length):
    labels = np.array([[3, 2] + [0] * (length - 2)])
    value = ka.LabelSmoothedCrossEntropy(0.0)(labels, np.zeros((1, length, 8), "f"))
    np.testing.assert_allclose(value, LN_8, atol=1e-5)


def test_every_token_counts_the_same():
    # ln(1 + e^x) = loss with two classes; one token of loss 4, three of loss 1.
    x = np.log(np.expm1(np.array([[4.0, 1, 1], [1.0, 1, 1]])))
    logits = np.stack([x, np.zeros_like(x)], axis=-1).astype("float32")
    labels = np.array([[1, 0, 0], [1, 1, 1]])
    value = ka.LabelSmoothedCrossEntropy(0.0)(labels, logits)
    np.testing.assert_allclose(value, 7 / 4, atol=1e-5)


def test_only_pads_give_zero():
    logits = tf.ones((2, 3, 7))
    with tf.GradientTape() as tape:
        tape.watch(logits)
        value = ka.LabelSmoothedCrossEntropy(0.1)(np.zeros((2, 3), "int32"), logits)
    assert float(value) == 0.0
    np.testing.assert_array_equal(tape.gradient(value, logits), np.zeros((2, 3, 7)))


def test_infinite_logits_at_pads_stay_out():
    logits, labels = random_case()
    expected = losses(logits, labels, 0.1)
    spoiled = np.where(labels[..., None] == ka.PAD_ID, 7e4, logits).astype("float32")
    np.testing.assert_allclose(losses(spoiled, labels, 0.1), expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_logits_are_computed_in_float32(dtype):
    logits = keras.ops.cast(np.full((1, 1, 50), 60.0), dtype)
    loss = ka.LabelSmoothedCrossEntropy(0.1)
    value = loss.call(np.array([[7]]), logits)
    assert keras.backend.standardize_dtype(value.dtype) == "float32"
    np.testing.assert_allclose(value, [[np.log(50)]], atol=1e-4)


def test_a_logit_beyond_float16_is_finite():
    logits = np.zeros((1, 1, 9), "float32")
    logits[0, 0, 4] = 7e4
    assert np.isfinite(losses(logits, [[5]], 0.1)).all()
    np.testing.assert_allclose(losses(logits, [[5]], 0.0), [[7e4]])


@pytest.mark.parametrize("eps", [-0.1, 1.0, float("nan"), "0.1"])
def test_smoothing_that_cannot_work_is_refused(eps):
    with pytest.raises(ValueError, match="label_smoothing.*Received"):
        ka.LabelSmoothedCrossEntropy(eps)


def test_opennmt_cross_entropy(shared_data):
    """Their classes start at 0, which is PAD here, so ids and logits move up by one.

    The added class 0 gets a logit of -1e9 and thereby probability zero. Lengths
    become PAD labels; token weights multiply the unreduced losses.
    """
    case = json.loads((shared_data / "vectors/losses.json").read_text())
    case = case["cross_entropy_opennmt_tf"]
    logits = np.pad(
        np.array(case["logits"], "float32"),
        ((0, 0), (0, 0), (1, 0)),
        constant_values=-1e9,
    )
    labels = np.array(case["labels"]) + 1
    cut = lambda *lengths: np.where(  # noqa: E731
        np.arange(3) < np.array(lengths)[:, None], labels, 0
    )
    total = losses(logits, labels, 0.0).sum()
    np.testing.assert_allclose(total, case["sum_loss"], atol=1e-5)
    total = losses(logits, cut(2, 1), 0.0).sum()
    np.testing.assert_allclose(total, case["lengths_2_1_sum_loss"], atol=1e-5)
    weights = np.array([[0.6], [1.2]])
    total = (losses(logits, cut(3, 2), 0.0) * weights).sum()
    expected = case["lengths_3_2_weights_0.6_1.2_sum_loss"]
    np.testing.assert_allclose(total, expected, atol=1e-5)


@pytest.mark.parametrize("eps", ["0.0", "0.1", "0.3"])
def test_torch_label_smoothing(shared_data, eps):
    """torch spreads eps over all V classes, the label's included: eps/V.

    Ours with eps' = eps (V - 1) / V has the same target, since the label keeps
    1 - eps' = 1 - eps + eps/V and each other class gets eps'/(V - 1) = eps/V.
    Ids move up by one because 0 is PAD here: rotate the classes by one, and put the
    label that would become 0 elsewhere (none does: 3, 0, 8, 5 of 9 classes).
    """
    case = json.loads((shared_data / "vectors/torch_loss_adam.json").read_text())
    case = case["label_smoothing"]
    logits = np.array(case["logits"])
    size = logits.shape[-1]
    # Swap class 0 with class 1: no target is 1, so no label is PAD afterwards.
    order = [1, 0, *range(2, size)]
    labels = np.array([order.index(t) for t in case["targets"]])
    value = losses(logits[None, :, order], labels[None], float(eps) * (size - 1) / size)
    np.testing.assert_allclose(value[0], case["loss_by_eps"][eps], atol=1e-5)


@pytest.mark.parametrize("eps", [0.4, 0.0])
def test_joeynmt_label_smoothing(shared_data, eps):
    """JoeyNMT spreads eps over V-2 classes (not PAD) and subtracts the entropy.

    With PAD's logit taken out of the vocabulary the V-1 classes that are left have
    eps/(V'-1) on the wrong ones, which is our rule. A PAD class of logit -1e9 cannot be
    used (smoothing would give it weight), so the loss runs on the V-1 real classes and
    an added PAD is not needed: ids are 1 .. V-1 and the class axis is cut, with the
    log of PAD's probability missing from the normalisation added back as a constant.
    """
    case = json.loads((shared_data / "vectors/losses.json").read_text())
    case = case["label_smoothing_joeynmt"]
    probabilities = np.array(case["probs_row"])
    labels = np.array(case["targets"])
    # Cut away PAD (class 0); rotate so that no real label is called 0: the classes
    # 1, 2, 3, 4 become 3, 1, 2, 0, and only 3 and 4 (never targets) may be 0.
    order = [4, 2, 3, 1]
    logits = np.log(probabilities[order])
    renamed = np.array([[order.index(t) if t else 0 for t in row] for row in labels])
    value = losses(np.broadcast_to(logits, (3, 2, 4)), renamed, eps)
    real = labels != case["pad"]
    # Our softmax renormalises over the four classes: log p = log p' + log(1 - p_pad).
    cross_entropy = value.sum() - real.sum() * np.log(1 - probabilities[0])
    q = np.array([1 - eps] + [eps / 3] * 3)
    entropy = -(q[q > 0] * np.log(q[q > 0])).sum()
    expected = case[f"eps_{eps}_loss"]
    np.testing.assert_allclose(
        cross_entropy - real.sum() * entropy, expected, atol=1e-4
    )


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"shape \(B, T, V\). Received: labels of"):
        ka.LabelSmoothedCrossEntropy()(np.ones((2, 3), "int32"), np.zeros((2, 3)))


@pytest.mark.parametrize("shape", [(3, 5), (3, 1), (3,)])
def test_weights_of_tokens_and_of_sentences(shape):
    # Padding has no weight, whatever its sentence's weight is.
    logits, labels = random_case(2)
    weights = np.random.default_rng(1).uniform(0.5, 2, shape)
    tokens = oracle.token_losses(logits, labels, 0.1)
    spread = np.broadcast_to(weights.reshape(3, -1), (3, 5)) * (labels != ka.PAD_ID)
    value = ka.LabelSmoothedCrossEntropy(0.1)(labels, logits, weights)
    expected = (tokens * spread).sum() / spread.sum()
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_memory_stays_below_a_one_hot():
    """No tensor but the logits and their gradient has the size of (B, T, V)."""
    graph = tf.function(
        lambda labels, logits: ka.LabelSmoothedCrossEntropy(0.1)(labels, logits)
    ).get_concrete_function(
        tf.TensorSpec((4, 8), tf.int32), tf.TensorSpec((4, 8, 100), tf.float32)
    )
    kinds = {operation.type for operation in graph.graph.get_operations()}
    assert "OneHot" not in kinds


def test_weights_of_another_rank_are_refused():
    with pytest.raises(ValueError, match="`sample_weight` must have.*Received: "):
        token_weights(np.array([[3, 0]]), np.ones((1, 2, 1)))


@pytest.mark.parametrize("label", [11, 12, 700, -1])
def test_a_label_that_is_no_class_is_no_number(label):
    logits, labels = random_case()
    labels[0, 1] = label
    found = losses(logits, labels, 0.1)
    assert np.isnan(found[0, 1]) and np.isnan(found).sum() == 1
