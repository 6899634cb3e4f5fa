"""What a run says about itself: a line for people, a file for programs."""

import json
import logging
import math
import os
import pathlib
import sys
import time

from keras_attention.files import parse_object, write_atomically

_LOGGER = logging.getLogger(__name__)
_SHOWN = ("nll", "perplexity", "token_accuracy", "bleu", "learning_rate")


class MetricsLog:
    """`metrics.jsonl`: one JSON object a record, in the order of the updates.

    A run that goes on from a checkpoint first drops the records past it, so no update
    is told twice.

    Args:
        path: of the file.
    """

    def __init__(self, path):
        self._path = pathlib.Path(path)
        self._stream = None

    def open_at(self, step, validated=True):
        """Opens the file to go on after a number of updates.

        Args:
            step: later records, and at 0 all records, are removed.
            validated: False removes the validation at `step` as well.
        """
        kept = [r for r in read_metrics(self._path) if _stays(r, step, validated)]
        write_atomically(self._path, "".join(_line(record) for record in kept))
        self._stream = open(self._path, "a", encoding="utf-8")

    def write(self, record):
        """Appends a record; a reader sees it at once."""
        self._stream.write(_line(record))
        self._stream.flush()

    def sync(self):
        """Makes sure that what was written outlives a power cut."""
        os.fsync(self._stream.fileno())

    def close(self):
        """Closes the file, if it was opened."""
        if self._stream is not None:
            self._stream.close()


def append_metrics(path, record):
    """Appends a record to a `metrics.jsonl`, beside a run that may be writing to it.

    Args:
        path: of the file, made if it is missing.
        record: dictionary with at least "kind" and "step".
    """
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(_line(record))


def read_metrics(path):
    """Returns the records of a `metrics.jsonl`; a last line cut short is left out.

    Args:
        path: of the file, which may be missing.

    Raises:
        ValueError: a line before the last is not a JSON object.

    Example:

    >>> read_metrics("/no/such/metrics.jsonl")
    []
    """
    path = pathlib.Path(path)
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # the last one is "" or torn
        try:
            records.append(_record(line))
        except ValueError as error:
            raise ValueError(
                f"{path} must hold one JSON object a line. Received in line {number}: "
                f"{line[:80]!r} ({error}). Move the file away to go on without its "
                "history."
            ) from error
    return records


def _record(line):
    record = parse_object(line, finite=False)  # a perplexity may overflow
    if not isinstance(record.get("kind"), str) or type(record.get("step")) is not int:
        raise ValueError("no kind that is a text, or no step that is a whole number")
    return record


def _stays(record, step, validated):
    kind = record["kind"]
    if kind == "validation" and record["step"] == step and not validated:
        return False
    return 0 < step >= record["step"] and kind not in ("average", "final", "end")


def _line(record):
    return json.dumps(record, ensure_ascii=False) + "\n"


class Progress:
    """Tells people how a run goes: a line that renews itself, or lines in a log.

    Args:
        max_steps: updates of the whole run.
        max_minutes: of training of the whole run, or None.
        stream: to write to; standard error by default.
    """

    def __init__(self, max_steps, max_minutes=None, stream=None):
        self._max_steps = max_steps
        self._max_minutes = max_minutes
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._width = 0
        self._shown_at = -math.inf

    def say(self, text):
        """Writes a line that stays."""
        end = " " * max(0, self._width - len(text)) + "\n"
        self._width = 0
        stamp = time.strftime("%H:%M:%S")
        self._stream.write(("\r" if self._live else f"{stamp} ") + text + end)
        self._stream.flush()

    def debug(self, text):
        """Writes a line that stays if details are asked for (`--verbosity 1`)."""
        if _LOGGER.isEnabledFor(logging.DEBUG):
            self.say(text)

    def is_due(self):
        """Says whether the line that renews itself is older than a second."""
        return self._live and time.monotonic() - self._shown_at >= 1

    def close(self):
        """Ends the line that renews itself, so that what follows has its own."""
        if self._width:
            self._width = 0
            self._stream.write("\n")
            self._stream.flush()

    def train(self, record, seconds, step_seconds):
        """Shows a record of training.

        Args:
            record: as in `metrics.jsonl`.
            seconds: of training so far.
            step_seconds: that an update takes at present.
        """
        rates = (
            f"{record['source_tokens_per_second']:.0f}"
            f"+{record['target_tokens_per_second']:.0f} tokens/s"
        )
        left = duration(self.seconds_left(record["step"], seconds, step_seconds))
        step = f"step {record['step']}/{self._max_steps}"
        if not self._live:
            self.say(f"{step}  {shown(record)}  {rates}  {left} left")
            return
        figures = f"nll {record['nll']:.4g}  lr {record['learning_rate']:.3g}"
        self._renew(f"{step}  {figures}  {rates}  {left} left")

    def _renew(self, text):
        # A line that wraps could not be overwritten.
        text = text[: _columns(self._stream) - 1]
        self._stream.write("\r" + text + " " * max(0, self._width - len(text)))
        self._stream.flush()
        self._width = len(text)
        self._shown_at = time.monotonic()

    def seconds_left(self, step, seconds, step_seconds):
        """Returns an estimate of the seconds until the last update."""
        left = max(0, self._max_steps - step) * step_seconds
        if self._max_minutes is not None:
            left = min(left, max(0.0, self._max_minutes * 60 - seconds))
        return left


def _columns(stream):
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:  # not a terminal of this system
        return 80


def shown(record):
    """Returns the figures of a record as text.

    Example:

    >>> shown({"nll": 2.5, "bleu": 31.25})
    'nll 2.5  bleu 31.25'
    """
    return "  ".join(
        f"{name} {record[name]:.4g}" for name in _SHOWN if record.get(name) is not None
    )


def duration(seconds):
    """Returns seconds as hours, minutes and seconds.

    Example:

    >>> duration(3725)
    '1:02:05'
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
