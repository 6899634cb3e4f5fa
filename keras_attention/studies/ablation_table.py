"""The table of an ablation: Markdown, CSV, and rows of TensorBoard's HParams tab."""

import csv
import dataclasses
import io
import json
import pathlib
import shutil
import typing

import tensorflow as tf

from keras_attention.files import parse_object, write_atomically
from keras_attention.studies.ablation_rows import BASE, PAPER
from keras_attention.training.hyper_parameters import (
    session_end,
    session_start,
    table_of_runs,
)

DONE, FAILED, OPEN = "done", "failed", "open"
# tag -> name of the column
METRICS = {
    "dev/perplexity": "dev perplexity a piece",
    "dev/bleu": "dev BLEU",
    "dev/parameters": "parameters",
    "dev/steps": "updates",
}
_ESCAPED = r"\|"
_TITLES = (
    "row",
    "change from base",
    "parameters",
    "train steps",
    "ppl (dev)",
    "BLEU (dev)",
    "paper's ppl",
    "paper's BLEU",
)


@dataclasses.dataclass(frozen=True)
class RowResult:
    """What is known of a row.

    Args:
        row: its name.
        status: "done", "failed" or "open" (not run yet).
        change: what differs from the base, in words.
        values: what Table 3 varies, by the symbols of the paper.
        parameters: of the model; None where no row was begun.
        steps: updates done.
        minutes: of training.
        perplexity: of the dev set, a piece of the shared vocabulary, END counted.
        bleu: of the dev set.
        signature: how BLEU was computed.
        reason: why it failed.
    """

    row: str
    status: str
    change: str
    values: dict
    parameters: int | None = None
    steps: int | None = None
    minutes: float | None = None
    perplexity: float | None = None
    bleu: float | None = None
    signature: str | None = None
    reason: str | None = None


def write_result(path, result):
    """Writes a `RowResult` as JSON, whole or not at all."""
    text = json.dumps(dataclasses.asdict(result), indent=2, ensure_ascii=False)
    write_atomically(path, text + "\n")


def read_result(path):
    """Returns the `RowResult` of a file, or None if it is missing.

    Raises:
        ValueError: the file is not what `write_result` writes.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return None
    try:
        result = RowResult(**parse_object(path.read_bytes()))
        for name, kind in typing.get_type_hints(RowResult).items():
            value = getattr(result, name)
            if not isinstance(value, kind | int if isinstance(0.0, kind) else kind):
                raise ValueError(f"{name}={str(value)[:80]!r}")
        return result
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path} must hold the result of a row. Received: {error}. Delete the "
            "file; the row is then scored again."
        ) from error


def markdown(results, facts):
    """Returns the table as Markdown.

    Args:
        results: list of `RowResult`.
        facts: list of str, one line each, about what all rows share.

    Example:

    >>> row = RowResult("C_n2", "done", "N=2", {}, 33644544, 100_000, 9.0, 6.5, 23.1)
    >>> print(markdown([row], ["One budget: 100000 updates"]).splitlines()[2])
    | C_n2 | N=2 | 33 644 544 | 100 000 | 6.50 | 23.10 | 6.11 | 23.7 |
    """
    lines = [_line(_TITLES), _line(["---", "---", *["---:"] * (len(_TITLES) - 2)])]
    lines += [_line(_cells(result)) for result in results]
    notes = [f"- {fact}." for fact in facts]
    signatures = sorted({r.signature for r in results if r.signature})
    notes += [f"- Signature of BLEU: `{signature}`." for signature in signatures]
    notes += [
        f"- {result.row} failed: {result.reason}"
        for result in results
        if result.status == FAILED
    ]
    return "\n".join([*lines, "", *notes]) + "\n"


def _cells(result):
    paper_perplexity, paper_bleu = PAPER[result.row]
    ppl, bleu = (
        result.status if number is None else f"{number:.2f}"
        for number in (result.perplexity, result.bleu)
    )
    whole = [_grouped(number) for number in (result.parameters, result.steps)]
    paper = [f"{paper_perplexity:.2f}", f"{paper_bleu:.1f}"]
    return [result.row, result.change, *whole, ppl, bleu, *paper]


def _grouped(number):
    return "" if number is None else f"{number:,}".replace(",", " ")


def _line(cells):
    return f"| {' | '.join(cell.replace('|', _ESCAPED) for cell in cells)} |"


def comma_separated(results):
    """Returns the table as CSV, all digits kept, with what each row is made of."""
    fields = [f.name for f in dataclasses.fields(RowResult) if f.name != "values"]
    symbols = list(results[0].values)
    columns = [*fields, *symbols, "paper_perplexity", "paper_bleu"]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for result in results:
        row = dataclasses.asdict(result)
        paper = zip(columns[-2:], PAPER[result.row], strict=True)
        writer.writerow({**row.pop("values"), **row, **dict(paper)})
    return text.getvalue()


def write_hyper_parameters(directory, result, config):
    """Writes a row for TensorBoard's HParams tab, in place of an earlier one.

    Args:
        directory: of the whole table's event files; the row has its own in it.
        result: a `RowResult`.
        config: its configurations and, as "preset", its name.
    """
    folder = pathlib.Path(directory) / result.row
    shutil.rmtree(folder, ignore_errors=True)
    writer = tf.summary.create_file_writer(str(folder))
    succeeded = result.status == DONE
    with writer.as_default(result.steps or 0):
        for proto in (table_of_runs(METRICS), session_start(config)):
            tf.summary.experimental.write_raw_pb(proto.SerializeToString())
        for tag in METRICS:
            value = getattr(result, tag.removeprefix("dev/"))
            if value is not None:
                tf.summary.scalar(tag, float(value))
        proto = session_end(succeeded)
        tf.summary.experimental.write_raw_pb(proto.SerializeToString())
    writer.close()


def base_first(results):
    """Returns the results in the order of the paper."""
    order = [BASE, *(name for name in PAPER if name != BASE)]
    return sorted(results, key=lambda result: order.index(result.row))
