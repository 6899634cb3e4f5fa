"""Scores the averaged model of a run: raw sources and references -> BLEU.

It prints sacreBLEU and the tokenised BLEU of the paper, each with how it was computed,
and what the training has cost.

python -m trainers.evaluate_translation --workdir runs/a \
    --source test.en --reference test.de
"""

from absl import logging

from trainers import _flags

_flags.workdir()
_flags.define("source", list, "files to translate, plain or .gz, comma-separated")
_flags.define("reference", list, "their raw references, comma-separated")
_flags.define("target_language", str, "de, en or fr: for the tokens of the second BLEU")
_flags.define("sustained_flops", float, "FLOP/s of a device that trained, if known")
DECODING = _flags.config_flags("decoding", omit=_flags.RESULTS)


def main():
    """Translates, scores, prints the scores with signatures, writes bleu.json."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source, reference = _flags.files("source"), _flags.files("reference")

    _flags.load_tensorflow()
    from keras_attention.evaluation.translation import evaluate_translation

    report = evaluate_translation(
        workdir,
        source,
        reference,
        _flags.FLAGS.target_language,
        _flags.FLAGS.sustained_flops,
        **DECODING(),
    )
    logging.info("%d sentences, %.1f s", report["sentences"], report["seconds"])
    for result in (report, report["tokenized_bleu"]):
        print(f"BLEU = {result['score']:.2f}  {result['signature']}")
    cost = report["training_cost"] or {}
    for name in ("counted_flops", "estimated_flops"):
        if name in cost:
            print(f"training {name} = {cost[name]:.2e}")


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
