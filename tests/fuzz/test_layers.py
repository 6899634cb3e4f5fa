"""Every public layer, with random sizes, dtypes and masks, is its oracle in NumPy."""

import numpy as np
import pytest

from tests.fuzz import campaign
from tests.fuzz.more_layer_cases import CASES

# A unit in the last place: float32 sums in another order, the others round each step.
EPSILONS = {"float32": 2e-6, "mixed_float16": 2**-10, "mixed_bfloat16": 2**-7}
STEPS = 12  # roundings that may add up
TRIES = 3  # of the inputs, each a little different


def test_every_public_layer_has_cases():
    from keras_attention import layers

    classes = {name for name, x in vars(layers).items() if isinstance(x, type)}
    assert classes == set(CASES)


def tolerance(case, inputs, expected, policy):
    """How far rounding may move each answer: what a small change of the inputs does."""
    epsilon = EPSILONS[policy] * STEPS
    numbers = np.random.default_rng(0)
    sizes = [1.0 + np.abs(x).max(initial=0.0) for x in expected]
    bounds = [case.slack + epsilon * size for size in sizes]
    for _ in range(TRIES):
        moved = [
            x + epsilon * numbers.normal(size=x.shape) if x.dtype.kind == "f" else x
            for x in inputs
        ]
        answers = case.expected(*moved)
        for place, answer in enumerate(answers):
            change = np.abs(answer - expected[place]).max(initial=0.0)
            bounds[place] = max(bounds[place], 4 * change)
    return bounds


def wrong(case):
    """What is wrong with the answers of a case; "" for nothing."""
    import tensorflow as tf

    inputs = [x.astype("float64") if x.dtype.kind == "f" else x for x in case.inputs]
    expected = case.expected(*inputs)
    tensors = [tf.constant(x) for x in case.inputs]
    with tf.GradientTape() as tape:
        tape.watch([x for x in tensors if x.dtype.is_floating])
        found = case.call(*tensors)
        total = tf.add_n([tf.reduce_sum(tf.cast(x, "float32") ** 2) for x in found])
    arrays = [np.asarray(tf.cast(x, "float32"), "float64") for x in found]
    bounds = tolerance(case, inputs, expected, case.told["policy"])
    for one, other, bound in zip(arrays, expected, bounds, strict=True):
        if one.shape != other.shape:
            return f"shape {one.shape}, not {other.shape}"
        error = np.abs(one - other).max(initial=0.0)
        if not error <= bound:
            return f"off by {error:.3g}, where rounding explains {bound:.3g}"
    if (rows := case.zeros()) is not None and np.any(arrays[0][rows] != 0.0):
        return "rows with nothing to attend to are not zero"
    sources = [x for x in tensors if x.dtype.is_floating]
    sources += [w.value for w in case.layer.trainable_weights]
    gradients = [g for g in tape.gradient(total, sources) if g is not None]
    for gradient in map(tf.convert_to_tensor, gradients):
        if not np.isfinite(tf.cast(gradient, "float32")).all():
            return "a gradient that is no number"
    return ""


@pytest.mark.parametrize("count", campaign.levels(2, 12, 5_000))
@pytest.mark.parametrize("name", CASES)
def test_layers(name, count):
    figures = campaign.Figures(f"layers, {name}")
    for seed in range(campaign.SEED, campaign.SEED + count):
        kinds = CASES[name]
        case = kinds[seed % len(kinds)](seed)
        problem = wrong(case)
        if problem:
            figures.fault(seed, f"{problem} of {case.told}")
        figures.add(f"in {case.told['policy']}")
    figures.add("inputs", count)
    figures.finish()
