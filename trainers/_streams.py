"""Streams of lines in and out: files, gzip files, stdin and stdout."""

import contextlib
import gzip
import itertools
import pathlib
import shutil
import signal
import sys

from trainers import _paths

MOST_LINE_BYTES = 1 << 28  # a few megabytes of gzip can unpack to far more
MOST_COMPARED = 1_000  # lines that an export is compared on


def end_in_order():
    """Has SIGTERM end the process as Ctrl-C does: what is unfinished is removed."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def checked_output(target, *sources):
    """Returns --output as a path that can be written, or None for stdout.

    Args:
        target: value of the flag, or None.
        *sources: paths of the files that are read; None stands for stdin.
    """
    if not target:
        if sys.stdout is None:
            raise OSError("stdout is closed; name --output")
        return None
    paths = [_paths.new_file(target, "--output", source) for source in sources]
    return paths[0]


def checked_input(source):
    """Raises unless --input, or stdin where it is None, can be read."""
    if source:
        _paths.readable(source, "--input")
    elif sys.stdin is None:
        raise OSError("stdin is closed; name --input")


def lines(source, what):
    """Yields the lines of a file, plain or .gz, or of stdin where `source` is None."""
    if not source:
        return (yield from _bounded(sys.stdin.buffer, "stdin"))
    opener = gzip.open if source.endswith(".gz") else open
    with _paths.naming_damage(source, what), opener(source, "rb") as stream:
        yield from _bounded(stream, f"{what}: {source}")


def _bounded(stream, name):
    while line := stream.readline(MOST_LINE_BYTES + 1):
        if len(line) > MOST_LINE_BYTES:
            raise ValueError(f"{name} has a line of more than {MOST_LINE_BYTES} bytes")
        yield line


def compared(source):
    """Returns the texts of --input that an export is compared on, None without it."""
    if not source:
        return None
    first = itertools.islice(lines(source, "--input"), MOST_COMPARED)
    return [line.rstrip(b"\r\n") for line in first]


def count(source):
    """Returns how many lines `lines` gives, or None where that is not known before."""
    if not source or not pathlib.Path(source).is_file():
        return None
    return sum(1 for _ in lines(source, "--input"))


@contextlib.contextmanager
def writing(target):
    """Gives a function that writes text at once, as UTF-8, to a file or to stdout.

    An old file is kept until the new one is whole; a pipe is written as it is.
    """
    with _binary(target) as output:

        def write(text):
            output.write(text.encode("utf-8"))
            output.flush()

        yield write


@contextlib.contextmanager
def _binary(target: pathlib.Path | None):
    from keras_attention.files import replacing

    if not target:
        return (yield sys.stdout.buffer)
    end_in_order()
    is_old = target.is_file()
    place = replacing if is_old or not target.exists() else contextlib.nullcontext
    with place(target) as path, open(path, "wb") as output:
        if is_old:
            shutil.copymode(target, path)
        yield output
