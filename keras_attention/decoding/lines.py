"""Streams of lines: a window of them is in memory, whatever the length of a file."""

import codecs
import itertools

from keras_attention.data.parallel_files import check_equal_lines
from keras_attention.decoding.texts import append_end, check_texts

WINDOW = 2_048  # lines that are sorted by length and translated together


def windows(sides, size=WINDOW):
    """Yields the number of a first line, and as many texts of each side from there.

    Args:
        sides: one pair, or two, of a name for messages and an iterable of lines, bytes
            or str, such as a file opened with "rb". A line feed at the end of a line,
            a carriage return before it and a byte order mark at the start are dropped.
        size: lines of a side that are read at a time.

    Raises:
        ValueError: a side is no iterable of texts, or, where the shorter one ends, the
            sides have different numbers of lines.

    Example:

    >>> list(windows([("a", ["one\\n", "two\\n", "three"]), ("b", "xyz")], size=2))
    Traceback (most recent call last):
    ...
    ValueError: `b` must be an iterable of lines. Received: 'xyz'. Put a single line...
    >>> list(windows([("a", ["one\\n", "two"]), ("b", ["x", "y"])], size=2))
    [(1, [b'one', b'two'], [b'x', b'y'])]
    """
    for name, lines in sides:
        if isinstance(lines, (str, bytes)):
            raise ValueError(
                f"`{name}` must be an iterable of lines. Received: {lines!r}. "
                "Put a single line into a list."
            )
    names = [name for name, _ in sides]
    streams = [iter(lines) for _, lines in sides]
    for first_line in itertools.count(1, size):
        texts = [
            check_texts(name, itertools.islice(stream, size))
            for name, stream in zip(names, streams, strict=True)
        ]
        if len({len(side) for side in texts}) != 1:
            totals = [
                first_line - 1 + len(side) + sum(1 for _ in stream)
                for side, stream in zip(texts, streams, strict=True)
            ]
            check_equal_lines(*names, *totals)
        if not texts[0]:
            return
        yield first_line, *(_without_ends(side, first_line) for side in texts)


def _without_ends(texts, first_line):
    texts = [text.removesuffix(b"\n").removesuffix(b"\r") for text in texts]
    if first_line == 1:
        texts[0] = texts[0].removeprefix(codecs.BOM_UTF8)
    return texts


def window_of(config):
    """Returns how many lines a window may have, for what is kept of each.

    Args:
        config: `DecodingConfig`.

    Example:

    >>> from keras_attention.config import DecodingConfig
    >>> window_of(DecodingConfig())
    2048
    >>> window_of(DecodingConfig(return_attention_weights=True))
    128
    """
    kept = config.num_hypotheses * (64 if config.return_attention_weights else 1)
    return max(1, WINDOW * 4 // max(4, kept))


def translated(
    translator, lines, window=WINDOW, name="lines", prefixes=None, **overrides
):
    """Yields the `Translation` of every line.

    Args:
        translator: a `Translator`.
        lines, name: a side of `windows`.
        window: lines that are read before the first of them is answered.
        prefixes: another side, name and lines: how each translation begins.
        **overrides: as in `Translator.translate`.

    Raises:
        ValueError: as `windows` and `Translator.translate`.
    """
    sides = [(name, lines)]
    if prefixes is not None:
        sides.append(prefixes)
    for first_line, texts, *beside in windows(sides, window):
        beside = {"prefixes": beside[0]} if beside else {}
        yield from translator.translate(texts, first_line, **beside, **overrides)


def scored(translator, sources, targets, window=WINDOW):
    """Yields the pieces' ids of every target and their log-probabilities, END last.

    Args:
        translator: a `Translator`.
        sources, targets: as the sides of `windows`, a target for every source.
        window: pairs that are read before the first of them is answered.

    Raises:
        ValueError: as `windows` and `Translator.score`.
    """
    for first_line, *texts in windows([sources, targets], window):
        target_ids = append_end(translator.tokenizer.tokenize_targets(texts[1]))
        yield from zip(
            target_ids.to_list(),
            translator.score(
                *texts, return_token_log_probs=True, first_line=first_line
            ),
            strict=True,
        )
