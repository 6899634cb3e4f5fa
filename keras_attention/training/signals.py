"""SIGTERM and Ctrl-C: the update in progress ends, the run is saved, then it stops."""

import os
import signal
import sys
import threading


class Interrupted(Exception):
    """A signal came while something ran that the run, when it goes on, does again."""


class StopSignals:
    """Remembers the first SIGTERM or SIGINT while it is entered.

    The first signal only sets `received`, so that the run can end between two updates
    and save itself; the second ends the process at once. The exit code of both is
    128 + the signal's number: 143 for SIGTERM, 130 for Ctrl-C. Outside the main thread
    Python allows no handlers, and signals keep their usual effect.
    """

    _numbers = (signal.SIGTERM, signal.SIGINT)

    def __init__(self):
        self.received = None
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
        if self.received is not None:
            name = signal.Signals(number).name
            # Not through `sys.stderr`, in the midst of whose write it may have come.
            line = f"ended by a second signal, {name}; what was saved before is whole\n"
            if sys.stderr is not None:
                os.write(sys.stderr.fileno(), line.encode())
            os._exit(128 + number)
        self.received = number
