"""Has a server translate lines: --input or stdin -> --output or stdout.

python -m trainers.request_translation --address localhost:8500 --model en-de < test.en
"""

import functools
import sys

from absl import app, logging

from trainers import _flags, _streams

FORMATS, PROTOCOLS = ("text", "nbest", "jsonl"), ("grpc", "rest")
CLIENT = {
    "version": (int, "number of the version (default: the newest)"),
    "protocol": (PROTOCOLS, "kind of the port (default: grpc)"),
    "deadline_seconds": (float, "of a request with its retries (default: 60)"),
    "retries": (int, "further tries where no server answers (default: 5)"),
    "max_message_bytes": (int, "of an answer (default: 67108864)"),
}
STREAM = {
    "batch_size": (int, "lines of a request, most a server's batch (default: 32)"),
    "in_flight": (int, "requests under way at once (default: 4)"),
}
_flags.define("address", str, "HOST:PORT of TensorFlow Serving, or a URL for rest")
_flags.define("model", str, "name that the server knows the model by")
_flags.define("input", str, "text file, plain or .gz (default: stdin)")
_flags.define("output", str, "where the translations go (default: stdout)")
_flags.define("format", FORMATS, "the best, all, or objects with all (default: text)")
for name, (kind, what) in {**CLIENT, **STREAM}.items():
    _flags.define(name, kind, what)
NAMES = ("num_hypotheses", "beam_size", "length_penalty_alpha", "max_extra_length")
SEARCH = _flags.config_flags("decoding", *NAMES)


def main():
    """Sends the lines in requests of a few, several at once, and writes in order."""
    address, model = (_flags.required(name) for name in ("address", "model"))
    source, target, form = (
        _flags.FLAGS[name].value for name in ("input", "output", "format")
    )
    form, search = form or "text", SEARCH()
    for name in search if form == "text" else ():
        raise app.UsageError(f"--{name} has no meaning with --format text; take nbest")
    _streams.checked_input(source)
    target = _streams.checked_output(target, source)

    _flags.load_tensorflow()
    from keras_attention.export.client import TranslationClient
    from keras_attention.export.client_formats import ServedLines
    from keras_attention.export.client_stream import stream

    options = _given(STREAM)
    if not source and sys.stdin.isatty():  # who types wants an answer to each line
        options = {"batch_size": 1, "in_flight": 1}
    as_lines, count = ServedLines(form), 0
    with TranslationClient(address, model, **_given(CLIENT)) as client:
        nbest = functools.partial(client.nbest, **search)
        call = client.translate if form == "text" else nbest
        lines = source or "stdin", _streams.lines(source, "--input")
        total = _streams.count(source)
        with _streams.writing(target) as write:
            for answer in stream(call, lines, total=total, **options):
                write(as_lines(count, answer))
                count += 1
    logging.info("%d lines translated", count)


def _given(table):
    values = {name: _flags.FLAGS[name].value for name in table}
    return {name: value for name, value in values.items() if value is not None}


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
