"""Is an update as fast as the alternatives'?

python -m benchmarks.train_step [--shapes tiny small base] [--rounds 5]

Needs `pip install torch keras-hub` beside this package (KerasHub with `--no-deps`,
where it asks for an older TensorFlow Text); `--contenders` leaves some out.

Every contender is a process of its own that waits while another one works. In each
round all of them make the same number of updates, in turn, and a matrix product of
2048 x 2048 is timed for the rate of the machine. Prints minima and medians, the CPU
time of an update (which other work on the machine disturbs less), target tokens/s,
the share of the machine's rate in the matrix products of an update, and the peak
memory.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from benchmarks.train_step.contenders import CONTENDERS
from benchmarks.train_step.work import WORK

PRODUCTS = 8
PRODUCT_OPERATIONS = 2 * 2048**3
MACHINE = "matrix_product"


class Contender:
    """A process that makes updates when it is asked to."""

    def __init__(self, name, shape):
        self.name = name
        self.seconds, self.processor_seconds = [], []
        self.peak_mib = self.loss = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.train_step.contenders", name, shape],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=pathlib.Path(__file__).parents[2],
        )

    def work(self, steps, counted=True):
        """Asks for `steps` updates; remembers the seconds of one."""
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self._process.wait()}.")
        answer = json.loads(line)
        if counted:
            self.seconds.append(answer["seconds"] / steps)
            self.processor_seconds.append(answer["processor_seconds"] / steps)
        self.peak_mib, self.loss = answer["peak_mib"], answer["loss"]

    def close(self):
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()


def measure(shape, names, rounds):
    """Returns the contenders, by name, after their alternations."""
    work = WORK[shape]
    found = {name: Contender(name, shape) for name in (*names, MACHINE)}
    for contender in found.values():
        contender.work(2, counted=False)
    for _ in range(rounds):
        for name, contender in found.items():
            contender.work(PRODUCTS if name == MACHINE else work.steps)
    for contender in found.values():
        contender.close()
    return found


def report(shape, found):
    """Prints the table of one shape."""
    work = WORK[shape]
    rate = PRODUCT_OPERATIONS / min(found.pop(MACHINE).seconds)
    sides = f"{work.length}+{work.length}"
    print(f"\n{shape}: {work.rows} x {sides}, V {work.vocabulary_size}")
    print(f"matrix product {rate / 1e9:.0f} GFLOP/s; {work.operations / 1e9:.1f} GFLOP")
    print("              min s  median s  CPU s  target tok/s  share   MiB   loss")
    for name, one in found.items():
        best = min(one.seconds)
        print(
            f"{name:12} {best:7.3f} {statistics.median(one.seconds):9.3f} "
            f"{min(one.processor_seconds):6.3f} {work.tokens / best:13.0f} "
            f"{work.operations / best / rate:6.2f} "
            f"{one.peak_mib:5.0f}  {one.loss:.3f}"
        )
    ours = [name for name in ("fit", "loop") if name in found]
    for rival in (name for name in found if name not in ours):
        for name in ours:
            ratios = [
                min(getattr(found[rival], figure)) / min(getattr(found[name], figure))
                for figure in ("seconds", "processor_seconds")
            ]
            print(
                f"{name} is {ratios[0]:.2f} x as fast as {rival}, which takes "
                f"{ratios[1]:.2f} x its CPU time",
                flush=True,
            )


def main():
    """Measures every shape and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [name for name in CONTENDERS if name != MACHINE]
    parser.add_argument("--shapes", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--contenders", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for shape in arguments.shapes:
        report(shape, measure(shape, arguments.contenders, arguments.rounds))


if __name__ == "__main__":
    main()
