import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.training.checkpoint_files import (
    best_checkpoint,
    check_whole,
    checkpoint_step,
    delete_checkpoint,
    has_checkpoints,
    list_checkpoints,
    read_state,
    read_weights,
)
from tests.unit.training.points import KINDS, damage, write


def test_sorts_by_number_and_keeps_the_last(saved):
    names = [path.name for path in list_checkpoints(saved[0])]
    assert names == ["step-9", "step-10", "step-11"]
    assert [checkpoint_step(name) for name in names] == [9, 10, 11]


@pytest.mark.parametrize("name", ["step-3", "damaged-step-3"])
def test_damaged_checkpoints_are_checkpoints(tmp_path, name):
    assert not has_checkpoints(tmp_path)
    (tmp_path / name).mkdir()
    assert has_checkpoints(tmp_path)


@pytest.mark.parametrize("kind", KINDS[:-2])  # the last two spare the weights
def test_weights_of_a_damaged_checkpoint_are_an_error_that_names_it(saved, kind):
    damage(saved[0] / "step-9", kind)
    with pytest.raises(ValueError, match="step-9, which is missing or damaged"):
        read_weights(saved[0] / "step-9")


def test_weights_keep_their_order_past_ten(tmp_path):
    path = write(tmp_path, 1, [np.full((1,), i, "float32") for i in range(12)])
    assert [int(v[0]) for v in read_weights(path).values()] == list(range(12))


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_checkpoint_is_not_whole(saved, kind):
    path = saved[0] / "step-9"
    check_whole(path)
    damage(path, kind)
    with pytest.raises(ValueError, match="step-9, which is missing or damaged"):
        check_whole(path)


def test_the_state_of_a_run_is_read_without_its_model(saved):
    state = read_state(saved[0] / "step-10")
    assert state["step"] == 10 and state["window"] == {"seconds": 1.0}
    write(saved[0], 12, [np.zeros((1,), "float32")])  # of no run
    assert read_state(saved[0] / "step-12") == {}


@pytest.mark.parametrize("state", ["[3]", "{", '{"step": 1, "step": 2}'])
def test_a_state_that_is_no_object_is_damage(tmp_path, state):
    class Entry(tf.train.experimental.PythonState):
        def serialize(self):
            return state

        def deserialize(self, _):
            raise NotImplementedError

    path = tmp_path / "step-4"
    tf.train.Checkpoint(state=Entry()).write(str(path / "checkpoint"))
    with pytest.raises(ValueError, match="step-4, which is missing or damaged"):
        read_state(path)
    assert best_checkpoint(tmp_path) is None


@pytest.mark.parametrize("place", [0, 1, 2, 3])  # of blocks: place, bytes
def test_an_index_that_takes_more_than_it_has_is_never_opened(
    saved, monkeypatch, place
):
    path = saved[0] / "step-9"
    index = path / "checkpoint.index"
    content = index.read_bytes()
    assert content.endswith(b"\x57\xfb\x80\x8b\x24\x75\x47\xdb")
    read_weights(path)
    numbers = [b"\x01"] * 4
    numbers[place] = b"\xff" * 7 + b"\x7f"
    footer = b"".join(numbers).ljust(40, b"\0") + content[-8:]
    index.write_bytes(content[:-48] + footer)
    monkeypatch.setattr(tf.train, "load_checkpoint", None)
    with pytest.raises(ValueError, match="damaged .the end of its index points behind"):
        read_weights(path)


def test_the_newest_readable_checkpoint_names_the_best(saved):
    directory, _, state, points = saved
    assert best_checkpoint(directory) is None
    state.step, state.best_step = 12, 10
    points.save()
    assert best_checkpoint(directory) == directory / "step-10"
    state.step = 13
    damage(points.save(), "cut")
    assert best_checkpoint(directory) == directory / "step-10"
    assert best_checkpoint(directory / "none") is None


def test_a_deletion_that_is_killed_leaves_no_part_under_the_name(saved, monkeypatch):
    class Killed(BaseException):
        pass

    def die(path):
        raise Killed

    monkeypatch.setattr(shutil, "rmtree", die)
    with pytest.raises(Killed):
        delete_checkpoint(saved[0] / "step-9")
    names = [path.name for path in list_checkpoints(saved[0])]
    assert names == ["step-10", "step-11"]
    assert (saved[0] / ".tmp-old-step-9").is_dir()
