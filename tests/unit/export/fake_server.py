"""The doors of the test server before a model that says what a test wants."""

import contextlib
import threading
import time
import types

from tests.serving import fronts
from tests.serving.failures import Failure
from tests.serving.service import Service
from tests.serving.tensors import BOOL, FLOAT, INT32, STRING, Tensor


def info(dtype, *shape):
    """What the engine tells of an input or output."""
    return types.SimpleNamespace(tensor="x:0", dtype=dtype, shape=[-1, *shape])


TEXT = {"text": info(STRING)}
SIGNATURES = {
    "serving_default": (
        TEXT,
        {"translation": info(STRING), "score": info(FLOAT), "truncated": info(BOOL)},
    ),
    "nbest": (
        {
            **TEXT,
            "beam_size": info(INT32),
            "length_penalty_alpha": info(FLOAT),
            "max_extra_length": info(INT32),
            "num_hypotheses": info(INT32),
        },
        {"translations": info(STRING, -1)},
    ),
    "score": (
        {"source": info(STRING), "target": info(STRING)},
        {"log_probability": info(FLOAT)},
    ),
    "explain": (TEXT, {"translation": info(STRING)}),
    "encode": (TEXT, {"memory": info(FLOAT, -1, 2)}),
}


def echo(signature, inputs, seconds):
    """`serving_default` that says the text itself, in capitals."""
    texts = inputs["text"].values
    rows = [len(texts)]
    return {
        "translation": Tensor(STRING, [text.upper() for text in texts], rows),
        "score": Tensor(FLOAT, [-0.5 * n for n in range(len(texts))], rows),
        "truncated": Tensor(BOOL, [len(text) > 9 for text in texts], rows),
    }


class FakeModel:
    """One version, number 3, of a model.

    Attributes:
        run: called as `Version.run`; may be set to another function.
        calls: (signature, inputs) of each request.
        most: requests that were under way at once.
    """

    def __init__(self):
        self.signatures = SIGNATURES
        self.number = 3
        self.answer = echo
        self.calls, self.most, self._now = [], 0, 0
        self._lock = threading.Lock()
        self.states = {3: ["AVAILABLE", "OK", ""], 4: ["END", "DATA_LOSS", "a flip"]}

    @contextlib.contextmanager
    def version(self, number=None):
        if number not in (None, 3):
            message = f"Servable not found for request: Specific(en-de, {number})"
            raise Failure("NOT_FOUND", message)
        yield self

    def run(self, signature, inputs, seconds):
        with self._lock:
            self.calls.append((signature, inputs))
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            return self.answer(signature, inputs, seconds)
        finally:
            with self._lock:
                self._now -= 1

    def failing(self, times, *failure):
        """Fails so many times, then answers; forever if `times` is None."""

        def answer(*arguments):
            if times is None or len(self.calls) <= times:
                raise Failure(*failure)
            return echo(*arguments)

        self.answer = answer

    def slow(self, seconds):
        """Answers later, or fails at the deadline as the engine does."""

        def answer(signature, inputs, limit):
            time.sleep(min(seconds, limit))
            if seconds >= limit:
                raise Failure("DEADLINE_EXCEEDED", "Timed out.")
            return echo(signature, inputs, limit)

        self.answer = answer


@contextlib.contextmanager
def serving(model, max_message_bytes=2**31 - 1, ports=None):
    """Gives {protocol: address} of a running server; ports are free ones by default."""
    ports = ports or {}
    service = Service({"en-de": model})
    grpc_server, grpc_port = fronts.serve_grpc(
        service, 16, max_message_bytes, ports.get("grpc", 0)
    )
    rest_server, rest_port = fronts.serve_rest(service, 30.0, ports.get("rest", 0))
    try:
        yield {"grpc": f"127.0.0.1:{grpc_port}", "rest": f"127.0.0.1:{rest_port}"}
    finally:
        rest_server.shutdown()
        rest_server.server_close()
        grpc_server.stop(0).wait()
