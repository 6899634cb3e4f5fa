"""SIGTERM and Ctrl-C: the update in progress ends, the run is saved, then it stops."""

import os
import signal
import threading


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
            os._exit(128 + number)
        self.received = number
