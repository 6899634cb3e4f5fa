"""Translates lines: --input or stdin -> --output or stdout, a line out for a line in.

python -m trainers.translate --workdir runs/a < test.en > test.de
"""

import sys

from absl import logging

from trainers import _ensembles, _flags, _paths, _search_flags, _streams

FORMATS = ("text", "nbest", "jsonl")
_flags.workdir()
_flags.define("input", str, "text file, plain or .gz (default: stdin)")
_flags.define("output", str, "where the translations go (default: stdout)")
_flags.define("prefix", str, "text file, a line a line: how translations begin")
_flags.define("format", FORMATS, "the best, all, or objects with all (default: text)")
_flags.define("minimum_bayes_risk", int, "draw so many; take the one most like them")
ENSEMBLE = _ensembles.ensemble_flags()
DECODING = _flags.config_flags("decoding")


def main():
    """Translates window by window, so that any length of input fits in memory."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source, prefix, target, form, samples = (
        _flags.FLAGS[name].value
        for name in ("input", "prefix", "output", "format", "minimum_bayes_risk")
    )
    form = form or "text"
    decoding = _search_flags.checked_search(DECODING(), form, samples)
    ensemble = ENSEMBLE()
    _streams.checked_input(source)
    prefixes = None
    if prefix:
        _paths.readable(prefix, "--prefix")
        prefixes = prefix, _streams.lines(prefix, "--prefix")
    target = _streams.checked_output(target, source, *filter(None, [prefix]))

    _flags.load_tensorflow()
    from keras_attention.decoding.formats import TranslationLines
    from keras_attention.decoding.lines import translated, window_of
    from keras_attention.decoding.translator import Translator
    from keras_attention.evaluation.minimum_bayes_risk import least_risky

    translator = Translator.load(workdir, **ensemble, **decoding)
    # Someone who types wants an answer to each line.
    types = not source and sys.stdin.isatty()
    window = 1 if types else window_of(translator.decoding_config)
    lines, name = _streams.lines(source, "--input"), source or "stdin"
    found = translated(translator, lines, window, name, prefixes)
    if samples:
        found = map(least_risky, found)
    as_lines, count = TranslationLines(form, translator), 0
    with _streams.writing(target) as write:
        for translation in found:
            write(as_lines(count, translation))
            count += 1
    logging.info("%d lines translated", count)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
