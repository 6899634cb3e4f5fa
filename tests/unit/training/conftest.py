"""Fixtures of this room."""

import pytest

from keras_attention.training.checkpoints import Checkpoints, RunState
from tests.unit.training.points import make_model, update


@pytest.fixture
def saved(tmp_path):
    """(directory, model, state, Checkpoints) with checkpoints 9, 10 and 11."""
    model, state = make_model(), RunState()
    points = Checkpoints(tmp_path / "checkpoints", model, state, keep=3)
    for step in (8, 9, 10, 11):
        update(model)
        state.step = step
        state.window = {"seconds": 0.1 * step}
        state.epoch_sums = {"nll": 1.5 * step}
        for metric in model.metrics:
            metric.update_state(float(step))
        points.save()
    return points.directory, model, state, points
