"""Other tasks of the same machine: SCAN, and copying, reversing and sorting symbols.

    python -m keras_attention.studies.sequence_tasks scan-jump --data scan --workdir a
    python -m keras_attention.studies.sequence_tasks copy --workdir b

Trains on pairs through the package's own loop and reports sequence accuracy, the share
of outputs that are right as a whole. The symbol tasks are also tested on longer strings
than any in training: whether sinusoids "allow the model to extrapolate to sequence
lengths longer than the ones encountered during training" (section 3.5) is measured,
against learned positions of the same run otherwise. The same command goes on with a
run that was stopped.
"""

import argparse
import gzip
import json
import pathlib
import sys

from keras_attention.checks import check_choice
from keras_attention.data import ParallelCorpus
from keras_attention.data.synthetic import copy_task, reverse_task, sort_task
from keras_attention.decoding.translator import Translator
from keras_attention.files import write_atomically
from keras_attention.training.run import train

SYMBOL_TASKS = {"copy": copy_task, "reverse": reverse_task, "sort": sort_task}
SCAN_TASKS = {
    "scan-simple": "simple",
    "scan-length": "length",
    "scan-jump": "addprim_jump",
}
TASKS = (*SYMBOL_TASKS, *SCAN_TASKS)
POSITIONS = ("sinusoidal", "learned")
REPORT = "sequence_accuracy.json"

# Symbols of a test string; those of training have 3 to 12.
TRAINED, LONGER = (3, 12), ((13, 15), (16, 20), (21, 30))
PAIRS, HELD_OUT = 8_000, 300
PIECES = {"symbols": 44, "scan": 192}  # whole symbols and words become pieces
MAX_LENGTH = 64  # positions of a learned table: the longest output of SCAN has 48
TRANSFORMER = {"num_layers": 2, "model_dim": 128, "feed_forward_dim": 256}
STEPS = {"symbols": 2_000, "scan": 6_000}
TRAINING = {
    "batch_tokens": 2_048,
    "warmup_steps": 400,
    "learning_rate_scale": 0.5,
    "checkpoint_steps": 100,
    "log_steps": 100,
}


def read_scan(path):
    """Reads pairs of SCAN, `IN: <command> OUT: <actions>` on each line.

    Args:
        path: file, plain or .gz.

    Returns:
        List of (command, actions), both str.

    Raises:
        ValueError: a line of another form, with its number; or no line at all.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scan.txt")
    >>> _ = path.write_text("IN: jump twice OUT: I_JUMP I_JUMP\\n")
    >>> read_scan(path)
    [('jump twice', 'I_JUMP I_JUMP')]

    Reference: Lake and Baroni (2018), https://arxiv.org/abs/1711.00350
    """
    content = pathlib.Path(path).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    pairs, lines = [], content.decode("utf-8").split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        command, found, actions = line.partition(" OUT: ")
        if not command.startswith("IN: ") or not found or not actions.strip():
            raise ValueError(
                f"{path}, line {number}: expected `IN: <command> OUT: <actions>`. "
                f"Received: {line[:80]!r}. Is it a file of SCAN?"
            )
        pairs.append((command.removeprefix("IN: ").strip(), actions.strip()))
    if not pairs:
        raise ValueError(f"{path}: expected pairs of SCAN. Received: an empty file.")
    return pairs


def sequence_accuracy(outputs, references):
    """Returns the share of outputs that are their reference, between 0 and 1.

    Raises:
        ValueError: sides of different lengths, or empty ones.

    Example:

    >>> sequence_accuracy(["a b", "b"], ["a b", "b b"])
    0.5
    """
    if len(outputs) != len(references) or not len(references):
        raise ValueError(
            "Expected an output for every reference, and at least one. Received: "
            f"{len(outputs)} outputs and {len(references)} references."
        )
    pairs = zip(outputs, references, strict=True)
    return sum(output == reference for output, reference in pairs) / len(references)


def task_pairs(task, data=None):
    """Returns the pairs of a task: (training pairs, {name: test pairs}).

    Args:
        task: one of `TASKS`.
        data: folder with the files of SCAN, `tasks_train_simple.txt` and so on, plain
            or .gz; only its tasks need it.

    An action of SCAN loses its underscores, `IJUMP`, so that it is one piece.

    Raises:
        ValueError: an unknown task, or one of SCAN without its files.
    """
    check_choice("task", task, TASKS)
    if task in SYMBOL_TASKS:
        draw = SYMBOL_TASKS[task]
        tests = {}
        for low, high in (TRAINED, *LONGER):
            lengths = {"min_length": low, "max_length": high}
            tests[f"{low}-{high} symbols"] = draw(HELD_OUT, split="test", **lengths)
        low, high = TRAINED
        return draw(PAIRS, min_length=low, max_length=high), tests
    parts = {}
    for part in ("train", "test"):
        name = f"tasks_{part}_{SCAN_TASKS[task]}.txt"
        paths = [pathlib.Path(data or ".", name + end) for end in ("", ".gz")]
        there = [path for path in paths if path.is_file()]
        if not there:
            raise ValueError(
                f"Task {task!r} needs {name} or {name}.gz of SCAN. Received: data="
                f"{data!r}, which has neither. Name the folder of its files."
            )
        # The tokenizer never joins what an underscore stands between, and an action is
        # to be one piece: four of each would be longer than the table of positions.
        pairs = read_scan(there[0])
        parts[part] = [(x, actions.replace("_", "")) for x, actions in pairs]
    return parts["train"], {"test": parts["test"]}


def run_task(
    task, workdir, positions="sinusoidal", data=None, training=None, transformer=None
):
    """Trains and scores one task, and writes `sequence_accuracy.json` to the workdir.

    Args:
        task: one of `TASKS`.
        workdir: directory of the run; a run that was stopped goes on.
        positions: "sinusoidal" (3.5) or "learned" (Table 3, row E).
        data: folder of SCAN, for its tasks.
        training, transformer: dictionaries of fields that replace the recipe's.

    Returns:
        The dictionary that is written: "task", "positions", "steps", "seconds" and
        "accuracy", {name of a test set: share}; None if a signal stopped the run.

    Raises:
        ValueError: an unknown task or kind of positions, or no files of SCAN.
    """
    check_choice("positions", positions, POSITIONS)
    pairs, tests = task_pairs(task, data)
    kind = "symbols" if task in SYMBOL_TASKS else "scan"
    sizes = {"vocabulary_size": PIECES[kind]}
    chosen, limits = {"positions": positions}, {}
    if positions == "learned":
        chosen["max_length"] = MAX_LENGTH
        limits = {"max_source_length": MAX_LENGTH - 1}
    lengths = {f"max_{side}_length": MAX_LENGTH - 1 for side in ("source", "target")}
    corpus = ParallelCorpus.from_pairs(*zip(*pairs, strict=True))
    result = train(
        workdir,
        corpora=(corpus, None),
        preset="tiny",
        transformer={
            **TRANSFORMER,
            "dropout_rate": 0.1,
            **sizes,
            **chosen,
            **(transformer or {}),
        },
        training={
            **TRAINING,
            "max_steps": STEPS[kind],
            **lengths,
            **(training or {}),
        },
        decoding={"beam_size": 1, **limits},
    )
    if result.model_path is None:
        return None
    translator = Translator.load(workdir)
    accuracy = {}
    for name, held_out in tests.items():
        sources, references = map(list, zip(*held_out, strict=True))
        accuracy[name] = sequence_accuracy(translator(sources), references)
    report = {
        "task": task,
        "positions": positions,
        "steps": result.step,
        "seconds": round(result.seconds, 1),
        "accuracy": accuracy,
    }
    path = pathlib.Path(workdir) / REPORT
    write_atomically(path, json.dumps(report, indent=2) + "\n")
    return report


def main():
    """Runs a task from the command line and prints its accuracies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--workdir", required=True)
    parser.add_argument("--positions", choices=POSITIONS, default="sinusoidal")
    parser.add_argument("--data", help="folder with the files of SCAN")
    parser.add_argument(
        "--max_steps", type=int, help="updates in place of the recipe's"
    )
    arguments = parser.parse_args()
    steps = arguments.max_steps
    training = {} if steps is None else {"max_steps": steps}
    try:
        report = run_task(
            arguments.task,
            arguments.workdir,
            arguments.positions,
            arguments.data,
            training,
        )
    except (OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    if report is None:
        sys.exit("stopped; the same command goes on from the last checkpoint")
    for name, share in report["accuracy"].items():
        print(f"{report['task']}, {report['positions']}: {share:.3f} ({name})")


if __name__ == "__main__":
    main()
