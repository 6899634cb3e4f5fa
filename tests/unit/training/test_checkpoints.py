import json
import logging
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.training import checkpoints
from keras_attention.training.checkpoint_files import (
    check_whole,
    list_checkpoints,
    scheduled_checkpoints,
)
from keras_attention.training.checkpoints import Checkpoints, RunState
from tests.unit.training.points import KINDS, damage, flip, make_model, update, values


def test_restores_weights_optimizer_generators_and_state(saved):
    directory, model, state, _ = saved
    fresh, fresh_state = make_model(), RunState()
    restored = Checkpoints(directory, fresh, fresh_state).restore()
    assert restored == directory / "step-11"
    assert fresh_state == state
    sums = [
        [v.numpy() for m in each.metrics for v in m.variables]
        for each in (model, fresh)
    ]
    assert sums[0] == sums[1] and any(sums[0])
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
            check_whole(newest)
        except ValueError:
            continue
        points._read(newest)
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


def test_a_checkpoint_is_on_the_disk_before_it_has_its_name(saved, monkeypatch):
    directory, _, state, points = saved
    done, rename = [], checkpoints.os.rename
    state.step = 12

    def note(path):
        done.append(pathlib.Path(path).relative_to(directory))

    def renamed(old, new):
        done.append("rename")
        rename(old, new)

    monkeypatch.setattr(checkpoints, "flush_to_disk", note)
    monkeypatch.setattr(checkpoints.os, "rename", renamed)
    points.save()
    place, temporary = done.index("rename"), pathlib.Path(".tmp-step-12")
    files = {temporary / path.name for path in (directory / "step-12").iterdir()}
    assert set(done[:place]) == {temporary, *files}
    assert done[place + 1] == pathlib.Path("."), "and then the name itself"


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


def other_model(units):
    model = keras.Sequential(
        [keras.Input((3,)), *(keras.layers.Dense(n) for n in units)]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
    model.optimizer.build(model.trainable_variables)
    return model


@pytest.mark.parametrize("units", [(5,), (4, 4), (4,)])
def test_checkpoints_of_another_model_are_an_error_and_stay(saved, units):
    directory, before = saved[0], names_in(saved[0])
    points = Checkpoints(directory, other_model(units), RunState())
    with pytest.raises(ValueError, match="step-11, which is whole but does not fit"):
        points.restore()
    assert names_in(directory) == before


def test_a_state_of_another_version_is_an_error_that_names_the_field(saved):
    directory, _, _, points = saved
    dump = checkpoints.dataclasses.asdict
    checkpoints.dataclasses.asdict = lambda s: {**dump(s), "momentum": 0.9}
    try:
        points.save()
    finally:
        checkpoints.dataclasses.asdict = dump
    fresh = Checkpoints(directory, make_model(), RunState())
    with pytest.raises(ValueError, match="does not fit .*names momentum"):
        fresh.restore()


def test_a_checkpoint_that_may_not_be_read_is_not_called_damaged(saved, monkeypatch):
    directory, before = saved[0], names_in(saved[0])

    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(pathlib.Path, "open", refuse)
    with pytest.raises(PermissionError, match="step-11"):
        Checkpoints(directory, make_model(), RunState()).restore()
    assert names_in(directory) == before


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.ResourceExhaustedError(None, None, "x; No space left on device"),
        OSError(28, "No space left on device"),
    ],
)
def test_a_full_disk_leaves_the_older_checkpoints(saved, monkeypatch, error):
    directory, model, state, points = saved
    before = names_in(directory)

    def fill(prefix):
        pathlib.Path(prefix).write_text("half")
        raise error

    monkeypatch.setattr(points._checkpoint, "write", fill)
    level = logging.getLogger("absl").level
    state.step = 12
    with pytest.raises(OSError, match="Cannot write the checkpoint .*step-12: .*space"):
        points.save()
    assert names_in(directory) == before
    assert logging.getLogger("absl").level == level
    assert Checkpoints(directory, make_model(), RunState()).restore().name == "step-11"


def test_the_best_is_kept_until_a_better_one_and_never_averaged(tmp_path):
    state = RunState()
    points = Checkpoints(tmp_path, make_model(), state, keep=2)
    for state.step, off_schedule, best, kept in (
        (2, False, None, [2]),
        (3, True, 3, [2, 3]),
        (4, False, 3, [2, 3, 4]),
        (6, False, 6, [4, 6]),
        (8, False, 6, [6, 8]),
        (9, False, 6, [6, 8, 9]),
        (10, False, 6, [6, 9, 10]),
        (12, False, 12, [10, 12]),
        (13, True, 12, [10, 12, 13]),
        (14, False, 12, [12, 14]),
    ):
        state.best_step = best
        points.save(off_schedule=off_schedule)
        assert [p.name for p in list_checkpoints(tmp_path)] == [
            f"step-{step}" for step in kept
        ]
        if state.step == 10:  # 6 is none of the last two
            names = [p.name for p in scheduled_checkpoints(tmp_path)]
            assert names == ["step-9", "step-10"]
