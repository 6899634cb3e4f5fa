"""From text to subword ids, some thousand pairs at a time, on all processors."""

import collections
import concurrent.futures
import os
from typing import NamedTuple

import numpy as np

from keras_attention.data.encoded import EncodedCorpus

REASONS = ("empty", "source_too_long", "target_too_long")  # why a pair is dropped


class TokenBlock(NamedTuple):
    """Some pairs of a corpus as ids.

    Args:
        arrays: source tokens, source lengths, target tokens, target lengths and line
            numbers of the pairs that were kept.
        dropped: dict, reason -> number of pairs left out.
    """

    arrays: tuple
    dropped: dict

    @property
    def read(self):
        """Number of pairs before some were dropped."""
        return len(self.arrays[-1]) + sum(self.dropped.values())


def encode_pairs(corpus, tokenizer, max_source_length, max_target_length):
    """Tokenizes a corpus into memory and drops what cannot be learned from.

    `encode_files` does the same with the ids on disk.

    Args:
        corpus: a `ParallelCorpus` or `ParallelFiles`.
        tokenizer: a `SubwordTokenizer`.
        max_source_length: pieces; a pair with a longer source is dropped.
        max_target_length: the same for the target. A length equal to the maximum
            stays, and nothing is ever cut.

    Returns:
        An `EncodedCorpus`.

    Raises:
        ValueError: no pair is left.
    """
    maxima = max_source_length, max_target_length
    dropped = collections.Counter()
    arrays = []
    for block in encoded_blocks(corpus, tokenizer, *maxima):
        dropped.update(block.dropped)
        arrays.append(block.arrays)
    check_pairs_left(sum(len(block[-1]) for block in arrays), dropped, maxima)
    source, source_lengths, target, target_lengths, numbers = map(
        np.concatenate, zip(*arrays, strict=True)
    )
    offsets = [np.append(0, np.cumsum(n)) for n in (source_lengths, target_lengths)]
    return EncodedCorpus(source, offsets[0], target, offsets[1], dict(dropped), numbers)


def encoded_blocks(corpus, tokenizer, max_source_length, max_target_length):
    """Tokenizes a corpus block by block.

    Args: those of `encode_pairs`.

    Returns:
        Iterator over `TokenBlock`, in the order of the corpus. Several blocks are
        tokenized at a time, one a processor.
    """

    def encode(texts):
        splits = tokenizer.tokenize, tokenizer.tokenize_targets
        sides = [
            token_arrays(side, tokenizer, split)
            for side, split in zip(texts[:2], splits, strict=True)
        ]
        lengths = sides[0][1], sides[1][1]
        empty = (lengths[0] == 0) | (lengths[1] == 0)
        long_source = ~empty & (lengths[0] > max_source_length)
        long_target = ~empty & ~long_source & (lengths[1] > max_target_length)
        numbers = (
            int(empty.sum()) + texts.empty,
            int(long_source.sum()),
            int(long_target.sum()),
        )
        dropped = dict(zip(REASONS, numbers, strict=True))
        keep = ~(empty | long_source | long_target)
        arrays = [
            array[mask]
            for tokens, lengths in sides
            for array, mask in ((tokens, np.repeat(keep, lengths)), (lengths, keep))
        ]
        numbers = np.array(texts.numbers, np.uint32)[keep]
        return TokenBlock((*arrays, numbers), dropped)

    return _in_order(encode, corpus.blocks())


def token_arrays(texts, tokenizer, tokenize):
    """Returns the pieces of texts, flat, and how many each has (int64).

    Pieces are uint16 where the vocabulary allows it, else int32.

    Args:
        texts: list of str.
        tokenizer: a `SubwordTokenizer`.
        tokenize: its method for this side of a pair.
    """
    ids = tokenize(texts)
    tokens = ids.flat_values.numpy().astype(token_dtype(tokenizer))
    return tokens, ids.row_lengths().numpy()


def token_dtype(tokenizer):
    """Returns the smallest type of uint16 and int32 that holds every id."""
    small = tokenizer.vocabulary_size <= 1 << 16
    return np.dtype(np.uint16 if small else np.int32)


def check_pairs_left(kept, dropped, maxima):
    """Raises ValueError if nothing was kept of a corpus."""
    if kept == 0:
        raise ValueError(
            "No pair is left to learn from. Expected sides of 1 to "
            f"{maxima[0]} source and {maxima[1]} target pieces. "
            f"Received: {sum(dropped.values())} pairs, dropped {dict(dropped)}. "
            "Check the text, or raise the maxima."
        )


def _in_order(function, items):
    """Maps in threads, with few items waiting; results come in order."""
    workers = len(os.sched_getaffinity(0))
    waiting = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
