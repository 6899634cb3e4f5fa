"""Scores the averaged model of a run: raw sources and references -> sacreBLEU.

python -m trainers.evaluate_translation --workdir runs/a \
    --source test.en --reference test.de
"""

from absl import logging

from trainers import _flags

_flags.workdir()
_flags.define("source", list, "files to translate, plain or .gz, comma-separated")
_flags.define("reference", list, "their raw references, comma-separated")
DECODING = _flags.config_flags("decoding", omit=_flags.RESULTS)


def main():
    """Translates, scores, prints the score with its signature, writes bleu.json."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source, reference = _flags.files("source"), _flags.files("reference")

    _flags.load_tensorflow()
    from keras_attention.evaluation.translation import evaluate_translation

    report = evaluate_translation(workdir, source, reference, **DECODING())
    logging.info("%d sentences, %.1f s", report["sentences"], report["seconds"])
    print(f"BLEU = {report['score']:.2f}  {report['signature']}")


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
