"""Table 3 of the paper on other text: models that differ in one thing, one budget.

Each row is a run of `train_translation` in a process of its own, with the same pieces,
the same pairs in the same order and the same budget, then scored on the dev set as in
6.2: the last checkpoint, not averaged; perplexity a piece; BLEU by beam search.
"""

import dataclasses
import json
import pathlib
import sys

import tensorflow as tf

from keras_attention.evaluation.translation import BLEU
from keras_attention.files import delete_leftovers, write_atomically
from keras_attention.models.build import build_transformer
from keras_attention.studies import ablation_table as tables
from keras_attention.studies.ablation_children import ChildError, Children, Stopped
from keras_attention.studies.ablation_flags import data_flags, row_flags
from keras_attention.studies.ablation_rows import ALL_ROWS, make_base, make_rows
from keras_attention.studies.ablation_shared import DEV, prepare_table
from keras_attention.training import workdir as workdirs
from keras_attention.training.lock import locked, naming_disk_errors
from keras_attention.training.prepare import ENCODED
from keras_attention.training.progress import read_metrics

ROWS_FOLDER, RESULT, LOG = "rows", "result.json", "log.txt"
MARKDOWN, CSV = "table.md", "table.csv"


@dataclasses.dataclass(frozen=True)
class AblationResult:
    """How an ablation ended.

    Args:
        rows: a `RowResult` for each row that was asked for; none after a signal.
        received: number of the signal that stopped it, or None.

    Example:

    >>> AblationResult([], received=15).exit_code  # SIGTERM
    143
    """

    rows: list
    received: int | None = None

    @property
    def exit_code(self):
        """0; 1 when a row failed; 128 + the number of the signal that stopped it."""
        if self.received is not None:
            return 128 + self.received
        return int(any(row.status == tables.FAILED for row in self.rows))


def ablate(
    workdir,
    data,
    rows=ALL_ROWS,
    base_preset="base",
    transformer=None,
    training=None,
    decoding=None,
    stream=None,
):
    """Trains and scores variations of a base model, and writes the table of them.

    A call that was stopped goes on where it was, also within a row. A row that has a
    result is not repeated, one that failed is tried again. Rows may be added by later
    calls. This process leaves the GPUs to those of the rows.

    Args:
        workdir: directory of the table; made when missing. It gets `tokenizer/`, the
            dev set as text, `rows/NAME/` (a workdir each), `table.md`, `table.csv` and
            `tensorboard/` (the table for the HParams tab).
        data: arguments of `load_corpora`, with validation pairs: they are the dev set.
        rows: names among `ROWS`.
        base_preset: "base", "big" or "tiny".
        transformer, training, decoding: dictionaries of fields that replace those of
            the base; the rows are made from it in the ratios of the paper.
        stream: for lines of progress; None = standard error.

    Returns:
        `AblationResult`.

    Raises:
        ValueError: rows or values that cannot work, no dev set, or a workdir that
            holds a table made with other values or of other text.
        BlockingIOError: another process is at work on the table.
        OSError: the workdir cannot be written to.
        RuntimeError: this process has begun to use a GPU.

    Reference:
        Section 6.2 and Table 3.
    """
    workdir, transformer = pathlib.Path(workdir), dict(transformer or {})
    base = make_base(base_preset, transformer, training, decoding)
    make_rows(rows, base)  # what cannot work is told before anything is done
    size = transformer.pop("vocabulary_size", None)
    tf.config.set_visible_devices([], "GPU")
    workdir.mkdir(parents=True, exist_ok=True)
    with (
        naming_disk_errors(workdir),
        locked(workdir),
        Children(stream or sys.stderr) as children,
    ):
        delete_leftovers(workdir)
        try:
            shared = prepare_table(workdir, data, base, size, children)
            transformer["vocabulary_size"] = shared.tokenizer.vocabulary_size
            base = make_base(base_preset, transformer, training, decoding)
            table = Table(workdir, shared, base, make_rows(rows, base))
            table.write()
            for row in table.open_rows():
                table.add(run_row(workdir, row, shared, children), row)
        except Stopped:
            children.say("table", "stopped; the same command goes on from here")
            return AblationResult([], children.received)
        children.say("table", f"written to {workdir / MARKDOWN}")
    return AblationResult(table.results(asked=True))


class Table:
    """The results of a workdir and the files that show them.

    Args:
        workdir: directory of the table.
        shared: what `prepare_table` returns.
        base: the `Row` that the others are variations of.
        rows: list of the `Row`s that are asked for.
    """

    def __init__(self, workdir, shared, base, rows):
        self._workdir = workdir
        self._base = base
        self._facts = shared.facts
        self._rows = rows
        self._results = {row.name: open_result(row, base) for row in rows}
        for path in workdir.glob(f"{ROWS_FOLDER}/*/{RESULT}"):
            result = tables.read_result(path)
            self._results[result.row] = result

    def open_rows(self):
        """Returns the rows that have no result yet, or a failure."""
        done = [r.row for r in self._results.values() if r.status == tables.DONE]
        return [row for row in self._rows if row.name not in done]

    def results(self, asked=False):
        """Returns the `RowResult`s in the order of the paper.

        Args:
            asked: leave out what earlier calls asked for.
        """
        names = [row.name for row in self._rows] if asked else self._results
        return tables.base_first(self._results[name] for name in names)

    def add(self, figures, row):
        """Keeps what `run_row` found of a row, and shows it.

        Args:
            figures: fields of `RowResult` that are known now.
            row: the `Row`.
        """
        result = dataclasses.replace(open_result(row, self._base), **figures)
        tables.write_result(self._workdir / ROWS_FOLDER / row.name / RESULT, result)
        self._results[row.name] = result
        config = {"preset": row.name, **row.parts}
        folder = self._workdir / workdirs.TENSORBOARD
        tables.write_hyper_parameters(folder, result, config)
        self.write()

    def write(self):
        """Writes the table as Markdown and as CSV."""
        results = self.results()
        text = tables.markdown(results, self._facts)
        write_atomically(self._workdir / MARKDOWN, text)
        write_atomically(self._workdir / CSV, tables.comma_separated(results))


def open_result(row, base):
    """Returns the `RowResult` of a row that has not run."""
    change = row.change(None if row.name == base.name else base)
    return tables.RowResult(row.name, tables.OPEN, change, row.symbols())


def run_row(workdir, row, shared, children):
    """Trains and scores a row, or goes on with it.

    Args:
        workdir: directory of the table.
        row: the `Row`.
        shared: what `prepare_table` returns.
        children: the `Children` that run its processes.

    Returns:
        Dictionary of the fields of `RowResult` that are known now. A failure is a
        result, too.

    Raises:
        Stopped: a signal ended it.
    """
    folder = workdir / ROWS_FOLDER / row.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)  # a failure
    children.await_lock(row.name, folder)
    (workdir / ENCODED).mkdir(exist_ok=True)
    if not (folder / ENCODED).is_symlink():
        # All rows tokenize alike: the first writes what the others read.
        (folder / ENCODED).symlink_to(pathlib.Path("..", "..", ENCODED))
    shared.tokenizer.save(folder / workdirs.TOKENIZER)
    figures = {"parameters": count_parameters(row)}
    place, log = [f"--workdir={folder}"], folder / LOG
    told = [*place, *data_flags(shared.sources), *row_flags(row)]
    dev = [f"--{name}={workdir / path}" for name, path in DEV.items()]
    try:
        children.run(row.name, "train_translation", told, log)
        children.run(row.name, "evaluate_translation", [*place, *dev], log)
    except ChildError as error:
        children.say(row.name, f"failed: {error}")
        return {**figures, "status": tables.FAILED, "reason": str(error)}
    figures.update(scores(folder))
    children.say(
        row.name, f"ppl {figures['perplexity']:.2f}  BLEU {figures['bleu']:.2f}"
    )
    return {**figures, "status": tables.DONE}


def count_parameters(row):
    """Returns how many parameters the model of a row has."""
    return build_transformer(row.transformer).count_params()


def scores(folder):
    """Returns what a finished run wrote about itself, as fields of `RowResult`.

    Args:
        folder: workdir of the run, with `metrics.jsonl` and `bleu.json`.
    """
    records = read_metrics(folder / workdirs.METRICS)
    final = [record for record in records if record["kind"] == "final"][-1]
    report = json.loads((folder / BLEU).read_text(encoding="utf-8"))
    return {
        "steps": final["step"],
        "minutes": final["minutes"],
        "perplexity": final["perplexity"],
        "bleu": report["score"],
        "signature": report["signature"],
    }
