"""Shows what every head attends to: a page, pictures, a report of what heads do.

python -m trainers.visualize_attention --workdir runs/a --input test.en --output a.html
"""

from absl import logging

from trainers import _attention_flags, _flags

_flags.workdir()
SIDES = _attention_flags.text_flags()
OUTPUTS = _attention_flags.output_flags()
DECODING = _flags.config_flags(
    *("decoding", "beam_size", "length_penalty_alpha", "max_extra_length"),
    *("max_source_length", "batch_tokens"),
)


def main():
    """Translates, or forces the targets, and writes the files."""
    workdir = _flags.existing_workdir("model.keras", "tokenizer")
    sides, read = SIDES()
    outputs, choice = OUTPUTS(read)

    _flags.load_tensorflow()
    from keras_attention.decoding.translator import Translator
    from keras_attention.evaluation.attended_sentences import attended_lines
    from keras_attention.evaluation.attention_files import (
        PictureChoice,
        write_attention,
    )

    choice = PictureChoice(**choice)
    translator = Translator.load(workdir, **DECODING())
    written = write_attention(
        attended_lines(translator, *sides),
        outputs,
        choice,
        title=f"Attention of {workdir.resolve().name}",
    )
    if written.report:
        total = written.report.sentences
        logging.info("%d sentences, %d on the page", total, written.on_page)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
