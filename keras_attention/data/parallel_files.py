"""Parallel text that stays in its files: for corpora larger than the memory."""

import hashlib
import itertools
import os
from typing import NamedTuple

from keras_attention.data.lines import iterate_lines, scan_file

PAIRS_A_BLOCK = 4_096


class TextBlock(NamedTuple):
    """Some pairs of a corpus in its order.

    Args:
        sources, targets: lists of str, equally long, with text in all of them.
        numbers: list of int, the line number of each pair, from 1.
        empty: number of pairs left out because a side has no text.

    Example:

    >>> TextBlock.with_text(["a", " ", "b"], ["x", "y", "z"], first=7)
    TextBlock(sources=['a', 'b'], targets=['x', 'z'], numbers=[7, 9], empty=1)
    """

    sources: list
    targets: list
    numbers: list
    empty: int

    @classmethod
    def with_text(cls, sources, targets, first):
        """Returns the pairs with text on both sides, of lines from `first` on."""
        kept = [
            number
            for number, pair in enumerate(zip(sources, targets, strict=True))
            if pair[0].strip() and pair[1].strip()
        ]
        empty = len(sources) - len(kept)
        if empty:
            sources = [sources[number] for number in kept]
            targets = [targets[number] for number in kept]
        return cls(sources, targets, [first + number for number in kept], empty)


class ParallelFiles:
    """A parallel corpus in text files, line n of one side beside line n.

    The files are read once when it is made, to count and to fingerprint their lines,
    and again by each use; no text is kept. What a line is says `read_lines`.

    Args:
        source_files: list of paths, or one path; plain or `.gz`.
        target_files: as many paths, in the same order.

    Raises:
        ValueError: no files, different numbers of files, different numbers of lines
            (both files and numbers are named), or a file that cannot be read.

    Example:

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "en").write_text("a dog\\n\\na cat\\n")
    >>> _ = (folder / "de").write_text("ein Hund\\nx\\neine Katze\\n")
    >>> files = ParallelFiles(folder / "en", folder / "de")
    >>> len(files), list(files.lines())
    (3, ['a dog', 'a cat', 'ein Hund', 'eine Katze'])
    """

    def __init__(self, source_files, target_files):
        self.source_files, self.target_files = as_pairs(source_files, target_files)
        self._lines = []
        self._facts = {}
        digest = hashlib.sha256()
        for pair in zip(self.source_files, self.target_files, strict=True):
            self._facts.update(file_facts(pair))
            source, target = map(scan_file, pair)
            check_equal_lines(*pair, source.lines, target.lines)
            self._lines.append(source.lines)
            digest.update(f"{source.sha256} {target.sha256} ".encode())
        self.sha256 = digest.hexdigest()

    def __len__(self):
        return sum(self._lines)

    @property
    def origin(self):
        """The names of the files, for messages."""
        return ", ".join(self.source_files + self.target_files)

    def blocks(self):
        """Returns an iterator over the corpus, some thousand pairs at a time.

        Returns:
            Iterator over `TextBlock`; lines are numbered over all files of a side.

        Raises:
            ValueError: a file is not the one that was counted.
        """
        first = 1
        for source_file, target_file, expected in zip(
            self.source_files, self.target_files, self._lines, strict=True
        ):
            sides = iterate_lines(source_file), iterate_lines(target_file)
            end = first + expected
            while True:
                texts = [list(itertools.islice(s, PAIRS_A_BLOCK)) for s in sides]
                if len(texts[0]) != len(texts[1]) or not texts[0]:
                    break
                yield TextBlock.with_text(*texts, first)
                first += len(texts[0])
            now = file_facts([source_file, target_file])
            same = all(now.get(f) == self._facts[f] for f in (source_file, target_file))
            if first != end or any(texts) or not same:
                raise ValueError(
                    f"{source_file} or {target_file} changed while they were read. "
                    f"Expected {expected} lines and the size and time of change that "
                    "they had when they were counted. Received: others. Start again "
                    "when they are complete."
                )

    def lines(self):
        """Returns an iterator over all sources and then all targets with a partner."""
        for block in self.blocks():
            yield from block.sources
        for block in self.blocks():
            yield from block.targets


def file_facts(files):
    """Returns what tells a file from another under its name, without reading it."""
    stats = {file: os.stat(file) for file in files if os.path.exists(file)}
    return {f: (s.st_ino, s.st_size, s.st_mtime_ns) for f, s in stats.items()}


def as_pairs(source_files, target_files):
    """Returns two lists of paths as str, equally long and not empty.

    Raises:
        ValueError: no files, or different numbers of them.
    """
    source_files, target_files = _as_list(source_files), _as_list(target_files)
    if len(source_files) != len(target_files) or not source_files:
        raise ValueError(
            "Expected at least one source file and as many target files. Received: "
            f"source files {source_files}, target files {target_files}."
        )
    return source_files, target_files


def check_equal_lines(source_file, target_file, source_lines, target_lines):
    """Raises ValueError if two parallel files have different numbers of lines."""
    if source_lines != target_lines:
        raise ValueError(
            "Parallel files need equal numbers of lines. Received: "
            f"{source_file} with {source_lines} and "
            f"{target_file} with {target_lines} lines. "
            "Line n of one must translate line n of the other."
        )


def _as_list(files):
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    return [os.fspath(file) for file in files]
