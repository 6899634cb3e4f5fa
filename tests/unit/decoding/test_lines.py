"""Windows over streams of lines: what is read, when, and which line is which."""

import itertools

import pytest

from keras_attention.config import DecodingConfig
from keras_attention.decoding import lines as lines_module
from keras_attention.decoding.lines import scored, translated, window_of, windows


class Recorder:
    """Notes how a translator is called, and answers with what it was given."""

    def __init__(self):
        self.calls = []
        self.tokenizer = self

    def translate(self, texts, first_line, **options):
        self.calls.append((first_line, list(texts), options))
        return texts

    def tokenize(self, texts):
        import tensorflow as tf

        return tf.ragged.constant([list(text) for text in texts], tf.int32)

    tokenize_targets = tokenize

    def score(self, sources, targets, return_token_log_probs, first_line):
        assert return_token_log_probs
        self.calls.append((first_line, sources, targets))
        return [[float(-first_line)] * (len(target) + 1) for target in targets]


def test_only_line_feeds_end_lines():
    given = [b"\xef\xbb\xbfa\r\n", b"b\rc\n", "\u2028\n", b"\xef\xbb\xbfd"]
    (window,) = windows([("side", given)])
    assert window == (1, [b"a", b"b\rc", "\u2028".encode(), b"\xef\xbb\xbfd"])
    assert list(windows([("side", given)], size=3))[1] == (4, [b"\xef\xbb\xbfd"])
    assert list(windows([("side", [])])) == []


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_sides_stay_beside_each_other(size):
    sides = [("a", [f"{n}\n" for n in range(7)]), ("b", (str(-n) for n in range(7)))]
    found, expected_first = [], 1
    for first_line, left, right in windows(sides, size):
        assert first_line == expected_first
        expected_first += len(left)
        found += zip(left, right, strict=True)
    assert found == [(b"%d" % n, b"%d" % -n) for n in range(7)]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("counts", [(3, 5), (5, 3), (0, 1), (4, 0)])
def test_unequal_sides_are_named_with_their_numbers_of_lines(size, counts):
    sides = [("a.en", iter("x" * counts[0])), ("b.de", iter("x" * counts[1]))]
    message = f"a.en with {counts[0]} and b.de with {counts[1]} lines"
    given = 0
    with pytest.raises(ValueError, match=message):
        for _, left, _ in windows(sides, size):
            given += len(left)
    assert given == min(counts) // size * size  # whole windows come out before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("one", "`side` must be an iterable of lines. Received: 'one'"),
        (b"one", "`side` must be an iterable of lines. Received: b'one'"),
        ([1], "`side` must hold nothing but str or bytes.*int at index 0"),
    ],
)
def test_what_is_no_stream_of_lines_is_refused(lines, message):
    with pytest.raises(ValueError, match=message):
        list(windows([("side", lines)]))


def test_no_more_than_a_window_is_read_before_an_answer():
    read = {"source": 0, "prefix": 0}

    def endless(side):
        for number in itertools.count():
            read[side] += 1
            yield f"{side}{number}"

    recorder = Recorder()
    prefixes = "prefix", endless("prefix")
    stream = translated(recorder, endless("source"), 3, prefixes=prefixes, beam_size=2)
    assert [next(stream) for _ in range(4)][3] == b"source3"
    assert read == {"source": 6, "prefix": 6}
    first, second = recorder.calls
    assert (first[0], second[0]) == (1, 4)
    expected = [b"prefix3", b"prefix4", b"prefix5"]
    assert second[2] == {"prefixes": expected, "beam_size": 2}


def test_without_prefixes_none_are_passed():
    recorder = Recorder()
    assert list(translated(recorder, ["a"])) == [b"a"]
    assert recorder.calls == [(1, [b"a"], {})]


def test_scores_come_with_the_pieces_of_their_targets():
    recorder = Recorder()
    sides = ("a", ["x", "y", "z"]), ("b", [b"\x05\x06", b"", b"\x07"])
    found = list(scored(recorder, *sides, window=2))
    assert [ids for ids, _ in found] == [[5, 6, 3], [3], [7, 3]]
    assert [log_probs for _, log_probs in found] == [[-1.0] * 3, [-1.0], [-3.0] * 2]


def test_a_window_gets_shorter_where_more_is_kept_of_a_line():
    whole = lines_module.WINDOW
    assert window_of(DecodingConfig(beam_size=4, num_hypotheses=4)) == whole
    many = DecodingConfig(sampling=True, num_hypotheses=100)
    assert window_of(many) == whole * 4 // 100
    assert window_of(many.replace(return_attention_weights=True)) == 1
