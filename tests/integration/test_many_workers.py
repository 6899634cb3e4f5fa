"""Many workers make the run that one process makes, and survive their own ends."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from keras_attention.training.checkpoint_files import list_checkpoints, read_weights
from keras_attention.training.progress import read_metrics

HERE = pathlib.Path(__file__).resolve().parent
LOST_SECONDS = 60  # TensorFlow tells of a dead worker after about ten
END_SECONDS = 240
FIGURES = (  # that neither the time nor the machine changes
    "kind",
    "step",
    "epoch",
    "loss",
    "nll",
    "token_accuracy",
    "learning_rate",
    "gradient_norm",
    "real_token_share",
    "bleu",
    "chrf",
)

pytestmark = pytest.mark.slow


def free_addresses():
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("localhost", 0))
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return addresses


def start(workdir, *options):
    """Starts one process for each of the options, as workers of one run."""
    addresses = free_addresses()
    processes = []
    for index, each in enumerate(options):
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
        environment["TF_CPP_MIN_LOG_LEVEL"] = "2"
        if len(options) > 1:
            task = {"type": "worker", "index": index}
            cluster = {"cluster": {"worker": addresses}, "task": task}
            environment["TF_CONFIG"] = json.dumps(cluster)
        script = str(HERE / "worker_process.py")
        processes.append(
            subprocess.Popen(
                [sys.executable, script, str(workdir), json.dumps(each)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return processes


def ends(processes, seconds=END_SECONDS):
    """Waits for the processes; gives (exit code, stdout, stderr) of each."""
    told = []
    try:
        for process in processes:
            out, error = process.communicate(timeout=seconds)
            told.append((process.returncode, out, error))
    finally:
        for process in processes:
            process.kill()
    return told


def results(told):
    for code, _, error in told:
        assert code == 0, error[-3_000:]
    lines = [out.split("result ")[1] for _, out, _ in told]
    return [json.loads(line) for line in lines]


def weights(workdir, step):
    return read_weights(workdir / "checkpoints" / f"step-{step}")


def history(workdir):
    records = [r for r in read_metrics(workdir / "metrics.jsonl") if r["kind"] != "end"]
    return [{k: v for k, v in record.items() if k in FIGURES} for record in records]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of two workers from its start to its end."""
    workdir = tmp_path_factory.mktemp("whole")
    return workdir, results(ends(start(workdir, {}, {})))


def test_two_workers_are_one_process_with_two_replicas(whole, tmp_path):
    workdir, (chief, other) = whole
    assert chief == other
    assert (chief["reason"], chief["step"]) == ("max_steps", 12)
    (one,) = results(ends(start(tmp_path, {"replicas": 2})))
    assert one.keys() == chief.keys()
    for name in ("loss", "nll", "perplexity", "token_accuracy", "bleu"):
        assert chief[name] == pytest.approx(one[name], rel=1e-5), name
    first, second = weights(workdir, 12), weights(tmp_path, 12)
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_allclose(value, second[key], atol=1e-5, err_msg=str(key))
    records = history(workdir)
    steps = [(r["kind"], r["step"]) for r in records]
    assert steps == [(r["kind"], r["step"]) for r in history(tmp_path)]
    assert len(set(steps)) == len(steps)  # two writers would tell all twice
    for mine, theirs in zip(records, history(tmp_path), strict=True):
        for name in ("loss", "nll", "token_accuracy", "gradient_norm"):
            if name in mine:
                assert mine[name] == pytest.approx(theirs[name], rel=1e-5)


def wait_for(process, word):
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(process.stderr.read()[-3_000:])


def test_a_signal_and_a_kill_lose_nothing(whole, tmp_path):
    # SIGTERM to the one that is not the chief ends both, at the same update.
    idle, waits = ({"action": action, "updates": 3} for action in ("nothing", "wait"))
    chief, other = start(tmp_path, idle, waits)
    wait_for(other, "waits")
    other.send_signal(signal.SIGTERM)
    told = ends([other, chief])  # `communicate` ends the wait
    assert [code for code, _, _ in told] == [143, 143], [e[-2_000:] for *_, e in told]
    stopped = {json.loads(out.split("result ")[1])["step"] for _, out, _ in told}
    assert len(stopped) == 1
    (step,) = stopped
    assert list_checkpoints(tmp_path / "checkpoints")[-1].name == f"step-{step}"

    # kill -9: the other ends by itself, soon, and says who is lost.
    idle, waits = ({"action": action, "updates": 10} for action in ("nothing", "wait"))
    chief, other = start(tmp_path, idle, waits)
    wait_for(other, "waits")
    other.kill()
    killed = time.monotonic()
    ((code, _, error),) = ends([chief], LOST_SECONDS)
    assert time.monotonic() - killed < LOST_SECONDS
    assert code == 75, error[-2_000:]
    (line,) = [line for line in error.splitlines() if line.startswith("lost: ")]
    assert "Expected 2 workers that answer. Received: nothing from localhost:" in line
    assert "last checkpoint" in line
    other.communicate()

    # The same command goes on from there, and ends as if nothing had happened.
    results(ends(start(tmp_path, {}, {})))
    first, second = weights(whole[0], 12), weights(tmp_path, 12)
    for key, value in first.items():
        assert np.array_equal(value, second[key]), key
    assert len(history(tmp_path)) == len(history(whole[0]))
    for mine, theirs in zip(history(tmp_path), history(whole[0]), strict=True):
        # A metric has a part on every worker; a checkpoint holds the rounded sum.
        assert mine.pop("kind") == theirs.pop("kind")
        assert mine == pytest.approx(theirs, rel=1e-6)


def test_workers_that_differ_are_refused_all(tmp_path):
    told = ends(start(tmp_path, {}, {"training": {"seed": 2, "log_steps": 5}}))
    for code, _, error in told:
        assert code == 2, error[-2_000:]
        assert "must be started alike" in error
        assert "training.seed: 1 on 0, 2 on 1" in error
        assert "training.log_steps: 3 on 0, 5 on 1" in error
    assert not (tmp_path / "config.json").exists()
    for code, _, error in ends(start(tmp_path, {}, {"action": "stop", "updates": 1})):
        assert code == 2, error[-2_000:]
        assert "callbacks: [] on 0, ['At'] on 1" in error


def test_a_chief_that_is_killed_is_told_of(tmp_path):
    idle, waits = (
        {"action": action, "updates": 6, "own_strategy": True}
        for action in ("nothing", "wait")
    )
    chief, other = start(tmp_path, waits, idle)
    wait_for(chief, "waits")
    chief.kill()
    killed = time.monotonic()
    ((code, _, error),) = ends([other], LOST_SECONDS)
    assert time.monotonic() - killed < LOST_SECONDS
    assert code == 75, error[-2_000:]
    (line,) = [line for line in error.splitlines() if line.startswith("lost: ")]
    assert "Received: nothing from localhost:" in line
    chief.communicate()
    (first, second) = results(ends(start(tmp_path, {}, {})))
    assert first == second and first["step"] == 12


def test_a_worker_that_hangs_is_told_of(tmp_path):
    """It is reachable, since its kernel answers, and says nothing."""
    idle, hangs = (
        {"action": action, "updates": 6, "training": {"peer_timeout_seconds": 15}}
        for action in ("nothing", "hang")
    )
    chief, other = start(tmp_path, idle, hangs)
    wait_for(other, "hangs")
    ((code, _, error),) = ends([chief], LOST_SECONDS)
    other.kill()
    assert code == 75, error[-2_000:]
    (line,) = [line for line in error.splitlines() if line.startswith("lost: ")]
    assert "Received: nothing from " in line
    other.communicate()


@pytest.mark.parametrize(
    ("reason", "training"),
    [
        ("max_minutes", {"max_minutes": 0.05, "max_steps": 100_000}),
        ("patience", {"patience": 1, "learning_rate_scale": 1e-9, "max_steps": 500}),
    ],
)
def test_workers_end_at_the_same_update(tmp_path, reason, training):
    first, second = results(ends(start(tmp_path, *[{"training": training}] * 2)))
    assert first == second
    assert first["reason"] == reason
    assert 0 < first["step"] < training["max_steps"]


def test_a_number_that_is_bad_on_one_worker_ends_both(tmp_path):
    good, bad = ({"action": action, "updates": 5} for action in ("nothing", "poison"))
    told = ends(start(tmp_path, good, bad))
    for code, _, error in told:
        assert code == 2, error[-2_000:]
        assert "is not finite since update 6" in error
    records = read_metrics(tmp_path / "metrics.jsonl")
    assert [r["step"] for r in records if r["kind"] == "not_finite"] == [6]
