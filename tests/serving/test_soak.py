"""Requests of mixed sizes for a long time: every answer right, no byte lost.

KERAS_ATTENTION_REQUESTS=50000 pytest -m campaign -s tests/serving/test_soak.py
"""

import concurrent.futures
import os
import threading
import time

import numpy as np
import pytest

from tests.serving import process
from tests.serving.test_load import PER_MODEL, connected, same, texts_of

THREADS = 8
KINDS = 97  # texts; no number of rows divides it
REQUESTS = int(os.environ.get("KERAS_ATTENTION_REQUESTS", "50000"))
WARM_UP = 500
SLOPE = 2.0  # MB that 10 000 requests may add


def asked(client, texts, number):
    """Request `number`: 1 to 8 rows by one of three signatures, as [(words, score)]."""
    rows = [texts[(number * 5 + row) % KINDS] for row in range(1 + number % 8)]
    if number % 3 == 0:
        return [(x.text, x.score) for x in client.translate(rows)]
    if number % 3 == 1:
        found = client.nbest(rows, num_hypotheses=2, beam_size=1 + 3 * (number % 2))
        return [(x.texts, sum(x.scores)) for x in found]
    found = client.score(rows, ["to be"] * len(rows))
    return [(x.tokens, x.log_probability) for x in found]


def period():
    """Requests after which the same ones come again: 8 sizes, 3 signatures, texts."""
    return 24 * KINDS


def soaked(server, requests, say=print):
    """Sends them; returns (answers that were right, [(requests, MB)], requests/s)."""
    texts = texts_of(KINDS)
    with connected(server) as client:
        numbers = range(min(requests, period()))
        alone = [asked(client, texts, number) for number in numbers]
        places = threading.local()

        def ask(number):
            if not hasattr(places, "client"):
                places.client = connected(server)
            found = asked(places.client, texts, number)
            pairs = zip(found, alone[number % len(alone)], strict=True)
            return all(same(*pair) for pair in pairs)

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            assert all(pool.map(ask, range(min(requests, WARM_UP))))
            memory, right, began = [], 0, time.monotonic()
            for part in range(20):
                numbers = range(part * requests // 20, (part + 1) * requests // 20)
                right += sum(pool.map(ask, numbers))
                memory.append((numbers.stop, server.resident_bytes() / 1e6))
                say(f"{numbers.stop} requests, {memory[-1][1]:.1f} MB")
            seconds = time.monotonic() - began
    return right, memory, requests / seconds


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param(200, marks=pytest.mark.slow),
        pytest.param(REQUESTS, marks=pytest.mark.campaign),
    ],
    ids=["short", "long"],
)
def test_a_soak(version, requests, capsys):
    with process.serving(PER_MODEL, model=version.parent) as server:
        with capsys.disabled():
            right, memory, pace = soaked(server, requests)
    counts, megabytes = np.array(memory).T
    # The first fifth fills what is kept between requests.
    slope = 10_000 * np.polyfit(counts[4:], megabytes[4:], 1)[0]
    with capsys.disabled():
        print(
            f"{requests} requests, {THREADS} threads, {pace:.0f} requests/s, memory "
            f"{megabytes[0]:.1f} to {megabytes[-1]:.1f} MB, {slope:+.2f} MB in 10 000"
        )
    assert right == requests
    if requests >= 10_000:  # less is noise
        assert slope < SLOPE
    assert megabytes[-1] - megabytes[0] < 20
