"""Runs of the binary that signals and troubles end, each in a process of its own.

python -m tests.integration.signalled_runs DIRECTORY

Every process is forked from this one, which has imported TensorFlow but not used it,
and then is what `python -m trainers.train_translation` is. The last line of stdout is
a JSON object: name of a case -> [exit status, what it said on stderr].
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from keras_attention.training import averaging, checkpoints, lock, loop, prepare
from keras_attention.training.checkpoint_files import list_checkpoints
from keras_attention.training.validation import Validator
from tests.integration.killed_runs import after
from tests.integration.small_runs import SMALL, copy_corpora
from trainers import train_translation

FLAGS = {
    "preset": "tiny",
    **SMALL["transformer"],
    **SMALL["training"],
    **SMALL["decoding"],
    "max_steps": 8,
    "checkpoint_steps": 3,
    "validation_steps": 2,
}


def signalled(owner, name, number, times=1, calls=0):
    """Lets a process send itself a signal when it calls a function."""

    def act(original, *arguments, **options):
        for _ in range(times):
            os.kill(os.getpid(), number)
        return original(*arguments, **options)

    return lambda: after(calls, owner, name, act)


# One after the other in one workdir: where the signal comes.
SIGNALS = {
    "learning": signalled(prepare, "_tokenizer", signal.SIGTERM),
    "encoding": signalled(prepare, "encode_files", signal.SIGINT),
    "first update": signalled(loop.Loop, "_update", signal.SIGTERM),
    "validation": signalled(Validator, "losses", signal.SIGINT),
    "translation": signalled(Validator, "bleu", signal.SIGTERM),
    "write": signalled(checkpoints.Checkpoints, "_write", signal.SIGINT),
    "twice": signalled(loop.Loop, "_update", signal.SIGTERM, times=2, calls=1),
    "average": signalled(averaging, "save_model", signal.SIGTERM),
    "final validation": signalled(Validator, "losses", signal.SIGINT),
    "none": lambda: None,
}


class Cases:
    """Trains on small files below a directory, and notes how each process ended."""

    def __init__(self, directory):
        self.directory, self.ends, self.texts = directory, {}, {}
        kinds = zip(("train", "valid"), copy_corpora(), strict=True)
        for kind, corpus in kinds:
            path = self.directory / f"{kind}.txt"
            path.write_text("".join(f"{line}\n" for line in corpus.sources))
            self.texts |= {f"{kind}_{side}": path for side in ("source", "target")}

    def run(self, case, workdir, prepare=lambda: None, **flags):
        said = self.directory / "said"
        child = os.fork()
        if child == 0:
            with said.open("wb") as stream:
                os.dup2(stream.fileno(), 2)
            values = {"workdir": workdir, **self.texts, **FLAGS, **flags}
            sys.argv = ["train", *(f"--{k}={v}" for k, v in values.items())]
            code = 1
            try:
                prepare()
                train_translation.run()
            except SystemExit as end:
                code = end.code or 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        steps = [path.name for path in list_checkpoints(workdir / "checkpoints")]
        self.ends[case] = [status, said.read_text(), steps]
        print(case, status, steps, flush=True)


def troubles(cases, part):
    """What ends a run before its time, told as one line."""

    def copied(name):
        return shutil.copytree(part, cases.directory / name)

    quiet = {"verbosity": -1}
    with lock.locked(part):
        cases.run("locked", part, **quiet)
    cases.run("changed", part, seed=2, **quiet)
    other = cases.directory / "other.txt"
    other.write_text(cases.texts["train_target"].read_text().replace("ab", "cd", 1))
    cases.run("corpus", part, train_target=other, **quiet)
    damaged = copied("damaged")
    for path in list_checkpoints(damaged / "checkpoints"):
        os.truncate(path / "checkpoint.index", 10)
    cases.run("damaged", damaged, **quiet)
    cases.run("again", damaged, **quiet)
    new = cases.directory / "diverging"
    cases.run("not finite", new, learning_rate_scale=1e30, **quiet)
    disk = cases.directory / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True)
    if mounted.returncode:
        return
    try:
        full = shutil.copytree(part, disk / "run")
        with contextlib.suppress(OSError), open(disk / "filler", "wb", 0) as stream:
            while shutil.disk_usage(disk).free > 60_000:
                stream.write(bytes(1_024))
        cases.run("full", full, **quiet)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def main(directory):
    cases = Cases(pathlib.Path(directory))
    cases.run("whole", cases.directory / "whole")
    workdir, part = cases.directory / "signalled", cases.directory / "part"
    for case, prepared in SIGNALS.items():
        cases.run(case, workdir, prepared)
        if case == "write":
            shutil.copytree(workdir, part)
    troubles(cases, part)
    print(json.dumps(cases.ends))


if __name__ == "__main__":
    main(*sys.argv[1:])
