"""Exports the averaged model of a run as a SavedModel: strings in, strings out.

python -m trainers.export_translation --workdir runs/a --export_dir saved_models/a
"""

from absl import logging

from trainers import _flags, _paths, _streams

_flags.workdir()
_flags.define("export_dir", str, "saved_models/NAME; the new version goes below it")
_flags.define(
    "max_beam_size",
    int,
    "of a request to the signature nbest (default: 16, or its own)",
)
_flags.define("input", str, "text to compare, 1 000 lines of it (default: made up)")
DECODING = _flags.config_flags("decoding", omit=_flags.NOT_EXPORTED)


def main():
    """Loads the translator of the run and writes its next version."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    source = _flags.FLAGS.input
    if source:
        _paths.readable(source, "--input")
    directory = _paths.writable_directory(_flags.required("export_dir"), "--export_dir")

    _streams.end_in_order()
    _flags.load_tensorflow()
    from keras_attention.decoding.translator import Translator
    from keras_attention.export.saved_model import export_saved_model

    translator = Translator.load(workdir, **DECODING())
    widest = _flags.FLAGS.max_beam_size
    texts = _streams.compared(source)
    version = export_saved_model(translator, directory, workdir, widest, texts)
    logging.info("exported to %s", version)
    print(version)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
