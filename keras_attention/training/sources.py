"""Where a run's text comes from: files, TensorFlow Datasets or the embedded corpus."""

from typing import NamedTuple

from keras_attention.data.corpora import ParallelCorpus, pairs_from_tfds, read_pairs
from keras_attention.data.parallel_files import ParallelFiles
from keras_attention.data.tree_corpora import TreeFiles, load_trees

TRAIN_SPLIT, VALID_SPLIT = "train", "validation"
SYNTHETIC_PAIRS = {"train": 100_000, "valid": 1_000}


class Corpora(NamedTuple):
    """The pairs of a run: to learn from, and to validate with (or None)."""

    train: ParallelCorpus | ParallelFiles | TreeFiles
    valid: ParallelCorpus | None = None


def load_corpora(
    train_source=None,
    train_target=None,
    valid_source=None,
    valid_target=None,
    tfds=None,
    tfds_data_dir=None,
    source_language=None,
    target_language=None,
    synthetic=False,
    trees=None,
):
    """Reads the training and the validation pairs of a run.

    The arguments are plain values, so that `config.json` can record them, and carry
    the names of the binaries' flags.

    Args:
        train_source, train_target: lists of text files, line n beside line n.
        valid_source, valid_target: the same for validation; may be left out.
        tfds: name of a translation data set of TensorFlow Datasets; its splits
            "train" and "validation" are read.
        tfds_data_dir: where that data set lies.
        source_language, target_language: its features, such as "en" and "de".
        synthetic: True reads the embedded English-German corpus.
        trees: arguments of `load_trees`, for a run that learns to parse.

    Returns:
        `Corpora`. Files to learn from stay files, which may exceed the memory.

    Raises:
        ValueError: not exactly one of files, `tfds`, `synthetic` and `trees`, one
            side without the other, or text that cannot be read.
    """
    given = {
        "train_source and train_target": bool(train_source or train_target),
        "tfds": bool(tfds),
        "synthetic": bool(synthetic),
        "trees": bool(trees),
    }
    named = [name for name, is_given in given.items() if is_given]
    if len(named) != 1:
        raise ValueError(
            f"Expected exactly one of {'; '.join(given)}. "
            f"Received: {'; '.join(named) or 'none of them'}."
        )
    if trees:
        return Corpora(*load_trees(**trees))
    if synthetic:
        return Corpora(*map(synthetic_pairs, ("train", "valid")))
    if tfds:
        languages = (source_language, target_language, tfds_data_dir)
        return Corpora(
            pairs_from_tfds(tfds, TRAIN_SPLIT, *languages),
            pairs_from_tfds(tfds, VALID_SPLIT, *languages),
        )
    valid = None
    if valid_source or valid_target:
        valid = read_pairs(valid_source or [], valid_target or [])
    return Corpora(ParallelFiles(train_source or [], train_target or []), valid)


def synthetic_pairs(split):
    """Returns the first `SYNTHETIC_PAIRS[split]` pairs of the embedded corpus."""
    from keras_attention.data.synthetic import synthetic_corpus

    examples = synthetic_corpus(split, SYNTHETIC_PAIRS[split])
    return ParallelCorpus.from_pairs(
        [example.source for example in examples],
        [example.target for example in examples],
    )
