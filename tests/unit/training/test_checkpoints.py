import json
import logging

import numpy as np
import pytest

from keras_attention.training import checkpoints
from keras_attention.training.checkpoint_files import DAMAGE, list_checkpoints
from keras_attention.training.checkpoints import Checkpoints, RunState
from tests.unit.training.points import KINDS, damage, flip, make_model, update, values


def test_restores_weights_optimizer_generators_and_state(saved):
    directory, model, state, _ = saved
    fresh, fresh_state = make_model(), RunState()
    restored = Checkpoints(directory, fresh, fresh_state).restore()
    assert restored == directory / "step-11"
    assert fresh_state == state
    for one, other in zip(model.get_weights(), fresh.get_weights(), strict=True):
        assert np.array_equal(one, other)
    generators = [v for v in model.non_trainable_variables if "seed" in v.path]
    assert generators and generators[0].numpy()[1] == 4
    for _ in range(3):  # the dropout masks go on as well
        update(model)
        update(fresh)
    for one, other in zip(values(model), values(fresh), strict=True):
        assert np.array_equal(one, other)


def test_nothing_to_restore(tmp_path):
    assert Checkpoints(tmp_path / "none", make_model(), RunState()).restore() is None


def test_left_over_parts_are_removed_at_the_start(tmp_path):
    (tmp_path / ".tmp-step-3").mkdir()
    (tmp_path / "notes.txt").write_text("kept")
    Checkpoints(tmp_path, make_model(), RunState())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_checkpoint_can_be_written_twice(saved):
    _, model, state, points = saved
    update(model)
    points.save()
    fresh = make_model()
    Checkpoints(points.directory, fresh, RunState()).restore()
    assert np.array_equal(fresh.get_weights()[0], model.get_weights()[0])
    assert len(list_checkpoints(points.directory)) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_newest_is_named_and_the_one_before_is_used(saved, kind):
    directory = saved[0]
    damage(directory / "step-11", kind)
    state = RunState()
    points = Checkpoints(directory, make_model(), state)
    with pytest.warns(UserWarning, match="step-11 is damaged.*one before it is used"):
        assert points.restore().name == "step-10"
    assert state.step == 10
    names = [path.name for path in list_checkpoints(directory)]
    assert names == ["step-9", "step-10"]  # so that it is not averaged either
    assert (directory / "damaged-step-11").is_dir()


def test_no_flipped_bit_is_restored_unseen(saved):
    directory, model, state, points = saved
    wanted = values(model)
    generator = np.random.default_rng(1)
    newest = directory / "step-11"
    originals = {path: path.read_bytes() for path in newest.iterdir()}
    for number in range(24):
        for path, content in originals.items():
            path.write_bytes(content)
        path = sorted(originals)[number % 2]
        flip(path, int(generator.integers(len(originals[path]))))
        try:
            status = points._checkpoint.read(str(newest / "checkpoint"))
            status.assert_consumed()
        except DAMAGE:
            continue
        assert state.step == 11
        for one, other in zip(values(model), wanted, strict=True):
            assert np.array_equal(one, other)


def test_only_damaged_checkpoints_are_an_error(saved):
    directory = saved[0]
    for path in list_checkpoints(directory):
        damage(path, "cut")
    points = Checkpoints(directory, make_model(), RunState())
    with pytest.warns(UserWarning, match="is damaged"):
        with pytest.raises(ValueError, match="can be read. Received: 3 damaged ones"):
            points.restore()
    again = Checkpoints(directory, make_model(), RunState())
    with pytest.raises(ValueError, match="can be read. Received: 3 damaged ones"):
        again.restore()


def test_state_is_plain_json():
    state = RunState(step=3, window={"loss": 0.1 + 0.2}, best_nll=1.5)
    entry = checkpoints._StateEntry(RunState())
    entry.deserialize(checkpoints._StateEntry(state).serialize())
    assert entry.state == state
    assert json.loads(entry.serialize())["window"]["loss"] == 0.1 + 0.2


def test_saving_leaves_the_level_of_the_log(saved, caplog):
    level = logging.getLogger("absl").level
    saved[3].save()
    assert logging.getLogger("absl").level == level
    assert "callback duration" not in caplog.text
