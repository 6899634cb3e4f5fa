import json
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.training import averaging
from keras_attention.training.averaging import (
    average_weights,
    average_workdir,
    load_initial_weights,
    save_model,
)
from keras_attention.training.checkpoints import Checkpoints, RunState
from keras_attention.training.prepare import choose_config, compiled_model
from keras_attention.training.workdir import versions, write_config
from tests.unit.training.points import write

SMALL = {
    "num_layers": 1,
    "model_dim": 8,
    "num_heads": 2,
    "feed_forward_dim": 8,
}


def small_config(**transformer):
    parts = {"transformer": {**SMALL, **transformer}, "training": {}, "decoding": {}}
    config = choose_config(None, "tiny", parts, 20)
    return {**config, "data": {"sha256": ""}, "versions": versions()}


@pytest.fixture(scope="module")
def model():
    return compiled_model(small_config(), tf.distribute.get_strategy())


@pytest.fixture(scope="module")
def run(tmp_path_factory, model):
    """A workdir with three checkpoints whose weights are all 1, 2 and 6."""
    workdir = tmp_path_factory.mktemp("run")
    write_config(workdir, small_config())
    state = RunState()
    points = Checkpoints(workdir / "checkpoints", model, state)
    for state.step, value in ((9, 1.0), (10, 2.0), (11, 6.0)):
        model.set_weights([np.full(w.shape, value) for w in model.weights])
        points.save()
    tokenizer().save(workdir / "tokenizer")
    return workdir


def tokenizer(text="to be or not to be"):
    return SubwordTokenizer.learn_from_lines([text], 16)


def all_weights(path):
    loaded = keras.models.load_model(path, compile=False)
    return {float(value) for w in loaded.get_weights() for value in np.unique(w)}


@pytest.mark.parametrize(("count", "value"), [(1, 6.0), (2, 4.0), (3, 3.0), (9, 3.0)])
def test_averages_the_last_checkpoints_into_a_model(run, count, value):
    path, weights = average_workdir(run, count=count)
    assert path == run / "model.keras"
    assert all_weights(path) == {value}
    assert all((weight == value).all() for weight in weights)
    assert not list(run.glob(".tmp*"))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_the_best_checkpoint_alone_becomes_the_model(run, model, tmp_path):
    with pytest.raises(ValueError, match="checkpoint with a validation BLEU.*none in"):
        average_workdir(run, best=True)
    workdir = shutil.copytree(run, tmp_path / "run")
    state = RunState(step=12, best_step=10, best_bleu=20.0)
    Checkpoints(workdir / "checkpoints", model, state).save()
    path, _ = average_workdir(workdir, best=True)
    assert all_weights(path) == {2.0}


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_run_that_goes_on_may_delete_what_is_being_read(run, tmp_path, monkeypatch):
    workdir = shutil.copytree(run, tmp_path / "run")
    read, seen = averaging.read_weights, []

    def reading(path):
        if not seen:  # the run saves while the first one is read
            shutil.rmtree(workdir / "checkpoints" / "step-9")
        seen.append(path.name)
        return read(path)

    monkeypatch.setattr(averaging, "read_weights", reading)
    path, _ = average_workdir(workdir)
    assert all_weights(path) == {4.0}
    assert seen == ["step-9"] + 2 * ["step-10", "step-11"]


def test_averages_what_is_there_up_to_the_configured_number(run):
    path, _ = average_workdir(run)
    assert all_weights(path) == {3.0}


def test_a_workdir_without_a_run_cannot_be_averaged(tmp_path):
    with pytest.raises(ValueError, match="Expected the workdir of a run"):
        average_workdir(tmp_path)


def test_a_run_without_checkpoints_cannot_be_averaged(tmp_path):
    write_config(tmp_path, small_config())
    with pytest.raises(ValueError, match="at least one checkpoint"):
        average_workdir(tmp_path)


def test_no_checkpoints_are_no_average(run):
    with pytest.raises(ValueError, match="at least 1. Received: 0"):
        average_workdir(run, count=0)


def test_a_model_file_is_whole_or_as_it_was(tmp_path):
    class Broken:
        def save(self, path):
            path.write_text("half")
            raise OSError("disk full")

    (tmp_path / "model.keras").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        save_model(Broken(), tmp_path / "model.keras")
    assert (tmp_path / "model.keras").read_text() == "old"


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_size_that_no_checkpoint_fills_makes_no_model(run, tmp_path, monkeypatch):
    workdir = shutil.copytree(run, tmp_path / "run")
    record = json.loads((workdir / "config.json").read_text())
    record["transformer"]["vocabulary_size"] = 10**12
    (workdir / "config.json").write_text(json.dumps(record))
    monkeypatch.setattr("keras_attention.training.averaging.build_transformer", None)
    with pytest.raises(ValueError, match="has at least .* weights. Received: .* with"):
        average_workdir(workdir)


def cut(checkpoint):
    path = checkpoint / "checkpoint.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:50])


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_damaged_checkpoint_is_left_out_of_the_average(run, tmp_path):
    workdir = shutil.copytree(run, tmp_path / "run")
    cut(workdir / "checkpoints" / "step-10")
    with pytest.warns(UserWarning, match="step-10, which is .* damaged.*leaves it out"):
        path, _ = average_workdir(workdir)
    assert all_weights(path) == {3.5}
    cut(workdir / "checkpoints" / "step-9")
    cut(workdir / "checkpoints" / "step-11")
    with pytest.warns(UserWarning, match="leaves it out"):
        with pytest.raises(ValueError, match="can be read. Received: 3 damaged ones"):
            average_workdir(workdir)


def test_a_new_run_starts_from_the_weights_of_another(run, model):
    average_workdir(run, count=2)
    model.set_weights([np.zeros(w.shape) for w in model.weights])
    config = small_config(dropout_rate=0.0, attention_dropout_rate=0.1)
    load_initial_weights(model, config, tokenizer(), run)
    in_chunks = small_config(attention_chunk_length=4)  # it saves memory only
    load_initial_weights(model, in_chunks, tokenizer(), run)
    assert all((weight == 4.0).all() for weight in model.get_weights())


def test_initial_weights_need_a_finished_run(tmp_path, model):
    with pytest.raises(ValueError, match="must hold a finished run"):
        load_initial_weights(model, small_config(), tokenizer(), tmp_path)


def test_initial_weights_need_the_same_vocabulary(run, model):
    average_workdir(run, count=1)
    other = tokenizer("we were not here or there")
    with pytest.raises(ValueError, match="only with its vocabulary"):
        load_initial_weights(model, small_config(), other, run)


def test_initial_weights_need_the_same_model(run):
    average_workdir(run, count=1)
    config = small_config(model_dim=4)
    other = compiled_model(config, tf.distribute.get_strategy())
    with pytest.raises(ValueError, match="same model.*model_dim: 8 in .*, 4 asked for"):
        load_initial_weights(other, config, tokenizer(), run)


def test_initial_weights_need_more_than_the_same_shapes(run, model):
    average_workdir(run, count=1)
    config = small_config(norm_position="pre", activation="gelu")
    with pytest.raises(ValueError, match="activation: 'relu' in .*norm_position: 'pos"):
        load_initial_weights(model, config, tokenizer(), run)


def test_initial_weights_need_a_model_that_can_be_read(run, model, tmp_path):
    workdir = shutil.copytree(run, tmp_path / "run")
    (workdir / "model.keras").write_bytes(b"PK")
    with pytest.raises(ValueError, match="model.keras must be a model that Keras can"):
        load_initial_weights(model, small_config(), tokenizer(), workdir)


# --- the mean of weights


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
