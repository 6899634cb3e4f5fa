"""Trains for some minutes and prints now and then, in JSON, what the process holds.

python -m tests.integration.soaked_run DIRECTORY MINUTES SECONDS_BETWEEN
"""

import json
import os
import pathlib
import sys
import threading
import time

import keras

from tests.integration.small_runs import small_run


def held(workdir, started):
    """Returns what this process holds: memory, handles, threads, checkpoints."""
    words = pathlib.Path("/proc/self/statm").read_text().split()
    checkpoints = pathlib.Path(workdir, "checkpoints")
    return {
        "minutes": (time.monotonic() - started) / 60,
        "megabytes": int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "handles": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "checkpoints": len(list(checkpoints.glob("step-*"))),
        "event_files": len(list(pathlib.Path(workdir, "tensorboard").glob("*"))),
    }


class Watch(keras.callbacks.Callback):
    """Looks at the process at the end of a batch, when it is time again."""

    def __init__(self, workdir, seconds):
        super().__init__()
        self._workdir, self._seconds = workdir, seconds
        self._started = self._last = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        """Prints what the process holds."""
        now = time.monotonic()
        if now - self._last >= self._seconds:
            self._last = now
            updates = int(self.model.optimizer.iterations)
            found = {**held(self._workdir, self._started), "updates": updates}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    directory, minutes, seconds = sys.argv[1], *map(float, sys.argv[2:])
    small_run(
        directory,
        callbacks=[Watch(directory, seconds)],
        max_steps=10**9,
        max_minutes=minutes,
        checkpoint_steps=25,
        validation_steps=25,
        log_steps=50,
    )
