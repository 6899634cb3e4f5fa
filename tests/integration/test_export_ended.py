"""An export that is told to end leaves nothing: no folder, no process."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from tests.integration.test_export import make_workdir


def engines_of(folder):
    """Process ids of engines that run a version below a folder."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue  # it has ended
        if any("engine.py" in word for word in words) and str(folder) in str(words):
            found.append(int(path.parent.name))
    return found


def wait_until(condition, seconds=120):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=str)
def test_an_export_is_ended_while_the_engine_runs(number, repository, tmp_path):
    make_workdir(tmp_path, "bpe")
    models = tmp_path / "models"
    command = [sys.executable, "-m", "trainers.export_translation"]
    command += [f"--workdir={tmp_path}", f"--export_dir={models}"]
    process = subprocess.Popen(command, cwd=repository, stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: engines_of(models)), process.stderr.read().decode()
        os.kill(process.pid, number)
        said = process.communicate(timeout=60)[1].decode()
    finally:
        process.kill()
    assert wait_until(lambda: not engines_of(models), seconds=10)
    left = [path.name for path in models.iterdir()]
    if number == signal.SIGTERM:
        assert process.returncode == 128 + signal.SIGTERM
        assert "Traceback" not in said and left == []
    else:  # nothing can be tidied up
        assert all(name.startswith(".unfinished-") for name in left)
