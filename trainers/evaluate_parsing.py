"""Scores the averaged model of a run: words of gold trees -> trees -> labelled F1.

python -m trainers.evaluate_parsing --workdir runs/p --trees wsj.23
"""

from absl import app, logging

from trainers import _flags, _paths

_flags.workdir()
_flags.define("trees", list, "files of gold trees, plain or .gz, comma-separated")
_flags.define("synthetic", bool, "the embedded corpus's test split instead of files")
_flags.define("output", str, "predicted trees (default: predicted.trees in workdir)")
_flags.define("parameter_file", str, "of EVALB (default: the rules of COLLINS.prm)")
DECODING = _flags.config_flags("decoding", omit=_flags.RESULTS)


def main():
    """Parses, scores, prints the scores, writes the trees and brackets.json."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    synthetic, output, parameters = (
        _flags.FLAGS[name].value for name in ("synthetic", "output", "parameter_file")
    )
    if synthetic and _flags.FLAGS.trees:
        raise app.UsageError("--trees has no meaning beside --synthetic")
    trees = [] if synthetic else _flags.files("trees")
    if parameters:
        _paths.readable(parameters, "--parameter_file")
    for path in trees or [None] if output else []:
        _paths.new_file(output, "--output", path)

    _flags.load_tensorflow()
    from keras_attention.evaluation.parsing import evaluate_parsing

    report = evaluate_parsing(
        workdir, trees, bool(synthetic), output, parameters, **DECODING()
    )
    logging.info(
        "%d sentences, %d trees without a word, %.1f s",
        *(report["sentences"], report["empty"], report["seconds"]),
    )
    tags = report["tagging_accuracy"]
    print(
        f"F1 = {report['f1']:.2f}  recall {report['recall']:.2f}  precision "
        f"{report['precision']:.2f}  complete match {report['complete_match']:.2f}  "
        f"tags {'-' if tags is None else f'{tags:.2f}'}"
    )


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
