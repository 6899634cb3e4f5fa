"""Trains one small run whole, and one whose processes are killed one after another.

python -m tests.integration.killed_runs DIRECTORY SEED

Every process is forked from this one, which has imported TensorFlow but not used it:
that is as good as a new one and saves the seconds of the import. The last line of
stdout is a JSON list of the signals that ended the killed processes.
"""

import hashlib
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time

from keras_attention.training import averaging, checkpoint_files, checkpoints, run
from keras_attention.training.loop import Loop
from tests.integration.small_runs import small_run

OPTIONS = {"max_steps": 36, "checkpoint_steps": 3, "validation_steps": 6}


def die():
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)  # the signal may reach another thread first


def after(calls, owner, name, act):
    """Lets a function of a module do something else from a certain call on."""
    original, count = getattr(owner, name), [0]

    def replaced(*arguments, **options):
        count[0] += 1
        if count[0] > calls:
            return act(original, *arguments, **options)
        return original(*arguments, **options)

    setattr(owner, name, replaced)


def write_in_part(original, self, directory, off_schedule):
    """A kill inside the write: one file cut short, the other not there yet."""
    original(self, directory, off_schedule)
    data = directory / "checkpoint.data-00000-of-00001"
    os.truncate(data, data.stat().st_size // 3)
    (directory / "checkpoint.index").unlink()
    die()


def delete_in_part(original, path):
    next(iter(sorted(pathlib.Path(path).iterdir()))).unlink()
    die()


def kill_by_clock(random_numbers):
    """A kill some time after the first update of this process."""
    delay = random_numbers.uniform(0.0, 1.0)

    def first(original, *arguments):
        result = original(*arguments)
        if not started:
            started.append(threading.Timer(delay, die))
            started[0].daemon = True
            started[0].start()
        return result

    started = []
    after(0, Loop, "_update", first)


def dying(original, *_, **__):
    die()


# Where a process of the run is killed; None: by the clock.
PLACES = {
    "in a write": lambda: after(1, checkpoints.Checkpoints, "_write", write_in_part),
    "before the rename": lambda: after(0, checkpoints.os, "rename", dying),
    "before pruning": lambda: after(1, checkpoints.Checkpoints, "_prune", dying),
    "while pruning": lambda: after(
        1, checkpoint_files.shutil, "rmtree", delete_in_part
    ),
    "by the clock": None,
    "after a validation": lambda: after(0, Loop, "_compare", dying),
    "at the average": lambda: after(0, averaging, "save_model", dying),
    "after the final validation": lambda: after(0, run, "RunResult", dying),
}
ORDER = [
    "by the clock",
    "in a write",
    "by the clock",
    "before the rename",
    "after a validation",
    "by the clock",
    "before pruning",
    "by the clock",
    "while pruning",
    "by the clock",
    "at the average",
    "after the final validation",
]


def note_batches(path):
    """Appends the update and the digest of its batch to a file."""

    def noted(original, self, inputs, label_ids, counts):
        content = b"".join(t.numpy().tobytes() for t in (*inputs.values(), label_ids))
        digest = hashlib.sha256(content).hexdigest()
        with path.open("a") as stream:
            stream.write(json.dumps([self.state.step + 1, digest]) + "\n")
        return original(self, inputs, label_ids, counts)

    after(0, Loop, "_update", noted)


def process(workdir, place, random_numbers):
    """Trains in a process of its own; returns its exit status."""
    child = os.fork()
    if child == 0:
        note_batches(workdir.with_suffix(".batches"))
        if place == "by the clock":
            kill_by_clock(random_numbers)
        elif place is not None:
            PLACES[place]()
        code = 1
        try:
            code = small_run(workdir, **OPTIONS).exit_code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(directory, seed):
    directory, random_numbers = pathlib.Path(directory), random.Random(int(seed))
    ends = [process(directory / "whole", None, random_numbers)]
    for place in ORDER:
        random_numbers.random()
        ends.append(process(directory / "killed", place, random_numbers))
        print(place, ends[-1], sorted(os.listdir(directory / "killed/checkpoints")))
    ends.append(process(directory / "killed", None, random_numbers))
    print(json.dumps(ends))


if __name__ == "__main__":
    main(*sys.argv[1:])
