"""Text becomes ids pair by pair, in order; what cannot be learned from is counted."""

import threading
import time

import numpy as np
import pytest

from keras_attention.data import (
    ParallelCorpus,
    ParallelFiles,
    SubwordTokenizer,
    encode_pairs,
)
from keras_attention.data.encoding import encoded_blocks
from keras_attention.vocabulary import END_ID, PAD_ID


@pytest.fixture(scope="module")
def letters():
    """A tokenizer with one piece a letter, so that lengths are known."""
    words = [f"{a} {b}" for a in "abcdef" for b in "abcdef"]
    return SubwordTokenizer.learn_from_lines(words, 17)


def test_too_long_pairs_are_dropped_and_counted(letters):
    texts = ["a b c d e", "a b c d e f", "a", "a b"]
    pieces = letters.tokenize(texts).row_lengths().numpy()
    assert pieces.tolist() == [5, 6, 1, 2]
    corpus = ParallelCorpus.from_pairs(
        [texts[0], texts[1], texts[2], texts[1], "a", "\u2028\x01 ", ""],
        [texts[3], texts[3], texts[0], texts[0], "\x01", "a", "a"],
    )
    encoded = encode_pairs(corpus, letters, 5, 2)
    assert encoded.num_pairs == 1
    assert encoded.dropped == {
        "empty": 3,
        "source_too_long": 2,
        "target_too_long": 1,
    }
    assert [side.tolist() for side in encoded.lengths()] == [[5], [2]]
    source, _, label = encoded.padded(np.array([0]), (1, 6))
    assert source[0, -1] == END_ID  # the longest source keeps its END
    assert label[0, 2] == END_ID
    assert encoded.source_tokens.dtype == np.uint16


def test_nothing_left_is_an_error(letters):
    corpus = ParallelCorpus.from_pairs(["a b c"], ["a"])
    with pytest.raises(ValueError, match="No pair is left.*'source_too_long': 1"):
        encode_pairs(corpus, letters, 2, 2)


def test_encoding_keeps_tokens_beside_their_pair(letters):
    texts = [" ".join("abcdef"[: 1 + i % 6]) for i in range(40)] + ["中 a"]
    corpus = ParallelCorpus.from_pairs(texts, texts[::-1])
    encoded = encode_pairs(corpus, letters, 4, 4)
    kept = [
        (s, t)
        for s, t in zip(
            letters.tokenize(texts).to_list(),
            letters.tokenize(texts[::-1]).to_list(),
            strict=True,
        )
        if len(s) <= 4 and len(t) <= 4
    ]
    assert encoded.num_pairs == len(kept)
    source, _, label = encoded.padded(np.arange(len(kept)), (len(kept), 5))
    for row, (s, t) in enumerate(kept):
        assert source[row].tolist() == (s + [END_ID] + [PAD_ID] * 4)[:5]
        assert label[row].tolist() == (t + [END_ID] + [PAD_ID] * 4)[:5]
        # unknown pieces are real: the mask has as many cells as there are tokens
        assert (source[row] != PAD_ID).sum() == len(s) + 1


def test_files_and_memory_give_the_same(letters, tmp_path, monkeypatch):
    monkeypatch.setattr("keras_attention.data.parallel_files.PAIRS_A_BLOCK", 4)
    monkeypatch.setattr("keras_attention.data.corpora.PAIRS_A_BLOCK", 7)
    lines = [" ".join("abcdef"[: i % 7]) for i in range(60)]
    (tmp_path / "s").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "t").write_text("".join(f"{line}\n" for line in lines[::-1]))
    files = ParallelFiles(tmp_path / "s", tmp_path / "t")
    corpus = ParallelCorpus.from_pairs(lines, lines[::-1])
    one, other = (encode_pairs(c, letters, 4, 5) for c in (files, corpus))
    assert one.dropped == other.dropped
    assert min(one.dropped.values()) > 0
    assert one.sha256 == other.sha256
    assert one.numbers.tolist() == other.numbers.tolist()
    for row, number in enumerate(one.line_numbers(np.arange(one.num_pairs))):
        pieces = letters.tokenize([lines[number - 1], lines[-number]]).to_list()
        source, _, label = one.padded(np.array([row]), (1, 6))
        assert source[0, : len(pieces[0])].tolist() == pieces[0]
        assert label[0, : len(pieces[1])].tolist() == pieces[1]


class SlowStart:
    """A tokenizer that needs longest for the first texts."""

    vocabulary_size = 17

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self.threads = set()

    def tokenize(self, texts):
        self.threads.add(threading.get_ident())
        if texts[0] == "a b":
            time.sleep(0.05)
        return self._tokenizer.tokenize(texts)

    tokenize_targets = tokenize


def test_blocks_come_in_order_from_several_threads(letters, monkeypatch):
    monkeypatch.setattr("keras_attention.data.corpora.PAIRS_A_BLOCK", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    tokenizer = SlowStart(letters)
    texts = ["a b", "c d", "e f", "a b", *["c d"] * 20]
    corpus = ParallelCorpus.from_pairs(texts, texts)
    blocks = list(encoded_blocks(corpus, tokenizer, 9, 9))
    found = [block.arrays[0].tolist() for block in blocks]
    assert found == letters.tokenize(texts).to_list()
    assert [block.arrays[4].tolist() for block in blocks] == [[n] for n in range(1, 25)]
    assert len(tokenizer.threads) == 3
