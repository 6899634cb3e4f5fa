"""One process trains in a workdir at a time; a full disk is told in one line."""

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest
import tensorflow as tf

from keras_attention.training import lock as locks
from keras_attention.training.lock import locked, naming_disk_errors

HOLDER = """
import pathlib, runpy, time
with runpy.run_path({path!r})["locked"]({workdir!r}):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_refused_until_the_first_is_killed(tmp_path):
    code = HOLDER.format(path=locks.__file__, workdir=str(tmp_path))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError, match=f"in use by process {holder.pid} on"):
            with locked(tmp_path):
                pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with locked(tmp_path):
        content = (tmp_path / ".lock").read_text()
    assert content.startswith(f"process {os.getpid()} on ") and content.count("\n") == 1


def test_the_lock_ends_with_its_block(tmp_path):
    for _ in range(2):
        with locked(tmp_path):
            with pytest.raises(BlockingIOError, match="no other process trains in"):
                with locked(tmp_path):
                    pass


def test_a_file_system_without_locks_is_warned_about(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.warns(UserWarning, match="cannot be locked .No locks available"):
        with locked(tmp_path):
            pass


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("Cannot write the checkpoint a: b; No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        tf.errors.ResourceExhaustedError(None, None, "b; No space left on device"),
    ],
)
def test_a_full_disk_is_one_error_that_names_the_workdir(error):
    expected = "Cannot write to runs/a: (No space|Disk quota).* last checkpoint"
    with pytest.raises(OSError, match=expected) as caught:
        with naming_disk_errors("runs/a"):
            raise error
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor"),
    ],
)
def test_other_errors_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught:
        with naming_disk_errors("runs/a"):
            raise error
    assert caught.value is error
