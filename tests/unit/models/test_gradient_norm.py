"""The norm that a model tells of its last update."""

import numpy as np
import pytest

from tests.unit.models.tiny import make, step, weights_of


def distance(before, after):
    pairs = zip(before, after, strict=True)
    return np.sqrt(sum(np.square(a - b).sum() for a, b in pairs))


@pytest.mark.parametrize("parts", [1, 2])
def test_it_is_how_far_an_sgd_step_of_rate_one_goes(parts):
    model = make(compile={"micro_batches": parts})
    before = weights_of(model)
    step(model)
    gone = distance(before, weights_of(model))
    assert gone > 0.1
    assert float(model.gradient_norm) == pytest.approx(gone, rel=1e-4)


def test_it_is_that_before_clipping():
    free, clipped = make(), make(compile={"gradient_clip_norm": 0.01})
    before = weights_of(clipped)
    for model in (free, clipped):
        step(model)
    assert float(clipped.gradient_norm) == float(free.gradient_norm)
    assert distance(before, weights_of(clipped)) == pytest.approx(0.01, rel=1e-3)


def test_loss_scaling_does_not_show_in_it():
    exact, scaled = make(), make(policy="mixed_float16")
    for model in (exact, scaled):
        step(model)
    expected = pytest.approx(float(exact.gradient_norm), rel=0.05)
    assert float(scaled.gradient_norm) == expected


def test_it_is_no_weight_of_the_model():
    model = make()
    assert not [v for v in model.variables if "gradient_norm" in v.path]
