import json
import logging
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.training import checkpoints
from keras_attention.training.checkpoints import (
    Checkpoints,
    RunState,
    average_weights,
    checkpoint_step,
    has_checkpoints,
    list_checkpoints,
    read_weights,
)


def make_model():
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dropout(0.5)]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
    model.optimizer.build(model.trainable_variables)
    return model


def update(model):
    x = tf.ones((2, 3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=True) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply(gradients, model.trainable_variables)


def values(model):
    return [
        v.numpy() for v in model.non_trainable_variables + model.optimizer.variables
    ]


@pytest.fixture
def saved(tmp_path):
    """(directory, model, state, Checkpoints) with checkpoints 9, 10 and 11."""
    model, state = make_model(), RunState()
    points = Checkpoints(tmp_path / "checkpoints", model, state, keep=3)
    for step in (8, 9, 10, 11):
        update(model)
        state.step = step
        state.window = {"seconds": 0.1 * step}
        points.save()
    return points.directory, model, state, points


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


def test_sorts_by_number_and_keeps_the_last(saved):
    names = [path.name for path in list_checkpoints(saved[0])]
    assert names == ["step-9", "step-10", "step-11"]
    assert [checkpoint_step(name) for name in names] == [9, 10, 11]


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


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 4
    path.write_bytes(bytes(content))


def damage(path, kind):
    data, index = path / "checkpoint.data-00000-of-00001", path / "checkpoint.index"
    if kind == "cut":
        data.write_bytes(data.read_bytes()[:100])
    elif kind == "missing data":
        data.unlink()
    elif kind == "missing index":
        index.unlink()
    elif kind == "empty index":
        index.write_bytes(b"")
    else:
        flip(data, 150)


KINDS = ["cut", "missing data", "missing index", "empty index", "flipped bit"]


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
        except checkpoints._DAMAGE:
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


@pytest.mark.parametrize("kind", KINDS[:-1])  # that bit is not one of a weight
def test_weights_of_a_damaged_checkpoint_are_an_error_that_names_it(saved, kind):
    damage(saved[0] / "step-9", kind)
    with pytest.raises(ValueError, match="step-9, which is missing or damaged"):
        read_weights(saved[0] / "step-9")


# --- averaging


def write(directory, step, weights):
    """A checkpoint as TensorFlow lays it out, with things that must not be averaged."""
    path = pathlib.Path(directory) / f"step-{step}"
    path.mkdir(parents=True)
    tf.train.Checkpoint(
        weights=[tf.Variable(value) for value in weights],
        optimizer=[tf.Variable(step, dtype=tf.int64), tf.Variable([100.0 * step])],
    ).write(str(path / "checkpoint"))
    return path


def test_average_keeps_dtypes_and_leaves_counters_out(tmp_path):
    paths = [
        write(
            tmp_path,
            step,
            [np.full((2, 3), value, "float32"), np.full((4,), value, "float16")],
        )
        for step, value in ((100, 1.0), (200, 2.0), (300, 6.0))
    ]
    first, second = average_weights(paths)
    assert first.dtype == np.float32 and first.shape == (2, 3)
    assert second.dtype == np.float16 and second.shape == (4,)
    np.testing.assert_allclose(first, 3.0, atol=1e-6)
    np.testing.assert_allclose(second, 3.0, atol=1e-6)


def test_half_precision_is_summed_in_single(tmp_path):
    paths = [
        write(tmp_path, step, [np.full((1,), 60_000.0, "float16")]) for step in (1, 2)
    ]
    assert (
        float(average_weights(paths)[0][0]) == 60_000.0
    )  # the sum is not finite there


def test_one_averaged_is_itself_bit_for_bit(saved):
    directory, model, _, _ = saved
    average = average_weights([directory / "step-11"])
    for one, other in zip(average, model.get_weights(), strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_weights_keep_their_order_past_ten(tmp_path):
    path = write(tmp_path, 1, [np.full((1,), i, "float32") for i in range(12)])
    assert [int(v[0]) for v in read_weights(path).values()] == list(range(12))


def test_different_models_are_an_error_that_lists_the_difference(tmp_path):
    one = write(tmp_path, 1, [np.zeros((2,), "float32")])
    two = write(tmp_path, 2, [np.zeros((3,), "float32"), np.zeros((1,), "float32")])
    with pytest.raises(ValueError) as error:
        average_weights([one, two])
    for part in (
        "weights/0 float32[2]",
        "weights/0 float32[3]",
        "weights/1 float32[1]",
    ):
        assert part in str(error.value)


def test_average_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least one checkpoint"):
        average_weights([])


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


@pytest.mark.parametrize("name", ["step-3", "damaged-step-3"])
def test_damaged_checkpoints_are_checkpoints(tmp_path, name):
    assert not has_checkpoints(tmp_path)
    (tmp_path / name).mkdir()
    assert has_checkpoints(tmp_path)
