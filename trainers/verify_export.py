"""Checks that a server can run an exported version, and translates as the run does.

python -m trainers.verify_export --version_dir saved_models/a/1 --workdir runs/a
"""

from absl import app, logging

from trainers import _flags, _paths, _streams

_flags.workdir()
_flags.define("version_dir", str, "saved_models/NAME/VERSION, the folder to check")
_flags.define("input", str, "text to compare, 1 000 lines of it (default: made up)")
_flags.define("package", str, "folder of another TensorFlow to run it with")


def main():
    """Checks the version, and prints what was measured."""
    version = _paths.existing_directory(_flags.required("version_dir"), "--version_dir")
    values = {
        name: _flags.FLAGS[name].value for name in ("workdir", "input", "package")
    }
    if values["input"] and not values["workdir"]:
        raise app.UsageError("--input has no meaning without --workdir")
    if values["workdir"]:
        _flags.existing_workdir("model.keras", "tokenizer")
    if values["input"]:
        _paths.readable(values["input"], "--input")
    if values["package"]:
        _paths.existing_directory(values["package"], "--package")

    _flags.load_tensorflow()
    from keras_attention.export.verify import verify_saved_model

    translator = _translator(version, values["workdir"]) if values["workdir"] else None
    texts = _streams.compared(values["input"])
    report = verify_saved_model(version, translator, texts, values["package"])
    logging.info(
        "loaded by TensorFlow %s in %.1f s", report.engine, report.load_seconds
    )
    for key, first in report.first_seconds.items():
        logging.info(
            "%s: %.1f ms after the warm-up, then %.1f ms; without it %.1f ms",
            *(key, 1e3 * first, 1e3 * report.steady_seconds[key]),
            1e3 * report.cold_seconds[key],
        )
    logging.info("%d warm-up requests answered", report.replayed)
    if report.compared:
        logging.info(
            "%d translations equal, scores within %.1e",
            *(report.compared, report.largest_difference),
        )
    print(version)


def _translator(version, workdir):
    """Returns the translator of the run, with the settings of the export."""
    from keras_attention.decoding.translator import Translator
    from keras_attention.export.checksums import exported_settings

    return Translator.load(workdir, **exported_settings(version))


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
