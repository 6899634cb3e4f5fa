"""Exports the averaged model of a run as a model of CTranslate2, with its tokenizer.

python -m trainers.export_ctranslate2 --workdir runs/a --output_dir engines/a
"""

from absl import logging

from trainers import _flags, _paths, _streams

QUANTIZATIONS = ("float32", "float16", "int16", "int8", "int8_float32", "int8_float16")
_flags.workdir()
_flags.define("output_dir", str, "the folder to write; it must not exist")
_flags.define("quantization", QUANTIZATIONS, "type of the weights (default: float32)")
# They make the table of positions as long as the longest texts need.
DECODING = _flags.config_flags("decoding", "max_source_length", "max_extra_length")


def main():
    """Loads the translator of the run and writes its model."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    directory = _paths.new_directory(_flags.required("output_dir"), "--output_dir")
    quantization = _flags.FLAGS["quantization"].value or "float32"

    _streams.end_in_order()
    _flags.load_tensorflow()
    from keras_attention.decoding.translator import Translator
    from keras_attention.export.ctranslate2 import export_ctranslate2

    translator = Translator.load(workdir, **DECODING())
    print(export_ctranslate2(translator, directory, quantization))
    logging.info("exported to %s", directory)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
