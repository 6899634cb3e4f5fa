"""Parallel text in memory, from files or TensorFlow Datasets, pair by pair."""

import dataclasses
import os

from keras_attention.data.lines import read_lines
from keras_attention.data.parallel_files import (
    PAIRS_A_BLOCK,
    TextBlock,
    as_pairs,
    check_equal_lines,
)

MAX_MESSAGE_CHARACTERS = 300


@dataclasses.dataclass(frozen=True)
class ParallelCorpus:
    """Pairs of sentences that are translations of each other.

    `ParallelFiles` is the same for text that need not fit into memory.

    Args:
        sources: list of str, one source sentence each.
        targets: list of str, as long as `sources`.
        counts: dict, "read" pairs and how many of them were "empty" (dropped).
        numbers: list of int, the number of each pair, from 1, among those read;
            None = none was left out.

    Raises:
        ValueError: the sides are not equally long, or hold nothing.

    Example:

    >>> corpus = ParallelCorpus.from_pairs(["a", " ", "b"], ["x", "y", "z"])
    >>> corpus.sources, corpus.targets, corpus.counts
    (['a', 'b'], ['x', 'z'], {'read': 3, 'empty': 1})
    """

    sources: list
    targets: list
    counts: dict = dataclasses.field(default_factory=dict)
    numbers: list | None = None

    def __post_init__(self):
        if len(self.sources) != len(self.targets):
            raise ValueError(
                "A parallel corpus needs as many sources as targets. Received: "
                f"{len(self.sources)} sources and {len(self.targets)} targets."
            )
        if self.numbers is not None and len(self.numbers) != len(self.sources):
            raise ValueError(
                "`numbers` must hold one number a pair, or be None. Received: "
                f"{len(self.numbers)} numbers for {len(self.sources)} pairs."
            )
        if not self.sources:
            raise ValueError(
                "The corpus holds no pair with text on both sides. "
                f"Received: {self.counts or 'no pairs'}. Check the input files."
            )

    @classmethod
    def from_pairs(cls, sources, targets):
        """Returns the pairs that have text on both sides; the others are counted."""
        sources, targets = list(sources), list(targets)
        if len(sources) != len(targets):
            return cls(sources, targets)  # refuses them and says why
        texts = TextBlock.with_text(sources, targets, first=1)
        counts = {"read": len(sources), "empty": texts.empty}
        return cls(texts.sources, texts.targets, counts, texts.numbers)

    def __len__(self):
        return len(self.sources)

    def blocks(self):
        """Returns an iterator over the corpus as `TextBlock`s."""
        numbers = self.numbers or range(1, len(self) + 1)
        empty = self.counts.get("empty", 0)
        for start in range(0, len(self), PAIRS_A_BLOCK):
            part = slice(start, start + PAIRS_A_BLOCK)
            sides = self.sources[part], self.targets[part]
            yield TextBlock(*sides, list(numbers[part]), empty if start == 0 else 0)

    def lines(self):
        """Returns an iterator over all sources and then all targets."""
        yield from self.sources
        yield from self.targets


def read_pairs(source_files, target_files):
    """Reads a parallel corpus from files into memory, line n beside line n.

    Args:
        source_files: list of paths, or one path; plain or `.gz`.
        target_files: as many paths, in the same order.

    Returns:
        A `ParallelCorpus`; a pair with an empty side (or only white space) is
        dropped and counted.

    Raises:
        ValueError: no files, different numbers of files, different numbers of lines
            (both files and numbers are named), a file that cannot be read, or no
            pair left.
    """
    source_files, target_files = as_pairs(source_files, target_files)
    sources, targets = [], []
    for source_file, target_file in zip(source_files, target_files, strict=True):
        lines = read_lines(source_file), read_lines(target_file)
        check_equal_lines(source_file, target_file, *map(len, lines))
        sources += lines[0]
        targets += lines[1]
    return _corpus(sources, targets, f"{', '.join(source_files + target_files)}")


def pairs_from_tfds(
    name, split="train", source_language=None, target_language=None, data_dir=None
):
    """Reads a translation data set of TensorFlow Datasets.

    Args:
        name: such as "wmt14_translate/de-en", or "translate_folder" for the text
            files `LANGUAGE.SPLIT.txt` in `data_dir`.
        split: such as "train", "validation" or "train[:1%]".
        source_language: feature of the source; None = the first that the data set
            (its supervised keys, or else the order of its features) names.
        target_language: feature of the target; None = the other one.
        data_dir: where the data set lies or is put; None = the default of TFDS.

    Returns:
        A `ParallelCorpus`, in the order of the data set.

    Raises:
        ValueError: a data set, split or language that is not there, or no pair left.
    """
    import tensorflow_datasets as tfds

    try:
        builder = (
            tfds.TranslateFolder(os.fspath(data_dir))
            if name == "translate_folder" and data_dir is not None
            else _prepared_builder(tfds, name, data_dir)
        )
        source, target = _languages(builder.info, source_language, target_language)
        examples = builder.as_dataset(split=split, shuffle_files=False)
        sides = _sides(examples.as_numpy_iterator(), source, target)
    except Exception as error:  # TFDS raises dozens of kinds, network ones included
        reason = " ".join(str(error).split())[:MAX_MESSAGE_CHARACTERS]
        raise ValueError(
            f"Cannot read split {split!r} of the TFDS data set {name!r}: {reason}"
        ) from error
    return _corpus(*sides, f"{name} ({split})")


def _prepared_builder(tfds, name, data_dir):
    builder = tfds.builder(name, data_dir=data_dir)
    builder.download_and_prepare()
    return builder


def _languages(info, source, target):
    """Picks the two text features of a translation data set."""
    keys = list(info.supervised_keys or info.features)
    names = list(info.features)
    others = [key for key in keys if key not in (source, target)]
    source = source or others.pop(0)
    target = target or next((key for key in others if key != source), source)
    if source == target or source not in names or target not in names:
        raise ValueError(
            f"Expected two different languages among {names}. "
            f"Received: source_language={source!r}, target_language={target!r}."
        )
    return source, target


def _sides(rows, source, target):
    """Returns all sources and all targets; of a row nothing else is kept."""
    sides = [], []
    for row in rows:
        for texts, language in zip(sides, (source, target), strict=True):
            texts.append(row[language].decode("utf-8", errors="replace"))
    return sides


def _corpus(sources, targets, origin):
    try:
        return ParallelCorpus.from_pairs(sources, targets)
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from error
