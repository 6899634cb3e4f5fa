"""Processes of rows: their lines, their failures, signals, and locks left behind."""

import fcntl
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from keras_attention.studies.ablation_children import (
    ChildError,
    Children,
    Stopped,
    failure,
)

# A stand-in for a binary: no TensorFlow, so that a test takes tenths of seconds.
ACT = """
import os, signal, sys, time
what = sys.argv[1]
print("out", what, flush=True)
if what == "tells":
    print("session", os.getsid(0), flush=True)
elif what == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
elif what == "fails":
    print("ka-act: error: there is no more", file=sys.stderr)
    sys.exit(2)
elif what == "breaks":
    raise MemoryError("no room")
elif what == "waits":
    def stop(number, _):
        print("saved after signal", number, flush=True)
        sys.exit(128 + number)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def stand_in(tmp_path, monkeypatch):
    """A package `trainers` with one binary in the current directory."""
    (tmp_path / "trainers").mkdir()
    (tmp_path / "trainers" / "act.py").write_text(ACT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


class Watched(io.StringIO):
    """A stream that calls a function when a word is written to it."""

    def __init__(self, word, call):
        super().__init__()
        self._word, self._call = word, call

    def write(self, text):
        if self._word in text:
            self._call()
        return super().write(text)


def test_lines_go_to_the_stream_and_into_the_log():
    stream = io.StringIO()
    with Children(stream) as children:
        children.run("C_n2", "act", ["fine"], "log.txt")
        children.run("C_n4", "act", ["too"], "log.txt")
    assert stream.getvalue() == "[C_n2] out fine\n[C_n4] out too\n"
    log = pathlib.Path("log.txt").read_text(encoding="utf-8")
    assert "-m trainers.act fine\nout fine\n" in log and log.endswith("out too\n")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("fails", "^there is no more$"),
        ("breaks", "act ended with exit code 1; its last line: MemoryError: no room"),
        ("killed", "act was ended by SIGKILL, as .* memory runs out; .*: out killed"),
    ],
)
def test_a_failure_says_why(what, told):
    with Children(io.StringIO()) as children, pytest.raises(ChildError, match=told):
        children.run("base", "act", [what], "log.txt")


def test_ctrl_c_at_the_terminal_does_not_reach_a_process_by_itself():
    stream = io.StringIO()
    with Children(stream) as children:
        children.run("base", "act", ["tells"], "log.txt")
    (session,) = re.findall(r"session (\d+)", stream.getvalue())
    assert int(session) != os.getsid(0)


def test_a_process_without_a_line_that_fails():
    assert failure("act", 3, "") == "act ended with exit code 3"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_process_once_and_nothing_begins_after_it(number):
    stream = Watched("ready", lambda: os.kill(os.getpid(), number))
    with Children(stream) as children:
        with pytest.raises(Stopped):
            children.run("base", "act", ["waits"], "log.txt")
        assert children.received == number
        assert stream.getvalue().count(f"saved after signal {number}") == 1
        with pytest.raises(Stopped):
            children.run("base", "act", ["fine"], "log.txt")
    assert "fine" not in stream.getvalue()
    assert signal.getsignal(number) not in (None, children._handle)


def test_in_a_thread_signals_keep_their_effect():
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def work():
        with Children(io.StringIO()) as children:
            children.run("base", "act", ["fine"], "log.txt")
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


HOLD = """
import fcntl, sys
stream = open(sys.argv[1], "w")
fcntl.flock(stream, fcntl.LOCK_EX)
stream.write("process 7 on here"); stream.flush()
print("held", flush=True)
sys.stdin.read()
"""


def test_what_an_earlier_start_left_is_waited_for():
    command = [sys.executable, "-c", HOLD, ".lock"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        stream = Watched("waits for process 7 on here", holder.stdin.close)
        with Children(stream) as children:
            children.await_lock("base", ".")
    assert holder.returncode == 0
    assert stream.getvalue().count("waits for") == 1


def test_a_signal_ends_the_waiting():
    with open(".lock", "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        stream = Watched("waits for", lambda: os.kill(os.getpid(), signal.SIGTERM))
        with Children(stream) as children, pytest.raises(Stopped):
            children.await_lock("base", ".")
    assert "waits for another process" in stream.getvalue()


def test_a_free_or_missing_lock_is_not_waited_for():
    started = time.monotonic()
    with Children(io.StringIO()) as children:
        children.await_lock("base", "missing")
        pathlib.Path(".lock").touch()
        children.await_lock("base", ".")
    assert time.monotonic() - started < 1
