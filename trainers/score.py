"""Scores translations: --source, --target -> the log-probability of every target line.

python -m trainers.score --workdir runs/a --source test.en --target test.de
"""

import itertools

from absl import app, logging

from trainers import _ensembles, _flags, _streams

FORMATS = ("text", "jsonl")
_flags.workdir()
_flags.define("source", list, "files with a sentence a line, plain or .gz")
_flags.define("target", list, "files with their translations, plain or .gz")
_flags.define("output", str, "where the scores go (default: stdout)")
_flags.define("format", FORMATS, "sums, or objects with all pieces (default: text)")
ENSEMBLE = _ensembles.ensemble_flags()
DECODING = _flags.config_flags("decoding", "max_source_length", "batch_tokens")


def main():
    """Scores window by window, so that any length of input fits in memory."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    sources, targets = _flags.files("source"), _flags.files("target")
    if len(sources) != len(targets):
        raise app.UsageError(
            "--source and --target must name as many files; received "
            f"{len(sources)} and {len(targets)}"
        )
    ensemble = ENSEMBLE()
    output, form = (_flags.FLAGS[name].value for name in ("output", "format"))
    output = _streams.checked_output(output, *sources, *targets)

    _flags.load_tensorflow()
    from keras_attention.decoding.formats import ScoreLines
    from keras_attention.decoding.lines import scored
    from keras_attention.decoding.translator import Translator

    translator = Translator.load(workdir, **ensemble, **DECODING())
    found = itertools.chain.from_iterable(
        scored(
            translator,
            (source, _streams.lines(source, "--source")),
            (target, _streams.lines(target, "--target")),
        )
        for source, target in zip(sources, targets, strict=True)
    )
    as_line, count = ScoreLines(form or "text", translator), 0
    with _streams.writing(output) as write:
        for ids, log_probs in found:
            write(as_line(ids, log_probs))
            count += 1
    logging.info("%d lines scored", count)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
