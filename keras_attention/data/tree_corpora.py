"""Parsing as translation: sentences, and their trees as sequences of symbols (6.3)."""

import dataclasses
import hashlib
import itertools

import numpy as np

from keras_attention.checks import check_number
from keras_attention.data.corpora import ParallelCorpus
from keras_attention.data.linearization import linearize
from keras_attention.data.lines import scan_file
from keras_attention.data.normalization import normalize_tree, sentence
from keras_attention.data.parallel_files import (
    PAIRS_A_BLOCK,
    TextBlock,
    file_facts,
)
from keras_attention.data.synthetic import synthetic_corpus
from keras_attention.data.trees import iterate_trees, parse_trees

SYNTHETIC_TREES = {"train": 20_000, "valid": 1_000, "test": 1_000}


@dataclasses.dataclass(frozen=True)
class TreeCorpus(ParallelCorpus):
    """Sentences and linearised trees in memory.

    Args:
        sources, targets, counts, numbers: as of `ParallelCorpus`.
        symbols: tuple of str, all symbols of the targets, sorted.

    Example:

    >>> from keras_attention.data.trees import parse_trees
    >>> corpus = TreeCorpus.from_trees(parse_trees(["(S (NP (NN dogs)) (VP bark))"]))
    >>> corpus.sources, corpus.targets
    (['dogs bark'], ['(TOP (S (NP NN )NP VP )S )TOP'])
    """

    symbols: tuple = ()

    @classmethod
    def from_trees(cls, trees, tags=True):
        """Returns the corpus of an iterable of `Tree`s; `tags` is as of `linearize`."""
        pairs = [tree_pair(tree, tags) for tree in trees]
        corpus = cls.from_pairs(*zip(*pairs, strict=True)) if pairs else cls([], [])
        symbols = {symbol for target in corpus.targets for symbol in target.split(" ")}
        return dataclasses.replace(corpus, symbols=tuple(sorted(symbols)))

    def lines(self):
        """Returns an iterator over the sources, which alone are split into subwords."""
        yield from self.sources


class TreeFiles:
    """Trees in files, of which no more than some thousand are in memory at a time.

    The files are read when it is made, to count the trees and collect their symbols,
    and again by each use.

    Args:
        files: list of paths, plain or `.gz`.
        extra_files: the same, of trees of less worth, such as those that another
            parser made (6.3, semi-supervised).
        extra_weight: what each of their trees counts; one of `files` counts 1.
        tags: as of `linearize`.

    Attributes:
        symbols: tuple of str, all symbols of the linearised trees, sorted.
        sha256: of text and tags.

    Raises:
        ValueError: a file that cannot be read, or no tree with a word.
    """

    def __init__(self, files, extra_files=(), extra_weight=1.0, tags=True):
        self._files = [str(file) for file in (*files, *extra_files)]
        self._tags = tags
        self._extra_weight = check_number("extra_weight", extra_weight, open_low=True)
        self._facts = file_facts(self._files)
        counts, symbols = [], set()
        for file in self._files:
            counts.append(0)
            for tree in iterate_trees(file):
                counts[-1] += 1
                symbols.update(tree_pair(tree, tags)[1].split(" "))
        self._count = sum(counts)
        self._gold = sum(counts[: len(files)])
        self.symbols = tuple(sorted(symbols - {""}))
        if not self.symbols:
            raise ValueError(
                "There is nothing to learn from: expected trees. Received: "
                f"{self.origin} without a tree that has a word. Check the files."
            )
        digests = [scan_file(file).sha256 for file in self._files]
        key = " ".join(["trees", str(tags), *digests])
        self.sha256 = hashlib.sha256(key.encode()).hexdigest()

    def __len__(self):
        return self._count

    @property
    def origin(self):
        """The names of the files, for messages."""
        return ", ".join(self._files)

    def _pairs(self):
        for file in self._files:
            for tree in iterate_trees(file):
                yield tree_pair(tree, self._tags)

    def blocks(self):
        """Returns an iterator over the corpus as `TextBlock`s; trees are numbered.

        Raises:
            ValueError: a file is not the one that was counted.
        """
        pairs = self._pairs()
        for first in itertools.count(1, PAIRS_A_BLOCK):
            block = list(itertools.islice(pairs, PAIRS_A_BLOCK))
            if not block:
                break
            sources, targets = map(list, zip(*block, strict=True))
            yield TextBlock.with_text(sources, targets, first)
        if file_facts(self._files) != self._facts:
            raise ValueError(
                f"{self.origin}: a file changed while it was read. Expected the size "
                "and time of change that it had when its trees were counted. "
                "Received: others. Start again when it is complete."
            )

    def weights(self, numbers):
        """Returns what pairs count in the loss, float32 (n,); None if all count alike.

        Args:
            numbers: (n,) integers, of trees of this corpus from 1.
        """
        if self._extra_weight == 1.0 or self._gold == self._count:
            return None
        return np.where(numbers > self._gold, self._extra_weight, 1.0).astype("f4")

    def lines(self):
        """Returns an iterator over the sources, which alone are split into subwords."""
        for block in self.blocks():
            yield from block.sources


def tree_pair(tree, tags=True):
    """Returns the sentence of a tree and its symbols, as text; ("", "") without words.

    The tree is normalised first (`normalize_tree`).

    Example:

    >>> from keras_attention.data.trees import parse_trees
    >>> (tree,) = parse_trees(["( (NP-VOC (NNP Rex)) )"])
    >>> tree_pair(tree, tags=False)
    ('Rex', '(TOP (NP XX )NP )TOP')
    """
    tree = normalize_tree(tree)
    if tree is None:
        return "", ""
    return sentence(tree.leaves()), " ".join(linearize(tree, tags))


def synthetic_trees(split):
    """Returns the first `SYNTHETIC_TREES[split]` trees of the embedded corpus."""
    examples = synthetic_corpus(split, SYNTHETIC_TREES[split])
    return list(parse_trees([example.tree for example in examples], "synthetic"))


def load_trees(
    train=(), valid=(), extra=(), extra_weight=1.0, synthetic=False, tags=True
):
    """Reads the trees of a run.

    The arguments are plain values, so that `config.json` can record them.

    Args:
        train, valid, extra: lists of files of trees; `valid` and `extra` may be left
            out.
        extra_weight: what a tree of `extra` counts beside one of `train`.
        synthetic: True reads the trees of the embedded corpus instead.
        tags: as of `linearize`.

    Returns:
        The corpus to learn from, and one to validate with or None.

    Raises:
        ValueError: not exactly one of `train` and `synthetic`, or files that cannot be
            read.
    """
    if bool(train) == bool(synthetic) or (synthetic and (valid or extra)):
        raise ValueError(
            "Expected files of trees to learn from, or the embedded corpus without "
            f"files. Received: train={train}, valid={valid}, extra={extra}, "
            f"synthetic={synthetic}."
        )
    if synthetic:
        corpora = (synthetic_trees(split) for split in ("train", "valid"))
        return tuple(TreeCorpus.from_trees(trees, tags) for trees in corpora)
    held_out = [tree for file in valid for tree in iterate_trees(file)]
    corpus = TreeCorpus.from_trees(held_out, tags) if valid else None
    return TreeFiles(train, extra, extra_weight, tags), corpus
