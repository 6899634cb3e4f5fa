"""Learns the subword model of a run: text -> WORKDIR/tokenizer.

python -m trainers.learn_vocabulary --workdir runs/a --vocabulary_size 8000 \
    --train_source train.en --train_target train.de
"""

import pathlib

from absl import app, logging

from trainers import _flags, _paths

_flags.workdir()
CORPUS = _flags.corpus()
VOCABULARY = _flags.config_flags("transformer", "vocabulary_size")
KIND = _flags.config_flags("training", "tokenizer_kind")


def main():
    """Learns the model from the training text and saves it."""
    _flags.required("vocabulary_size")
    corpus = CORPUS()
    workdir = pathlib.Path(_flags.required("workdir"))
    for name in ("config.json", "tokenizer/tokenizer.json"):
        if (workdir / name).exists():
            raise app.UsageError(
                f"--workdir: {workdir} already holds {name}; a run cannot change its "
                "pieces: name another directory"
            )
    _paths.writable_directory(workdir)

    _flags.load_tensorflow()
    from keras_attention.data.tokenizer import SubwordTokenizer
    from keras_attention.training.sources import load_corpora

    train, _ = load_corpora(**corpus)
    tokenizer = SubwordTokenizer.learn_from_lines(
        train.lines(),
        VOCABULARY()["vocabulary_size"],
        kind=KIND().get("tokenizer_kind", "bpe"),
    )
    tokenizer.save(workdir / "tokenizer")
    logging.info(
        "%s: %d %s pieces from %d pairs",
        workdir / "tokenizer",
        tokenizer.vocabulary_size,
        tokenizer.kind,
        len(train),
    )


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
