"""Parallel text from files or TensorFlow Datasets, pair by pair.

Every reader of the package counts lines in the same way: only a line feed ends a
line. `str.splitlines` and text mode also split at U+2028, U+0085, form feeds and
lone carriage returns, which shifts one side of a corpus against the other.
"""

import dataclasses
import gzip
import os
import zlib

MAX_MESSAGE_CHARACTERS = 300


@dataclasses.dataclass(frozen=True)
class ParallelCorpus:
    """Pairs of sentences that are translations of each other.

    Args:
        sources: list of str, one source sentence each.
        targets: list of str, as long as `sources`.
        counts: dict, "read" pairs and how many of them were "empty" (dropped).

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

    def __post_init__(self):
        if len(self.sources) != len(self.targets):
            raise ValueError(
                "A parallel corpus needs as many sources as targets. Received: "
                f"{len(self.sources)} sources and {len(self.targets)} targets."
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
        pairs = zip(sources, targets, strict=True)
        kept = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
        counts = {"read": len(sources), "empty": len(sources) - len(kept)}
        return cls([pair[0] for pair in kept], [pair[1] for pair in kept], counts)

    def __len__(self):
        return len(self.sources)

    def lines(self):
        """Returns an iterator over all sources and then all targets."""
        yield from self.sources
        yield from self.targets


def read_lines(path):
    """Reads a text file, plain or gzip (by its `.gz` name), as a list of lines.

    Only LF ends a line. A CR directly before it is dropped; any other CR becomes a
    space, so the words at its sides stay two words. Bytes that are not valid UTF-8
    become U+FFFD. A last line without LF counts; a byte order mark at the start of
    the file is dropped.

    Args:
        path: str or path-like.

    Returns:
        list of str, without line ends.

    Raises:
        ValueError: the file is missing, unreadable or damaged; the path is named.
    """
    path = os.fspath(path)
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            content = file.read()
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"Cannot read the text file {path}: {reason}. "
            "Expected a readable UTF-8 text file, gzip if it is named .gz."
        ) from error
    lines = content.decode("utf-8", errors="replace").removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r").replace("\r", " ") for line in lines]


def read_pairs(source_files, target_files):
    """Reads a parallel corpus from files, line n of one side beside line n.

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
    source_files, target_files = _as_list(source_files), _as_list(target_files)
    if len(source_files) != len(target_files) or not source_files:
        raise ValueError(
            "Expected at least one source file and as many target files. Received: "
            f"source files {source_files}, target files {target_files}."
        )
    sources, targets = [], []
    for source_file, target_file in zip(source_files, target_files, strict=True):
        source_lines, target_lines = read_lines(source_file), read_lines(target_file)
        if len(source_lines) != len(target_lines):
            raise ValueError(
                "Parallel files need equal numbers of lines. Received: "
                f"{source_file} with {len(source_lines)} and "
                f"{target_file} with {len(target_lines)} lines. "
                "Line n of one must translate line n of the other."
            )
        sources += source_lines
        targets += target_lines
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
        rows = list(examples.as_numpy_iterator())
    except Exception as error:  # TFDS raises dozens of kinds, network ones included
        reason = " ".join(str(error).split())[:MAX_MESSAGE_CHARACTERS]
        raise ValueError(
            f"Cannot read split {split!r} of the TFDS data set {name!r}: {reason}"
        ) from error
    sides = [[_text(row[side]) for row in rows] for side in (source, target)]
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


def _text(value):
    return value.decode("utf-8", errors="replace")


def _corpus(sources, targets, origin):
    try:
        return ParallelCorpus.from_pairs(sources, targets)
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from error


def _as_list(files):
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    return [os.fspath(file) for file in files]
