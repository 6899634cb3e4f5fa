"""Other binaries of this package as processes of their own, one after the other.

A process that runs out of memory, or that the system kills, takes nothing with it, and
the next one begins with all the memory that there is.
"""

import fcntl
import pathlib
import signal
import subprocess
import sys
import threading
import time

from keras_attention.training.lock import LOCK

_SECONDS = 1.0  # between two looks at a lock


class ChildError(Exception):
    """A process failed; the text says why, as far as it told."""


class Stopped(Exception):
    """SIGTERM or Ctrl-C ended the process in progress."""


class Children:
    """Runs binaries, and passes SIGTERM and Ctrl-C on to the one in progress.

    Each runs in a session of its own, so that Ctrl-C reaches it once, from here: a
    second signal would end a run that saves itself. Outside the main thread Python
    allows no handlers, and signals keep their usual effect.

    Args:
        stream: where their lines go, each under the name of its row.

    Attributes:
        received: number of the first signal, or None.
    """

    _numbers = (signal.SIGTERM, signal.SIGINT)

    def __init__(self, stream):
        self.received = None
        self._stream = stream
        self._child = None
        self._previous = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in self._numbers:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_):
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def _handle(self, number, _):
        if self.received is None:
            self.received = number
        if self._child is not None:
            self._child.send_signal(number)

    def say(self, name, text):
        """Writes a line under the name of a row."""
        stamp = time.strftime("%H:%M:%S")
        self._stream.write(f"{stamp} [{name}] {text}\n")
        self._stream.flush()

    def run(self, name, binary, flags, log):
        """Runs `python -m trainers.BINARY FLAGS` to its end.

        Args:
            name: of the row.
            binary: name of the module.
            flags: list of str.
            log: path of a file that all its lines are appended to.

        Raises:
            ChildError: it failed.
            Stopped: a signal came before it began, or ended it.
        """
        if self.received is not None:
            raise Stopped
        command = [sys.executable, "-u", "-m", f"trainers.{binary}", *flags]
        last = ""
        with open(log, "a", encoding="utf-8") as kept:
            kept.write(f"$ {' '.join(command)}\n")
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                encoding="utf-8",
                errors="replace",
            )
            try:
                if self.received is not None:  # it came while the process was made
                    self._child.send_signal(self.received)
                for line in self._child.stdout:
                    kept.write(line)
                    kept.flush()
                    self._stream.write(f"[{name}] {line}")
                    self._stream.flush()
                    last = line.strip() or last
                code = self._child.wait()
            finally:
                self._child.stdout.close()
                self._child = None
        if code != 0:
            if self.received is not None:
                raise Stopped
            raise ChildError(failure(binary, code, last))

    def await_lock(self, name, directory):
        """Waits until no process trains in a directory.

        One may still do so when an earlier start was killed and could tell it nothing;
        it ends when it cannot write its next line.

        Args:
            name: of the row.
            directory: of a run; it may be missing.

        Raises:
            Stopped: a signal came meanwhile.
        """
        told = False
        while (holder := _holder(pathlib.Path(directory) / LOCK)) is not None:
            if self.received is not None:
                raise Stopped
            if not told:
                self.say(name, f"waits for {holder}, which still trains in {directory}")
                told = True
            time.sleep(_SECONDS)


def _holder(path):
    """Returns who holds a lock, or None."""
    try:
        with open(path, encoding="utf-8") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return stream.read().strip() or "another process"
    except FileNotFoundError:
        pass
    return None


def failure(binary, code, last):
    """Returns why a process failed.

    Args:
        binary: name of its module.
        code: its exit status; negative = the signal that ended it.
        last: its last line.

    Example:

    >>> failure("train_translation", 1, "ka-train-translation: error: the disk is full")
    'the disk is full'
    >>> failure("train_translation", -9, "step 100/200")
    'train_translation was ended by SIGKILL, as the system does when memory runs out; \
its last line: step 100/200'
    """
    told = f"; its last line: {last}" if last else ""
    if code < 0:
        name = signal.Signals(-code).name
        memory = ", as the system does when memory runs out" * (name == "SIGKILL")
        return f"{binary} was ended by {name}{memory}{told}"
    _, mark, reason = last.partition(": error: ")
    return reason if mark else f"{binary} ended with exit code {code}{told}"
