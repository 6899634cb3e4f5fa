"""Ids on disk are those in memory; they are whole, of this text, or made anew."""

import json
import os
import tracemalloc
import warnings

import numpy as np
import pytest

from keras_attention.data import (
    ParallelFiles,
    SubwordTokenizer,
    encode_files,
    encode_pairs,
    token_files,
)

NAMES = ("source_tokens", "source_offsets", "target_tokens", "target_offsets")


@pytest.fixture(scope="module")
def tokenizer():
    return SubwordTokenizer.learn_from_lines(["a b c d e f", "b a d c f e"], 17)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr("keras_attention.data.parallel_files.PAIRS_A_BLOCK", 5)
    lines = [" ".join("abcdef"[: i % 7]) for i in range(64)]
    # The second block has nothing to keep.
    lines[5:10] = ["a b c d e f"] * 5
    (tmp_path / "s").write_text("\n".join(lines))
    (tmp_path / "t").write_text("\n".join(reversed(lines)))
    return ParallelFiles(tmp_path / "s", tmp_path / "t")


@pytest.fixture
def encode(files, tokenizer, tmp_path):
    def call(corpus=files, tokenizer=tokenizer, maxima=(5, 4), **arguments):
        return encode_files(corpus, tokenizer, *maxima, tmp_path / "ids", **arguments)

    return call


def places(tmp_path):
    return sorted(path.name for path in (tmp_path / "ids").iterdir())


def test_ids_on_disk_are_those_in_memory(encode, files, tokenizer, tmp_path):
    expected = encode_pairs(files, tokenizer, 5, 4)
    for found in (encode(), encode()):  # written, and read again
        for name in (*NAMES, "numbers"):
            array = getattr(found, name)
            assert isinstance(array.base, np.memmap)
            assert array.dtype == getattr(expected, name).dtype
            assert np.array_equal(array, getattr(expected, name))
        assert found.dropped == expected.dropped
        assert found.sha256 == expected.sha256
    assert len(places(tmp_path)) == 1
    assert not {*range(6, 11)} & {*found.numbers.tolist()}  # a block without any
    assert len(found.numbers) == 25


def test_what_is_there_is_not_made_again(encode, monkeypatch):
    first = encode()
    monkeypatch.setattr(token_files, "encoded_blocks", None)
    assert encode().sha256 == first.sha256


@pytest.mark.parametrize("changed", ["text", "tokenizer", "source", "target"])
def test_another_corpus_takes_the_place(encode, tmp_path, tokenizer, files, changed):
    encode()
    (before,) = places(tmp_path)
    (tmp_path / "ids" / "notes").mkdir()  # not ours: it stays
    arguments = {}
    if changed == "text":
        (tmp_path / "s").write_text(files_text(tmp_path).replace("a b", "b a", 1))
        arguments["corpus"] = ParallelFiles(tmp_path / "s", tmp_path / "t")
    elif changed == "tokenizer":
        arguments["tokenizer"] = SubwordTokenizer.learn_from_lines(["a b c d e f"], 16)
    else:
        arguments["maxima"] = (6, 4) if changed == "source" else (5, 5)
    encode(**arguments)
    after, notes = places(tmp_path)
    assert (len(after), notes) == (32, "notes")
    assert after != before


def files_text(tmp_path):
    return (tmp_path / "s").read_text()


def cut(path):
    os.truncate(path, path.stat().st_size - 2)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def remove(path):
    path.unlink()


@pytest.mark.parametrize("damage", [cut, flip, empty, remove])
@pytest.mark.parametrize("name", [*NAMES, "numbers", "facts.json"])
def test_damaged_ids_are_made_anew(encode, tmp_path, name, damage):
    expected = encode()
    sha256, numbers = expected.sha256, expected.numbers.tolist()
    (place,) = (tmp_path / "ids").iterdir()
    damage(place / name)
    with pytest.warns(UserWarning, match="is damaged; the text is tokenized anew"):
        found = encode()
    assert (found.sha256, found.numbers.tolist()) == (sha256, numbers)
    assert encode().sha256 == sha256


@pytest.mark.parametrize(
    "dropped",
    [
        {"empty": -1, "source_too_long": 39, "target_too_long": 0},  # all counts fit
        {"empty": 1},
        {"emptz": 38},
        {"empty": "38"},
        ["empty"],
        "[" * 99_999,
    ],
)
def test_damaged_counts_are_made_anew(encode, tmp_path, dropped):
    expected = encode().dropped
    assert sum(expected.values()) == 38
    (facts,) = (tmp_path / "ids").glob("*/facts.json")
    text = dropped if isinstance(dropped, str) else json.dumps(dropped)
    found = json.loads(facts.read_text())
    facts.write_text(json.dumps({**found, "dropped": 0}).replace(": 0", f": {text}"))
    with pytest.warns(UserWarning, match="is damaged; the text is tokenized anew"):
        assert encode().dropped == expected


class Stopped(Exception):
    pass


def test_an_interrupted_encoding_leaves_nothing(encode, tmp_path):
    def stop(done, kept):
        raise Stopped

    with pytest.raises(Stopped):
        encode(report=stop)
    assert places(tmp_path) == []
    assert encode().num_pairs > 0


def test_what_a_killed_process_left_is_deleted(encode, tmp_path):
    left = tmp_path / "ids" / f".tmp-{os.getpid()}-{'0' * 32}"
    left.mkdir(parents=True)
    (left / "source_tokens").write_bytes(b"ab")
    encode()
    assert left.name not in places(tmp_path)


def test_the_report_counts_to_the_end(encode, files):
    calls = []
    encoded = encode(report=lambda *counts: calls.append(counts))
    assert calls == sorted(calls)
    assert calls[-1] == (len(files), encoded.num_pairs)
    assert len(calls) == 13  # blocks of 5


def test_more_pairs_take_no_more_memory(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr("keras_attention.data.parallel_files.PAIRS_A_BLOCK", 100)
    monkeypatch.setattr("keras_attention.data.lines.BLOCK_BYTES", 1_000)
    peaks = []
    for pairs in (2_000, 12_000):
        (tmp_path / "s").write_text("a b c d e f a b c\n" * pairs)
        corpus = ParallelFiles(tmp_path / "s", tmp_path / "s")
        tracemalloc.start()
        try:
            encode_files(corpus, tokenizer, 9, 9, tmp_path / "ids")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 10_000 <= 8


def test_another_worker_may_be_faster(encode, tmp_path, monkeypatch):
    first = encode()
    (place,) = (tmp_path / "ids").iterdir()
    sha256 = first.sha256
    monkeypatch.setattr(type(place), "exists", lambda path: path != place)
    assert encode().sha256 == sha256
    assert places(tmp_path) == [place.name]


def test_other_troubles_of_the_disk_are_told(encode, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(token_files.os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        encode()
    assert places(tmp_path) == []


def test_nothing_left_is_an_error(encode, tmp_path):
    with pytest.raises(ValueError, match="No pair is left.*'source_too_long': "):
        encode(maxima=(0, 4))
    assert places(tmp_path) == []


def test_large_vocabularies_need_wider_ids(encode, tokenizer, monkeypatch):
    monkeypatch.setattr(
        SubwordTokenizer, "vocabulary_size", property(lambda _: (1 << 16) + 1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode().source_tokens.dtype == np.int32
