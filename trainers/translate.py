"""Translates lines: --input or stdin -> --output or stdout, a line out for a line in.

python -m trainers.translate --workdir runs/a < test.en > test.de
"""

import contextlib
import gzip
import shutil
import sys

from absl import logging

from trainers import _flags, _paths

_flags.workdir()
_flags.define("input", str, "text file, plain or .gz (default: stdin)")
_flags.define("output", str, "where the translations go (default: stdout)")
DECODING = _flags.config_flags("decoding", omit=("num_hypotheses",))


def main():
    """Translates window by window, so that any length of input fits in memory."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source, target = _flags.FLAGS["input"].value, _flags.FLAGS["output"].value
    if source:
        _paths.readable(source, "--input")
    elif sys.stdin is None:
        raise OSError("stdin is closed; name --input")
    if target:
        target = _paths.new_file(target, "--output", source)
    elif sys.stdout is None:
        raise OSError("stdout is closed; name --output")

    _flags.load_tensorflow()
    from keras_attention.decoding.translator import Translator

    translator = Translator.load(workdir, **DECODING())
    # Someone who types wants an answer to each line.
    window = 1 if not source and sys.stdin.isatty() else 2_048
    count = 0
    with _input(source) as stream, _output(target) as output:
        for line in translator.translate_lines(stream, window):
            output.write(line.encode("utf-8") + b"\n")
            output.flush()
            count += 1
    logging.info("%d lines translated", count)


@contextlib.contextmanager
def _input(source):
    if not source:
        return (yield sys.stdin.buffer)
    opener = gzip.open if source.endswith(".gz") else open
    with _paths.naming_damage(source, "--input"), opener(source, "rb") as stream:
        yield stream


@contextlib.contextmanager
def _output(target):
    """Keeps the old file until the new one is whole; a pipe is written as it is."""
    from keras_attention.files import replacing

    if not target:
        return (yield sys.stdout.buffer)
    is_old = target.is_file()
    place = replacing if is_old or not target.exists() else contextlib.nullcontext
    with place(target) as path, open(path, "wb") as output:
        if is_old:
            shutil.copymode(target, path)
        yield output


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
