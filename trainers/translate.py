"""Translates lines: --input or stdin -> --output or stdout, a line out for a line in.

python -m trainers.translate --workdir runs/a < test.en > test.de
"""

import contextlib
import gzip
import sys

from absl import logging

from trainers import _flags

_flags.workdir()
_flags.define("input", str, "text file, plain or .gz (default: stdin)")
_flags.define("output", str, "where the translations go (default: stdout)")
DECODING = _flags.config_flags("decoding", omit=("num_hypotheses",))


def main():
    """Translates window by window, so that any length of input fits in memory."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source, target = _flags.FLAGS["input"].value, _flags.FLAGS["output"].value
    with contextlib.ExitStack() as stack:
        stream, output = sys.stdin.buffer, sys.stdout.buffer
        if source:
            _flags.readable(source, "--input")
            opener = gzip.open if source.endswith(".gz") else open
            stream = stack.enter_context(opener(source, "rb"))
        if target:
            _flags.new_file(target, "--output", source)
            output = stack.enter_context(open(target, "wb"))

        _flags.load_tensorflow()
        from keras_attention.decoding.translator import Translator

        # Someone who types wants an answer to each line.
        window = 1 if source is None and sys.stdin.isatty() else 2_048
        lines = Translator.load(workdir).translate_lines(stream, window, **DECODING())
        count = 0
        for line in lines:
            output.write(line.encode("utf-8") + b"\n")
            output.flush()
            count += 1
    logging.info("%d lines translated", count)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
