"""Signals and troubles of the binary: its exit code, its one line, what it leaves."""

import json
import re
import signal
import subprocess
import sys

import pytest

from tests.integration.small_runs import (
    assert_same_model,
    assert_same_run,
    event_points,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ends(tmp_path_factory, repository):
    """Name of a case -> exit status, stderr, names of the checkpoints then."""
    directory = tmp_path_factory.mktemp("signals")
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.signalled_runs", str(directory)],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=repository,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return directory, json.loads(done.stdout.splitlines()[-1])


# Before the first update a signal has its usual effect: shells call that 143 and 130.
@pytest.mark.parametrize(
    ("case", "status", "line", "checkpoints"),
    [
        ("learning", -signal.SIGTERM, None, []),
        ("encoding", -signal.SIGINT, None, []),
        ("first update", 143, "stopped by SIGTERM at step 1 ", [1]),
        ("validation", 130, "stopped by SIGINT at step 2 ", [2]),
        ("translation", 143, "stopped by SIGTERM at step 2 ", [2]),
        ("write", 130, "stopped by SIGINT at step 2 ", [2]),
        ("twice", 143, "ended by a second signal, SIGTERM", [2, 3]),
        ("average", 143, "stopped by SIGTERM at step 8 ", [6, 8]),
        ("final validation", 130, "stopped by SIGINT at step 8 ", [6, 8]),
        ("none", 0, "stopped by max_steps at step 8 ", [6, 8]),
    ],
)
def test_a_signal_ends_the_run_with_its_code_and_a_line(
    ends, case, status, line, checkpoints
):
    code, said, names = ends[1][case]
    assert code == status, said
    assert "Traceback" not in said
    if line is not None:
        assert line in said.splitlines()[-1]
        assert said.count("stopped by") + said.count("ended by") == 1
    assert names == [f"step-{step}" for step in checkpoints]


def test_the_run_that_signals_stopped_is_the_run_that_was_never_stopped(ends):
    directory, told = ends
    assert told["whole"][0] == 0, told["whole"][1]
    whole, stopped = directory / "whole", directory / "signalled"
    assert_same_run(whole, stopped)
    assert_same_model(whole, stopped)
    points = [sorted(event_points(d / "tensorboard")) for d in (whole, stopped)]
    assert points[0] == points[1]
    assert told["none"][2] == told["whole"][2]
    assert not list(stopped.rglob(".tmp-*"))


@pytest.mark.parametrize(
    ("case", "status", "line"),
    [
        ("locked", 1, "that no other process trains in. Received: .* by process"),
        ("changed", 2, r"another configuration.*training\.seed: 1 in .*, 2 asked for"),
        ("corpus", 2, "the training pairs are not those of the workdir"),
        ("damaged", 2, "checkpoint that can be read. Received: 1 damaged ones in"),
        ("again", 2, "checkpoint that can be read. Received: 1 damaged ones in"),
        ("not finite", 1, r"not finite since update \d+ .*with the pairs \d+"),
        ("full", 1, "Cannot write to .*: No space left on device"),
    ],
)
def test_trouble_is_told_in_one_line(ends, case, status, line):
    if case == "full" and case not in ends[1]:
        pytest.skip("a small disk cannot be mounted")
    code, said, _ = ends[1][case]
    assert code == status, said
    # A forked process has missed the moment at which the binary hides these.
    of_tensorflow = re.compile(r"[EWI]0000 ")
    lines = [line for line in said.splitlines() if not of_tensorflow.match(line)]
    *before, last = lines
    assert last.startswith("ka-train: error: ") and "Traceback" not in said
    assert re.search(line, last), last
    if case != "damaged":  # each damaged one is named before
        assert not before
