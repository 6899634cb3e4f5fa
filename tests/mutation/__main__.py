"""Does a test fail for every small mistake in the source? Prints a kill table.

    python -m tests.mutation [--seed 1] [--count 60] [--output docs/mutation.md]

Draws `--count` mistakes from the package (`mutants`), adds the fixed list (`fixed`),
makes one at a time in a copy of the tree and runs the tests of its file, then, if they
pass, those of its room with the conformance table. Exits with 1 if a mistake survives
that `fixed.EQUIVALENT` does not explain.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time

from tests.mutation.fixed import EQUIVALENT, fixed_mutants
from tests.mutation.mutants import draw

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Rooms whose tests take seconds; what is left out are whole runs and their processes.
ROOMS = (
    "ops",
    "layers",
    "objectives",
    "models",
    "data",
    "decoding",
    "evaluation",
    "config.py",
    "checks.py",
    "files.py",
)
IN_THE_TABLE = ("ops", "layers", "objectives", "models")
CONFORMANCE = "tests/conformance/test_table.py"
SECONDS = 420  # of one run of tests: a mistake may loop for ever
PASSED, FAILED = 0, 1


def tests_of(mutant):
    """Returns the two stages: paths of the nearest tests, and of all of the room."""
    inside = pathlib.PurePosixPath(mutant.path).relative_to("keras_attention")
    nearest = pathlib.PurePosixPath("tests/unit", inside.parent, f"test_{inside.name}")
    own = [str(nearest)] if (ROOT / nearest).is_file() else []
    if len(inside.parts) == 1:
        return own, []
    table = [CONFORMANCE] if inside.parts[0] in IN_THE_TABLE else []
    return own, [*table, f"tests/unit/{inside.parts[0]}"]


def killed_by(mutant, tree):
    """Makes the mistake in a tree; returns what noticed it, or None."""
    content = mutant.apply(tree)
    try:
        for stage in tests_of(mutant):
            if stage:
                verdict = _run(stage, tree)
                if verdict:
                    return verdict
        return None
    finally:
        (pathlib.Path(tree) / mutant.path).write_bytes(content)


def _run(paths, tree):
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", *paths]
    command += ["-p", "no:cacheprovider", "--tb=no"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    if done.returncode == PASSED:
        return None
    named = [x for x in done.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
    if done.returncode != FAILED and not named:
        return "the tests cannot be read"  # the mistake breaks an import
    return named[0].split(" - ")[0].split(" ", 1)[1]


def copy_of_the_tree(folder):
    """Copies what git tracks, as it is in the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        target = pathlib.Path(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


def kill_table(mutants, processes, say=print):
    """Returns (mutant, verdict or None) of all, in their order."""
    trees = queue.SimpleQueue()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(processes):
            trees.put(copy_of_the_tree(pathlib.Path(scratch, str(number))))

        def judge(mutant):
            tree = trees.get()
            began = time.monotonic()
            try:
                verdict = killed_by(mutant, tree)
            finally:
                trees.put(tree)
            seconds = time.monotonic() - began
            say(f"{seconds:4.0f} s  {mutant}  |  {verdict or 'SURVIVED'}", flush=True)
            return mutant, verdict

        with concurrent.futures.ThreadPoolExecutor(processes) as pool:
            return list(pool.map(judge, mutants))


def report(table, seed, count):
    """Returns the kill table as Markdown."""
    killed = sum(verdict is not None for _, verdict in table)
    lines = [
        "# Which test notices which mistake",
        "",
        f"`python -m tests.mutation --seed {seed} --count {count}`: {killed} of "
        f"{len(table)} mistakes are noticed.",
        "",
        "| place | was | became | noticed by |",
        "|---|---|---|---|",
    ]
    for mutant, verdict in table:
        noticed = f"`{verdict}`" if verdict else _explained(mutant)
        cells = [f"{mutant.path}:{mutant.line}", mutant.before, mutant.after]
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
        lines.append(f"| {cells[0]} | `{cells[1]}` | `{cells[2]}` | {noticed} |")
    return "\n".join(lines) + "\n"


def _explained(mutant):
    reason = EQUIVALENT.get((mutant.path, mutant.before))
    return f"nothing: {reason}" if reason else "**nothing**"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    parser.add_argument("--no_fixed", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", help="the table as Markdown")
    arguments = parser.parse_args()
    mutants = draw(ROOT, arguments.count, arguments.seed, arguments.rooms)
    mutants += [] if arguments.no_fixed else fixed_mutants(ROOT)
    table = kill_table(mutants, arguments.processes)
    text = report(table, arguments.seed, arguments.count)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(text, encoding="utf-8")
    print(text.splitlines()[2])
    survived = [
        mutant
        for mutant, verdict in table
        if not verdict and (mutant.path, mutant.before) not in EQUIVALENT
    ]
    sys.exit(bool(survived))


if __name__ == "__main__":
    main()
