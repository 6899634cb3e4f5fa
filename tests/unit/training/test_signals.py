import os
import signal
import subprocess
import sys
import threading

import pytest

from keras_attention.training.signals import StopSignals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_is_only_remembered(number):
    before = signal.getsignal(number)
    with StopSignals() as signals:
        assert signals.received is None
        os.kill(os.getpid(), number)
        assert signals.received == number
    assert signal.getsignal(number) is before


def test_the_second_signal_ends_the_process():
    code = (
        "import os, signal, runpy, time\n"
        f"S = runpy.run_path({signals_file()!r})['StopSignals']\n"
        "with S():\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(30)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=25, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (143, "")
    expected = "ended by a second signal, SIGTERM; what was saved before is whole\n"
    assert done.stderr == expected


def signals_file():
    return sys.modules[StopSignals.__module__].__file__


def test_outside_the_main_thread_nothing_is_handled():
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def enter():
        with StopSignals() as signals:
            seen.append(signals.received)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [None] and signal.getsignal(signal.SIGTERM) is before
