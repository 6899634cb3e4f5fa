"""Is the search as fast as the alternatives'?

python -m benchmarks.decode [--shapes tiny base] [--beams 4 1] [--batches 1 8 32 128]
python -m benchmarks.decode --positions

Needs `pip install ctranslate2 torch transformers` beside this package, and Linux;
`--contenders` leaves some out.

Every contender is a process of its own that waits while another one works. In each
round all of them translate the same sentences, in turn; every hypothesis has the same
length. This package and CTranslate2 have the same weights, and the share of equal
hypotheses says whether they search for the same. Prints minima and medians of the
seconds of a batch, its CPU time (which other work on the machine disturbs less),
target tokens/s, and the peak memory while it was translated. `--positions` compares
the time of 400 steps with that of 100 instead.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from benchmarks.decode.contenders import CONTENDERS, encode
from benchmarks.decode.work import WORK, Task

MODULE = "benchmarks.decode.contenders"
ROOT = pathlib.Path(__file__).parents[2]
STEPS = (100, 400)
SAME_WEIGHTS = ("own", "ctranslate2")


class Contender:
    """A process that translates when it is asked to."""

    def __init__(self, name, shape, folder, threads):
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE, name, shape, folder, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def work(self, task):
        """Asks for a task and returns the answer."""
        self._process.stdin.write(encode(task))
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self._process.wait()}.")
        return json.loads(line)

    def close(self):
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def start(shape, names, folder, threads):
    """Writes the shared weights, and returns the contenders by name."""
    command = [sys.executable, "-m", MODULE, "prepare", shape, folder]
    subprocess.run(command, check=True, cwd=ROOT)
    return {name: Contender(name, shape, folder, threads) for name in names}


def alternate(contenders, task, rounds):
    """Returns the answers of each contender, a list by name, after a warm-up."""
    answers = {name: [] for name in contenders}
    for number in range(rounds + 1):
        now = task if number else Task(task.beams, task.rows, task.length)
        for name, contender in contenders.items():
            answer = contender.work(now)
            if number:
                answers[name].append(answer)
    return answers


def report(shape, task, answers):
    """Prints the table of one shape, beam size and batch."""
    print(
        f"\n{shape}: beam {task.beams}, batch {task.rows}, "
        f"{WORK[shape].length}+{task.length} tokens, {task.calls} calls"
    )
    print("                  min s  median s   CPU s  target tok/s    MiB")
    for name, found in answers.items():
        seconds = [one["seconds"] / task.calls for one in found]
        print(
            f"{name:16} {min(seconds):6.3f} {statistics.median(seconds):9.3f} "
            f"{_best(found, 'processor_seconds') / task.calls:7.3f} "
            f"{task.tokens / _best(found, 'seconds'):13.0f} "
            f"{max(one['peak_mib'] for one in found):6.0f}"
        )
    if "own" not in answers:
        return
    for rival in (name for name in answers if name != "own"):
        ratios = [
            _best(answers[rival], figure) / _best(answers["own"], figure)
            for figure in ("seconds", "processor_seconds")
        ]
        print(
            f"own is {ratios[0]:.2f} x as fast as {rival}, which takes "
            f"{ratios[1]:.2f} x its CPU time"
        )
    if set(SAME_WEIGHTS) <= set(answers):
        print(f"equal hypotheses: {_share_of_equals(answers):.3f}", flush=True)


def _best(answers, figure):
    return min(answer[figure] for answer in answers)


def _share_of_equals(answers):
    ours, theirs = (answers[name][-1]["hypotheses"] for name in SAME_WEIGHTS)
    equal = [one == other for one, other in zip(ours, theirs, strict=True)]
    return sum(equal) / len(equal)


def report_positions(shape, beams, rows, times):
    """Prints how the time grows with the steps."""
    few, many = STEPS
    print(f"\n{shape}: beam {beams}, batch {rows}")
    for name, seconds in times.items():
        print(
            f"{name:16} {seconds[few]:7.3f} s for {few} steps, {seconds[many]:7.3f} s "
            f"for {many}: {seconds[many] / seconds[few]:.2f} x",
            flush=True,
        )


def compare_positions(shape, contenders, arguments):
    """Times 100 and 400 steps of each beam size and batch."""
    for beams in arguments.beams:
        for rows in arguments.batches:
            times = {name: {} for name in contenders}
            for length in STEPS:
                task = Task(beams, rows, length)
                answers = alternate(contenders, task, arguments.rounds)
                for name, found in answers.items():
                    times[name][length] = _best(found, "seconds")
            report_positions(shape, beams, rows, times)


def compare_contenders(shape, contenders, arguments):
    """Times every beam size and batch."""
    for beams in arguments.beams:
        for rows in arguments.batches:
            work = WORK[shape]
            task = Task(beams, rows, work.length, work.calls(rows))
            report(shape, task, alternate(contenders, task, arguments.rounds))


def parse(arguments):
    """Returns the flags; what a measurement usually takes depends on which it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = list(CONTENDERS)
    parser.add_argument("--shapes", nargs="+", choices=WORK)
    parser.add_argument("--beams", nargs="+", type=int, default=[4, 1])
    parser.add_argument("--batches", nargs="+", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--contenders", nargs="+", choices=names, default=names)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--positions", action="store_true")
    flags = parser.parse_args(arguments)
    usual = (["tiny"], [1, 8]) if flags.positions else (list(WORK), [1, 8, 32, 128])
    flags.shapes, flags.batches = flags.shapes or usual[0], flags.batches or usual[1]
    return flags


def main():
    """Measures every shape and prints its tables."""
    flags = parse(None)
    compare = compare_positions if flags.positions else compare_contenders
    for shape in flags.shapes:
        with tempfile.TemporaryDirectory() as folder:
            contenders = start(shape, flags.contenders, folder, flags.threads)
            compare(shape, contenders, flags)
            for contender in contenders.values():
                contender.close()


if __name__ == "__main__":
    main()
