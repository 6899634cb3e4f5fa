"""The embedded corpus: an English-German grammar, and the copy and sort tasks.

Nothing is read from disk or network: every sentence is drawn from the grammar in
`keras_attention.data.grammar`, the same for the same arguments everywhere.
"""

import dataclasses
import hashlib
import itertools
import random
import re

from keras_attention.data.grammar.dictionary import DICTIONARY
from keras_attention.data.grammar.sentences import PATTERNS, draw_sentence

SPLITS = ("train", "valid", "test")
_NOVEL_SHARE = 0.15  # of the test split
_MIN_TOKENS, _MAX_TOKENS = 4, 17
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
_MARKS = frozenset(",.?!")


@dataclasses.dataclass(frozen=True)
class Example:
    """One sentence pair.

    Attributes:
        source: English sentence.
        target: its German translation.
        tree: the English constituency tree, `(TOP (S ...))` on one line; its leaves
            are `source_tokens(source)`.
        pattern: the construction and the kinds of its clauses, such as
            `because(plain, modal)`.
        novel: whether the training split never combines the two.
    """

    source: str
    target: str
    tree: str
    pattern: str
    novel: bool


def source_tokens(sentence):
    """The tokens of an English sentence of the corpus, the leaves of its tree.

    Example:
        >>> source_tokens("Anna's dog sleeps, I hope.")
        ['Anna', "'s", 'dog', 'sleeps', ',', 'I', 'hope', '.']
    """
    return re.findall(r"'s|[^\s,.?!']+|[,.?!]", sentence)


def _join(tokens):
    text = " ".join(tokens)
    return re.sub(r" (?=[,.?!]|'s)", "", text)


def _capitalized(text):
    return text[0].upper() + text[1:]


def _tidy(words):
    """Drops commas that meet another mark."""
    result = []
    for word in words:
        if word in _MARKS and result and result[-1] == ",":
            result.pop()
        result.append(word)
    return result


def _example(tree, words, pattern):
    tokens = [match[1] for match in _LEAF.findall(tree)]
    first = f" {tokens[0]})"
    tree = tree.replace(first, f" {_capitalized(tokens[0])})", 1)
    return Example(
        source=_capitalized(_join(tokens)),
        target=_capitalized(_join(_tidy(words))),
        tree=f"(TOP {tree})",
        pattern=pattern.name,
        novel=pattern.is_novel,
    )


def _split_of(target):
    """The split that a German sentence belongs to, for every size and seed."""
    digest = hashlib.blake2b(target.encode(), digest_size=4).digest()
    place = int.from_bytes(digest, "big") % 10
    return {0: "test", 1: "valid"}.get(place, "train")


def _draws(rng, patterns):
    """Endless examples of some patterns."""
    cumulative = list(itertools.accumulate(pattern.weight for pattern in patterns))
    while True:
        pattern = rng.choices(patterns, cum_weights=cumulative)[0]
        drawn = draw_sentence(rng, pattern)
        if drawn is None:
            continue
        example = _example(*drawn, pattern)
        if _MIN_TOKENS <= len(source_tokens(example.source)) <= _MAX_TOKENS:
            yield example


def synthetic_corpus(split, size, seed=1):
    """Sentence pairs of one split of the English-German grammar.

    A German sentence belongs to one split whatever the size and the seed, and an
    English sentence has one translation, so no side of a pair occurs in two splits.
    In the test split 15 % of the sentences combine a construction with a kind of
    clause that training never combines; the other splits have none of them.

    Args:
        split: "train", "valid" or "test".
        size: number of distinct pairs.
        seed: integer; other seeds give other pairs of the same split.

    Returns:
        A list of `Example`. The first pairs of a longer list are those of a shorter.

    Raises:
        ValueError: the split is unknown or the size is negative.

    Example:
        >>> examples = synthetic_corpus("train", 3)
        >>> len(examples), examples == synthetic_corpus("train", 4)[:3]
        (3, True)
    """
    if split not in SPLITS:
        raise ValueError(
            f"`split` must be one of {SPLITS}. Received: split={split!r}. "
            "The held-out split is 'test'."
        )
    if size < 0:
        raise ValueError(
            f"`size` must be a number of pairs. Received: size={size}. Pass 0 or more."
        )
    rng = random.Random(f"{split} {seed}")
    common = _draws(rng, [p for p in PATTERNS if not p.is_novel])
    novel = _draws(rng, [p for p in PATTERNS if p.is_novel])
    examples, seen = [], set()
    while len(examples) < size:
        is_novel = split == "test" and rng.random() < _NOVEL_SHARE
        example = next(novel if is_novel else common)
        if example.source in seen or example.target in seen:
            continue
        if _split_of(example.target) == split:
            seen.update((example.source, example.target))
            examples.append(example)
    return examples


def word_by_word(sentence):
    """A sentence of the corpus translated word by word, the baseline to beat.

    Every English word form becomes the German form that the lexicon pairs with it;
    order, case and agreement stay undone.

    Args:
        sentence: an English sentence.

    Returns:
        A string; a word that is not in the lexicon stays as it is.

    Example:
        >>> word_by_word("The dogs sleep in the garden.")
        'Der Hunde schlafen in der Garten.'
    """
    words = []
    for token in source_tokens(sentence):
        word = token if token in DICTIONARY else token[0].lower() + token[1:]
        words += DICTIONARY.get(word, token).split()
    return _capitalized(_join(words)) if words else ""


def _check_task(size, min_length, max_length):
    if size < 0 or not 1 <= min_length <= max_length:
        raise ValueError(
            "expected 0 <= size and 1 <= min_length <= max_length. "
            f"Received: size={size}, min_length={min_length}, max_length={max_length}. "
            "Give a number of pairs and the range of their lengths in symbols."
        )


def _task(name, rewrite, split, size, seed, symbols, min_length, max_length):
    """Distinct symbol strings of a split with their rewritten form."""
    _check_task(size, min_length, max_length)
    if split not in SPLITS:
        raise ValueError(
            f"`split` must be one of {SPLITS}. Received: split={split!r}. "
            "The held-out split is 'test'."
        )
    rng = random.Random(f"{name} {split} {seed}")
    pairs, seen = [], set()
    for _ in range(1000 + 100 * size):
        if len(pairs) == size:
            return pairs
        sequence = rng.choices(symbols, k=rng.randint(min_length, max_length))
        source, target = " ".join(sequence), " ".join(rewrite(sequence))
        # Sorting gives many sources one target: the target decides the split.
        if source not in seen and _split_of(target) == split:
            seen.add(source)
            pairs.append((source, target))
    raise ValueError(
        f"expected enough strings of {min_length} to {max_length} out of "
        f"{len(symbols)} symbols. Received: size={size}, of which {len(pairs)} were "
        f"found in the {split} split. Allow longer strings or more symbols."
    )


_SYMBOLS = tuple("abcdefghijklmnopqrst")


def copy_task(
    size, split="train", seed=1, symbols=_SYMBOLS, min_length=3, max_length=12
):
    """Symbol strings and themselves.

    Args:
        size: number of pairs, with distinct sources.
        split: "train", "valid" or "test"; no string is in two splits.
        seed: integer.
        symbols: the alphabet, a sequence of strings without spaces.
        min_length: least number of symbols.
        max_length: greatest number of symbols.

    Returns:
        A list of (source, target) strings, symbols separated by spaces.

    Raises:
        ValueError: no such split, an empty range of lengths, or more pairs than
            the range has room for.

    Example:
        >>> copy_task(1, symbols="ab", min_length=9, max_length=9)[0][0].count(" ")
        8
    """
    return _task("copy", list, split, size, seed, symbols, min_length, max_length)


def reverse_task(
    size, split="train", seed=1, symbols=_SYMBOLS, min_length=3, max_length=12
):
    """Symbol strings and their reverse; arguments as in `copy_task`."""

    def reverse(sequence):
        return sequence[::-1]

    return _task("reverse", reverse, split, size, seed, symbols, min_length, max_length)


def sort_task(
    size, split="train", seed=1, symbols=_SYMBOLS, min_length=3, max_length=12
):
    """Symbol strings and their symbols in order; arguments as in `copy_task`."""
    return _task("sort", sorted, split, size, seed, symbols, min_length, max_length)
