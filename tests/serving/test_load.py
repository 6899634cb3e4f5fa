"""Many requests at once: batches, deadlines, swaps of versions, memory.

Every server here runs a whole export, with the batching parameters and the warm-up
requests that it brings.
"""

import concurrent.futures
import itertools
import os
import shutil
import threading
import time

import numpy as np
import pytest

from keras_attention.export.client import TranslationClient
from keras_attention.export.client_errors import ServingError
from tests.serving import process
from tests.serving.conftest import TEXTS

PER_MODEL = "--enable_per_model_batching_parameters"
POLL = ("--file_system_poll_wait_seconds", "0.05")
CAMPAIGN = int(os.environ.get("KERAS_ATTENTION_REQUESTS", "20000"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def first_seconds():
    """How long the first requests to the server took."""
    return []


@pytest.fixture(scope="module")
def batching(version, first_seconds):
    with process.serving(PER_MODEL, model=version.parent) as server:
        with connected(server) as client:
            for _ in range(30):
                began = time.monotonic()
                client.translate(["to be"])
                first_seconds.append(time.monotonic() - began)
        yield server


def connected(server, **options):
    return TranslationClient(server.grpc, "model", **options)


def texts_of(count):
    """Texts of 1 to 9 words, no two alike one after the other."""
    words = "to be or not that is the question whether nobler it".split()
    return [
        " ".join(words[(n * 7 + k * 3) % len(words)] for k in range(1 + n % 9))
        for n in range(count)
    ]


def asked(client, n, text):
    """Request n by one of three signatures; what was said, scores rounded off."""
    if n % 3 == 0:
        said = client.translate([text])[0]
        return said.text, said.score
    if n % 3 == 1:
        said = client.nbest([text], num_hypotheses=1 + n % 2, beam_size=1 + n % 4)[0]
        return said.texts, sum(said.scores)
    said = client.score([text], ["to be"])[0]
    return said.tokens, said.log_probability


def asked_together(pool, client, texts):
    """The answers to all of them, several at once."""
    return list(pool.map(asked, itertools.repeat(client), range(len(texts)), texts))


def same(found, expected):
    return found[0] == expected[0] and found[1] == pytest.approx(expected[1], abs=1e-4)


def test_the_first_request_after_a_warm_up_is_not_slow(batching, first_seconds):
    # Without the warm-up requests it takes a hundred times as long as the others.
    usual = sorted(first_seconds)[len(first_seconds) // 2]
    assert first_seconds[0] < 10 * usual + 0.1


@pytest.mark.parametrize("threads", [8, 16])
def test_concurrent_requests_are_answered_as_those_alone(batching, threads):
    texts = texts_of(200)
    with connected(batching) as client:
        alone = [asked(client, n, text) for n, text in enumerate(texts)]
        before = len(batching.batches()["model"])
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            together = asked_together(pool, client, texts)
    sizes = batching.batches()["model"][before:]
    assert max(sizes) > 1 and len(sizes) < 200  # they did share batches
    pairs = zip(together, alone, strict=True)
    wrong = [n for n, pair in enumerate(pairs) if not same(*pair)]
    assert wrong == []


def test_rows_of_ids_are_padded_by_the_server(batching, translator):
    """Whatever it pads with: rows of two requests share a batch."""
    ragged = translator.tokenizer.tokenize(TEXTS[:6])
    expected = [x.hypotheses[0] for x in translator.translate(TEXTS[:6])]
    rows = [row.numpy().reshape(1, -1) for row in ragged]

    def ask(client, row):
        lengths = np.asarray(row.shape[1:], np.int32)
        found = client.predict("translate_ids", ids=row, lengths=lengths)
        return tuple(found["ids"][0][: found["lengths"][0]].tolist())

    with connected(batching) as client:
        before = len(batching.batches()["model"])
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            found = [
                list(pool.map(ask, itertools.repeat(client), rows)) for _ in range(10)
            ]
    assert max(batching.batches()["model"][before:]) > 1
    assert all(said == [x.ids for x in expected] for said in found)


def test_more_rows_than_a_batch(batching):
    with connected(batching) as client:
        assert len(client.translate(["to be"] * 32)) == 32
        with pytest.raises(ServingError, match="a request of 33 rows is larger"):
            client.translate(["to be"] * 33)


def test_a_deadline_ends_a_long_search(batching):
    """1 024 more pieces for each of 32 texts, with 16 beams, take many seconds."""
    texts = ["to be or not to be"] * 32
    slow = {"max_extra_length": 1_024, "beam_size": 16, "num_hypotheses": 16}
    with connected(batching) as client:
        expected = client.translate(["to be"])
        for deadline in (2.0, 0.2):
            with connected(batching, deadline_seconds=deadline) as hasty:
                began = time.monotonic()
                with pytest.raises(ServingError, match="within the deadline"):
                    hasty.nbest(texts, **slow)
                assert deadline - 0.05 < time.monotonic() - began < deadline + 0.3
        began = time.monotonic()
        assert client.translate(["to be"]) == expected
        assert time.monotonic() - began < 1.0  # it is over in the server too


def wait_for(client, number, state, seconds=60):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        found = client.status().get(number, ("", ""))
        if found[0] == state:
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"version {number} is not {state}: {client.status()}")


class Load:
    """Requests that go on beside a test; gives how many there were and what failed."""

    def __init__(self, server, threads=4):
        self.count, self.failures, self._ended = 0, [], threading.Event()
        self._client = connected(server, retries=0)
        expected = self._client.translate(TEXTS)
        self._threads = [
            threading.Thread(target=self._ask, args=(expected,)) for _ in range(threads)
        ]

    def _ask(self, expected):
        while not self._ended.is_set():
            try:
                said = self._client.translate(TEXTS)
                if [x.text for x in said] != [x.text for x in expected]:
                    self.failures.append(said)
                self.count += 1
            except ServingError as error:
                self.failures.append(error)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._client.close()


@pytest.mark.parametrize(
    "swaps", [5, pytest.param(50, marks=pytest.mark.campaign)], ids=str
)
def test_swaps_under_load_fail_no_request(versions, swaps):
    """A newer version each time, or, every fifth time, back to the one before."""
    versions(1)
    with process.serving(*POLL, PER_MODEL, model=versions.folder) as server:
        with connected(server) as client, Load(server) as load:
            before, numbers = server.resident_bytes(), [1]
            for swap in range(1, swaps + 1):
                if swap % 5 == 0:
                    shutil.rmtree(versions.folder / str(numbers.pop()))
                else:
                    numbers.append(swap + 1)
                    versions(numbers[-1])
                wait_for(client, numbers[-1], "AVAILABLE")
        print(f"{load.count} requests, {swaps} swaps, {before / 1e6:.0f} MB, then")
        print(f"{server.resident_bytes() / 1e6:.0f} MB")
        assert load.failures == []
        assert load.count > 5 * swaps


def test_a_version_that_is_not_whole_leaves_the_old_one(versions, version):
    """Half copied, then with a damaged graph, weights or warm-up request.

    A graph whose variables are missing altogether is loaded without a complaint and
    fails at its first request: it is the warm-up that keeps it from being served.
    """
    versions(1)
    with process.serving(*POLL, model=versions.folder) as server:
        with connected(server) as client, Load(server, threads=1) as load:
            staged = versions.folder.parent / "damaged"
            without = shutil.ignore_patterns("variables")
            shutil.copytree(version, staged, ignore=without)
            staged.rename(versions.folder / "2")  # at once: the server polls meanwhile
            assert "Could not find variable" in wait_for(client, 2, "END")
            for number, name in enumerate(
                (
                    "saved_model.pb",
                    "variables/variables.data-00000-of-00001",
                    "assets.extra/tf_serving_warmup_requests",
                ),
                start=3,
            ):
                shutil.copytree(version, staged)
                content = bytearray((staged / name).read_bytes())
                content[len(content) // 2] ^= 0x55
                (staged / name).write_bytes(content[: len(content) * 3 // 4])
                staged.rename(versions.folder / str(number))
                assert wait_for(client, number, "END")
            states = {number: state for number, (state, _) in client.status().items()}
            assert states == {1: "AVAILABLE", 2: "END", 3: "END", 4: "END", 5: "END"}
            versions(6)  # and a whole one is served
            wait_for(client, 6, "AVAILABLE")
            wait_for(client, 1, "END")
        assert load.failures == []


def test_memory_is_flat(batching):
    texts = texts_of(1_500)
    with connected(batching) as client:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked_together(pool, client, texts[:500])
            before = batching.resident_bytes()
            asked_together(pool, client, texts[500:])
    assert batching.resident_bytes() - before < 20e6


@pytest.mark.campaign
def test_a_long_load(batching, capsys):
    """16 threads; the answers, the memory, the pace."""
    kinds = texts_of(99)
    with connected(batching) as client:
        alone = [asked(client, n, text) for n, text in enumerate(kinds)]

        def ask(n):
            return same(asked(client, n % 99, kinds[n % 99]), alone[n % 99])

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            warm = sum(pool.map(ask, range(500)))
            memory = [batching.resident_bytes()]
            began, right = time.monotonic(), 0
            for part in range(10):
                numbers = range(part * CAMPAIGN // 10, (part + 1) * CAMPAIGN // 10)
                right += sum(pool.map(ask, numbers))
                memory.append(batching.resident_bytes())
            seconds = time.monotonic() - began
    sizes = batching.batches()["model"]
    with capsys.disabled():
        print(
            f"\n{CAMPAIGN} requests, 16 threads: {CAMPAIGN / seconds:.0f} requests/s, "
            f"{sum(sizes) / len(sizes):.1f} rows a batch (largest {max(sizes)}), "
            f"memory {', '.join(f'{x / 1e6:.0f}' for x in memory)} MB"
        )
    assert warm == 500 and right == CAMPAIGN
    assert memory[-1] - memory[0] < 20e6
