"""A run that was stopped, or killed, and goes on is the run that was never stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from keras_attention.training.checkpoint_files import list_checkpoints
from keras_attention.training.progress import read_metrics
from keras_attention.training.run import train
from tests.integration.small_runs import (
    SMALL,
    Signal,
    assert_same_model,
    assert_same_run,
    copy_corpora,
    event_points,
    history,
    small_run,
    values_of,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never stopped."""
    workdir = tmp_path_factory.mktemp("whole")
    return workdir, small_run(workdir)


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


@pytest.mark.parametrize(
    "step",
    [7, pytest.param(13, marks=pytest.mark.slow)],  # 13: between 12 and the average
)
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
    # TensorBoard's updates do not start again.
    points = event_points(tmp_path / "tensorboard")
    for tag in ("train/learning_rate", "train/loss"):
        assert [step for each, step in points if each == tag] == [3, 6, 9, 12]


@pytest.mark.slow
def test_a_finished_run_that_is_given_more_updates_counts_on(tmp_path):
    assert small_run(tmp_path, max_steps=12, log_steps=2).reason == "max_steps"
    result = small_run(tmp_path, max_steps=18, log_steps=2)
    assert (result.reason, result.step) == ("max_steps", 18)
    points = event_points(tmp_path / "tensorboard")
    for tag in ("train/learning_rate", "train/loss"):
        assert [s for each, s in points if each == tag] == [*range(2, 19, 2)]
    records = read_metrics(tmp_path / "metrics.jsonl")
    told = [record["step"] for record in records if record["kind"] == "train"]
    assert told == [*range(2, 19, 2)]
    last = list_checkpoints(tmp_path / "checkpoints")[-1]
    saved = [v for k, v in values_of(last)[0].items() if k.startswith("optimizer/")]
    counts = [value for value in saved if np.issubdtype(value.dtype, np.integer)]
    assert counts == [18]


def test_finished_run_is_not_trained_again(whole):
    before = values_of(list_checkpoints(whole[0] / "checkpoints")[-1])
    lines = history(whole[0])
    result = small_run(whole[0])
    assert (result.reason, result.step) == ("max_steps", 14)
    after = values_of(list_checkpoints(whole[0] / "checkpoints")[-1])
    assert all(np.array_equal(before[0][key], after[0][key]) for key in before[0])
    assert history(whole[0]) == lines


@pytest.mark.slow
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
