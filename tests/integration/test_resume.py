"""A run that was stopped, or killed, and goes on is the run that was never stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data.corpora import ParallelCorpus
from keras_attention.training.checkpoint_files import list_checkpoints
from keras_attention.training.progress import read_metrics
from keras_attention.training.run import train

TIMES = (
    "minutes",
    "source_tokens_per_second",
    "target_tokens_per_second",
    "memory_gib",
    "peak_memory_gib",
)
SMALL = {
    "transformer": {
        "vocabulary_size": 28,
        "num_layers": 1,
        "model_dim": 16,
        "num_heads": 2,
        "feed_forward_dim": 16,
        "dropout_rate": 0.3,
    },
    "training": {
        "batch_tokens": 96,
        "max_steps": 14,
        "warmup_steps": 8,
        "log_steps": 3,
        "checkpoint_steps": 4,
        "validation_steps": 4,
        "validation_sentences": 3,
        "average_checkpoints": 2,
    },
    "decoding": {"max_extra_length": 2},
}


def copy_corpora():
    """54 short pairs, so that 14 updates cross the ends of epochs, and 6 others."""
    words = ["ab", "cd", "ef", "gh", "ba", "dc"]
    generator = np.random.default_rng(0)
    lines = [" ".join(generator.choice(words, 1 + i % 5)) for i in range(60)]
    return (
        ParallelCorpus.from_pairs(lines[:54], lines[:54]),
        ParallelCorpus.from_pairs(lines[54:], lines[54:]),
    )


def small_run(workdir, corpora=None, callbacks=(), **training):
    with open(os.devnull, "w") as silence:
        return train(
            workdir,
            preset="tiny",
            transformer=SMALL["transformer"],
            training={**SMALL["training"], **training},
            decoding=SMALL["decoding"],
            corpora=corpora or copy_corpora(),
            callbacks=callbacks,
            stream=silence,
        )


def values_of(checkpoint):
    reader = tf.train.load_checkpoint(str(checkpoint / "checkpoint"))
    keys = [key for key in reader.get_variable_to_shape_map() if "ATTRIBUTES" in key]
    values = {key: reader.get_tensor(key) for key in keys}
    state = values.pop("state/.ATTRIBUTES/py_state").decode()
    state = {k: v for k, v in json.loads(state).items() if "seconds" not in k}
    return values, state


def history(workdir):
    records = read_metrics(workdir / "metrics.jsonl")
    kept = [r for r in records if r["kind"] != "end"]
    return [{k: v for k, v in record.items() if k not in TIMES} for record in kept]


def assert_same_run(one, other):
    first, second = (list_checkpoints(d / "checkpoints")[-1] for d in (one, other))
    assert first.name == second.name
    (values, state), (others, other_state) = values_of(first), values_of(second)
    assert values.keys() == others.keys()
    for key, value in values.items():
        assert np.array_equal(value, others[key]), key
    for sums in (state["window"], other_state["window"]):
        sums.pop("seconds", None)
    assert state == other_state
    assert history(one) == history(other)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never stopped."""
    workdir = tmp_path_factory.mktemp("whole")
    return workdir, small_run(workdir)


class Signal(keras.callbacks.Callback):
    """Sends this process a signal after a number of updates."""

    def __init__(self, number, updates):
        super().__init__()
        self.number, self.left = number, updates

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)


def test_run_leaves_what_the_contract_names(whole):
    workdir, result = whole
    assert (result.reason, result.step, result.exit_code) == ("max_steps", 14, 0)
    names = {path.name for path in workdir.iterdir()}
    assert names == {
        ".lock",
        "config.json",
        "tokenizer",
        "checkpoints",
        "tensorboard",
        "model.keras",
        "metrics.jsonl",
    }
    config = json.loads((workdir / "config.json").read_text())
    assert config["transformer"]["model_dim"] == 16
    assert config["data"]["pairs"] == 54
    assert result.validation.keys() >= {"loss", "nll", "perplexity", "bleu"}
    kept = [path.name for path in list_checkpoints(workdir / "checkpoints")]
    assert kept == ["step-4", "step-12", "step-14"]  # 4: the best BLEU, 0.0


def test_history_has_every_record_once_and_in_order(whole):
    records = read_metrics(whole[0] / "metrics.jsonl")
    steps = {k: [r["step"] for r in records if r["kind"] == k] for k in ("train",)}
    assert steps["train"] == [3, 6, 9, 12]
    assert [r["step"] for r in records if r["kind"] == "validation"] == [0, 4, 8, 12]
    first = records[0]
    assert first["nll"] == pytest.approx(first["log_vocabulary_size"], rel=0.5)
    assert all(np.isfinite(r["nll"]) for r in records if "nll" in r)
    assert records[-1]["kind"] == "end" and records[-1]["peak_memory_gib"] > 0


@pytest.mark.parametrize("step", [7, 13])  # between 12 and the end: near the average
def test_stopped_by_sigterm_and_resumed_is_the_same_run(whole, tmp_path, step):
    result = small_run(tmp_path, callbacks=[Signal(signal.SIGTERM, step)])
    assert (result.reason, result.step, result.exit_code) == ("SIGTERM", step, 143)
    assert result.model_path is None
    assert list_checkpoints(tmp_path / "checkpoints")[-1].name == f"step-{step}"
    result = small_run(tmp_path)
    assert (result.reason, result.step) == ("max_steps", 14)
    assert_same_run(whole[0], tmp_path)
    kept = [list_checkpoints(d / "checkpoints") for d in (whole[0], tmp_path)]
    assert [p.name for p in kept[0]] == [p.name for p in kept[1]]
    assert_same_model(whole[0], tmp_path)


def test_tensorboard_steps_do_not_start_again(whole, tmp_path):
    small_run(tmp_path, max_steps=6)
    small_run(tmp_path)
    points = event_points(tmp_path / "tensorboard")
    steps = sorted(step for tag, step in points if tag == "train/learning_rate")
    assert steps == [3, 6, 9, 12]


def test_finished_run_is_not_trained_again(whole):
    before = values_of(list_checkpoints(whole[0] / "checkpoints")[-1])
    lines = history(whole[0])
    result = small_run(whole[0])
    assert (result.reason, result.step) == ("max_steps", 14)
    after = values_of(list_checkpoints(whole[0] / "checkpoints")[-1])
    assert all(np.array_equal(before[0][key], after[0][key]) for key in before[0])
    assert history(whole[0]) == lines


def test_a_run_killed_before_its_first_checkpoint_begins_with_the_same_weights(
    whole, tmp_path
):
    with open(os.devnull, "w") as silence:
        options = {"corpora": copy_corpora(), "stream": silence}
        second = tmp_path / "second"
        parts = {
            "preset": "tiny",
            "transformer": SMALL["transformer"],
            "training": {**SMALL["training"], "max_steps": 2},
        }
        train(second, initial_workdir=whole[0], **parts, **options)
        killed = tmp_path / "killed"
        shutil.copytree(second, killed)
        shutil.rmtree(killed / "checkpoints")
        train(killed, **options)
    assert_same_run(second, killed)


@pytest.mark.slow
def test_a_run_killed_again_and_again_is_the_same_run(tmp_path, repository):
    """Kills at random moments, and inside writes, renames, deletions and averages."""
    module = "tests.integration.killed_runs"
    done = subprocess.run(
        [sys.executable, "-m", module, str(tmp_path), "1"],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=repository,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    ends = json.loads(done.stdout.splitlines()[-1])
    assert ends == [0] + [-signal.SIGKILL] * 12 + [0], done.stdout
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert_same_run(whole, killed)
    assert batches_of(whole.with_suffix(".batches")) == batches_of(
        killed.with_suffix(".batches")
    )
    assert_same_model(whole, killed)
    points = event_points(whole / "tensorboard")
    assert len(points) == len(set(points)), "an update is shown once"
    assert sorted(event_points(killed / "tensorboard")) == sorted(points)
    for workdir in (whole, killed):
        assert not list(workdir.rglob(".tmp-*"))


def batches_of(path):
    """The digest of the batch of every update, which all processes agree on."""
    digests = {}
    for line in path.read_text().splitlines():
        step, digest = json.loads(line)
        assert digests.setdefault(step, digest) == digest
    return digests


def event_points(directory):
    """(tag, update) of every value in the event files but those of a process."""
    points = []
    for path in directory.glob("events.out.tfevents.*"):
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            tags = [value.tag for value in event.summary.value]
            points += [(t, event.step) for t in tags if not t.startswith("_hparams_")]
    return points


def assert_same_model(one, other):
    models = [keras.saving.load_model(d / "model.keras") for d in (one, other)]
    for first, second in zip(*(m.get_weights() for m in models), strict=True):
        assert np.array_equal(first, second)
