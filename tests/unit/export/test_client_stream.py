"""Lines through several requests at once: their order, their number, their failures."""

import random
import threading
import time

import pytest
from absl import logging

from keras_attention.export import client_stream
from keras_attention.export.client_errors import ServingError
from keras_attention.export.client_stream import stream


class Call:
    """A server that takes a while, now longer, now shorter."""

    def __init__(self, fails_at=None, seconds=0.004):
        self.sizes, self.most, self._now = [], 0, 0
        self._fails_at, self._seconds = fails_at, seconds
        self._lock, self._random = threading.Lock(), random.Random(1)

    def __call__(self, texts):
        with self._lock:
            self.sizes.append(len(texts))
            self._now += 1
            self.most = max(self.most, self._now)
            seconds = self._random.uniform(0, self._seconds)
        time.sleep(seconds)
        with self._lock:
            self._now -= 1
        if self._fails_at in texts:
            raise ServingError("INTERNAL", "it fell over")
        return [int(text) for text in texts]


def numbers(count):
    return "lines", (f"{n}\n" for n in range(count))


@pytest.mark.parametrize("batch_size", [1, 3, 100])
@pytest.mark.parametrize("in_flight", [1, 5])
def test_answers_come_in_order(batch_size, in_flight):
    call = Call()
    found = stream(call, numbers(50), batch_size=batch_size, in_flight=in_flight)
    assert list(found) == list(range(50))
    assert max(call.sizes) == min(batch_size, 50)
    assert call.most <= in_flight


def test_several_requests_are_under_way_at_once():
    call = Call(seconds=0.02)
    list(stream(call, numbers(40), batch_size=1, in_flight=4))
    assert call.most == 4


def test_no_more_is_read_than_is_under_way():
    read = []

    def lines():
        for n in range(1_000):
            read.append(n)
            yield f"{n}\n"

    found = stream(Call(), ("lines", lines()), batch_size=2, in_flight=3)
    assert next(found) == 0
    assert len(read) == 6
    found.close()


def test_the_first_failure_ends_it_behind_the_answers_before():
    call = Call(fails_at=b"7")
    found, seen = stream(call, numbers(100), batch_size=2, in_flight=3), []
    with pytest.raises(ServingError, match="it fell over"):
        for answer in found:
            seen.append(answer)
    assert seen == list(range(6))
    time.sleep(0.05)
    assert len(call.sizes) <= 3 + 3  # those before it, and those sent meanwhile


def test_two_sides_go_together():
    sides = ("a", ["1\n", "2\r\n", "3"]), ("b", ["x", "y", "z"])
    found = stream(lambda *texts: list(zip(*texts, strict=True)), *sides, batch_size=2)
    assert list(found) == [(b"1", b"x"), (b"2", b"y"), (b"3", b"z")]
    with pytest.raises(ValueError, match="lines"):
        list(stream(zip, ("a", ["1"]), ("b", ["x", "y"])))


@pytest.mark.parametrize("name", ["batch_size", "in_flight"])
def test_wrong_numbers(name):
    with pytest.raises(ValueError, match=f"`{name}` must be an integer"):
        list(stream(Call(), numbers(1), **{name: 0}))


@pytest.mark.parametrize(
    ("total", "words"),
    [(None, "10 lines; "), (20, "10 of 20 lines; ")],
)
def test_progress(monkeypatch, total, words):
    said = []
    monkeypatch.setattr(client_stream, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(
        logging, "info", lambda form, *values: said.append(form % values)
    )
    list(stream(Call(), numbers(10), batch_size=5, total=total))
    assert len(said) == 2 and said[-1].startswith(words)
    assert "lines/s" in said[-1] and ("left" in said[-1]) == bool(total)
