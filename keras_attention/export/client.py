"""A client of a model in TensorFlow Serving, over gRPC or REST."""

import functools
import random
import threading
import time

import numpy as np
from absl import logging

from keras_attention.checks import check_choice, check_integer, check_number
from keras_attention.decoding.texts import check_beside, check_texts
from keras_attention.decoding_config import DecodingConfig
from keras_attention.export import client_answers as answers
from keras_attention.export.client_errors import ServingError, explained
from keras_attention.export.client_grpc import GrpcTransport
from keras_attention.export.client_rest import RestTransport

_TRANSPORTS = {"grpc": GrpcTransport, "rest": RestTransport}
PROTOCOLS = tuple(_TRANSPORTS)
DEFAULT_SIGNATURE = "serving_default"
# Seconds before the first retry; each further one doubles it, up to the longest.
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 5.0
# What signature `nbest` is asked for of a search, and the type of each.
SEARCH = {
    "num_hypotheses": np.int32,
    "beam_size": np.int32,
    "length_penalty_alpha": np.float32,
    "max_extra_length": np.int32,
}


class TranslationClient:
    """Asks a server for the signatures of one exported model; threads may share it.

    A request that found no server, or a server that is too busy, is sent again after
    0.2 s, then after twice as long each time (a little less, drawn at random, so that
    many clients do not return together). What the server refused, or did not answer
    in time, is not sent again.

    Args:
        address: "host:port" of the server, of its gRPC port (usually 8500) or REST port
            (8501); for REST a URL as well.
        model: name that the server knows the model by.
        version: number of a version; None is the newest that is served.
        protocol: "grpc", or "rest", which is for networks that let only HTTP pass: its
            messages are larger and slower to read.
        deadline_seconds: of a request with all its retries.
        retries: further tries after the first.
        max_message_bytes: of an answer. 64 MiB, as those of `encode` and `explain` pass
            the 4 MB that gRPC takes by itself.

    Raises:
        ValueError: an argument is wrong, or the extra `client` is not installed.
        ServingError: by every method: no server, no such model, version or signature, a
            message too big, the deadline passed, an answer that is none.

    Example:

    >>> client = TranslationClient("localhost:1", "en-de", protocol="rest", retries=0)
    >>> client.translate(["A dog runs."])
    Traceback (most recent call last):
    ...
    keras_attention.export.client_errors.ServingError: no server at localhost:1, ...
    """

    def __init__(
        self,
        address,
        model,
        version=None,
        protocol="grpc",
        deadline_seconds=60.0,
        retries=5,
        max_message_bytes=64 << 20,
    ):
        check_choice("protocol", protocol, PROTOCOLS)
        _check_address(address, protocol)
        if not model or not isinstance(model, str):
            raise ValueError(
                f"`model` must be the name of a model. Received: {model!r}. Pass the "
                "name that the server was given for it."
            )
        check_integer("version", version, optional=True)
        check_number("deadline_seconds", deadline_seconds, open_low=True)
        check_integer("retries", retries, minimum=0)
        check_integer("max_message_bytes", max_message_bytes)
        self._transport = _TRANSPORTS[protocol](address, max_message_bytes)
        self._retries = retries
        self._closed = threading.Event()
        self._request = {
            "address": address,
            "protocol": {"grpc": "gRPC", "rest": "REST"}[protocol],
            "name": model,
            "version": version,
            "model": model if version is None else f"{model}, version {version}",
            "deadline_seconds": deadline_seconds,
            "max_message_bytes": max_message_bytes,
            "signature": DEFAULT_SIGNATURE,
            "rows": 0,
        }

    def translate(self, texts):
        """Returns a list of `ServedTranslation`, one for each of the texts.

        Args:
            texts: list of str, or of bytes, which may be no UTF-8.
        """
        texts = check_texts("texts", texts)
        columns = self._columns(DEFAULT_SIGNATURE, len(texts), text=_strings(texts))
        return answers.read_translations(columns)

    def nbest(self, texts, **search):
        """Returns a list of `ServedHypotheses`.

        Args:
            texts: as in `translate`.
            **search: `num_hypotheses`, `beam_size`, `length_penalty_alpha` and
                `max_extra_length`, each one value or a list with one for each of the
                texts. The defaults are those of `DecodingConfig`, whatever the model
                was exported with. The server moves what is out of range into it and
                says so (`adjusted`).
        """
        texts = check_texts("texts", texts)
        values = {"text": _strings(texts), **_search_values(search, len(texts))}
        columns = self._columns("nbest", len(texts), **values)
        return answers.read_hypotheses(columns)

    def score(self, sources, targets):
        """Returns a list of `ServedScore`, one for each pair.

        Args:
            sources, targets: as the texts of `translate`, a target for every source.
        """
        sources, targets = (
            check_texts("sources", sources),
            check_texts("targets", targets),
        )
        check_beside("sources", sources, "targets", targets)
        columns = self._columns(
            "score", len(sources), source=_strings(sources), target=_strings(targets)
        )
        return answers.read_scores(columns)

    def explain(self, texts):
        """Returns a list of `ServedExplanation`; the texts are as in `translate`."""
        texts = check_texts("texts", texts)
        columns = self._columns("explain", len(texts), text=_strings(texts))
        return answers.read_explanations(columns)

    def predict(self, signature=DEFAULT_SIGNATURE, **inputs):
        """Returns the outputs of any signature, {name: array}.

        Args:
            signature: its name.
            **inputs: arrays, or what NumPy makes arrays of the right type of; texts as
                arrays of `object` that hold bytes. What comes back over REST is
                float32, int32, bool or bytes.
        """
        inputs = {name: np.asarray(values) for name, values in inputs.items()}
        rows = max((len(x) for x in inputs.values() if x.ndim), default=0)
        request = {**self._request, "signature": signature, "rows": rows}
        try:
            return self._retried(self._transport.predict, request, inputs)
        except ServingError as error:
            if not error.lacks_signature:
                raise
            found = ", ".join(sorted(self.signatures()))
            message = f"{error}; it has: {found}"
            raise ServingError("NOT_FOUND", message, error.detail) from error

    def status(self):
        """Returns {version: (state, message)} of the versions the server knows of.

        States are those of TensorFlow Serving: "START", "LOADING", "AVAILABLE",
        "UNLOADING" and "END"; the message tells why one could not be loaded.
        """
        return self._retried(self._transport.status, self._request)

    def signatures(self):
        """Returns {name: (names of the inputs, names of the outputs)}."""
        return self._retried(self._transport.signatures, self._request)

    def close(self):
        """Ends the connection, and what is under way on it."""
        self._closed.set()
        self._transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _columns(self, signature, rows, **inputs):
        outputs = self.predict(signature, **inputs)
        request = {**self._request, "signature": signature}
        return answers.Columns(outputs, rows, request)

    def _retried(self, call, request, *arguments):
        """Calls until there is an answer, an error that stays, or the deadline."""
        ends = time.monotonic() + request["deadline_seconds"]
        wait = _FIRST_WAIT
        for left in range(self._retries, -1, -1):
            timeout = ends - time.monotonic()
            if timeout <= 0:
                raise explained("DEADLINE_EXCEEDED", "between two tries", request)
            try:
                return call(*arguments, request, timeout)
            except ServingError as error:
                delay = wait * random.uniform(0.5, 1.0)
                too_late = time.monotonic() + delay >= ends
                if not left or too_late or not error.may_be_retried:
                    raise
                logging.warning("%s Trying again in %.1f s.", error, delay)
            if self._closed.wait(delay):
                raise ServingError("CANCELLED", "the client was closed")
            wait = min(2 * wait, _LONGEST_WAIT)


def _check_address(address, protocol):
    is_url = isinstance(address, str) and "://" in address
    wrong = not address or not isinstance(address, str) or address.endswith(":")
    if not wrong and protocol == "grpc":
        port = address.rpartition(":")[2]  # gRPC takes 443 for none, and wraps others
        wrong = not (port.isdigit() and 0 < int(port) < 1 << 16)
    if wrong or (is_url and protocol == "grpc"):
        kinds = '"host:port"' if protocol == "grpc" else '"host:port" or a URL'
        raise ValueError(
            f"`address` must be {kinds} with protocol {protocol!r}. Received: "
            f"{address!r}. Pass that of the server's {protocol} port."
        )


def _strings(texts):
    """Returns texts as an array of `object`; NumPy's own bytes drop final zeros."""
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def _search_values(search, rows):
    """Returns {name: array (rows,)} of what a search is asked for."""
    if unknown := set(search) - set(SEARCH):
        raise ValueError(
            f"A request of n-best lists takes {', '.join(SEARCH)}. Received: "
            f"{', '.join(sorted(unknown))}. The other fields are fixed at the export."
        )
    values = {}
    for name, kind in SEARCH.items():
        value = np.asarray(search.get(name, _default(name)))
        if value.dtype.kind not in "iuf"[: 3 if kind is np.float32 else 2]:
            raise ValueError(
                f"`{name}` must hold {kind.__name__}. Received: {search[name]!r}. Pass "
                "one number, or one for each of the texts."
            )
        if value.shape not in ((), (rows,)):
            raise ValueError(
                f"`{name}` must be one value, or one for each of {rows} texts. "
                f"Received: shape {value.shape}. Pass a number or a list of {rows}."
            )
        if kind is np.int32 and np.any(value != value.astype(kind)):
            raise ValueError(
                f"`{name}` must fit into {kind.__name__}. Received: {search[name]!r}. "
                "Ask for less."
            )
        values[name] = np.broadcast_to(value, (rows,)).astype(kind)
    return values


@functools.cache
def _default(name):
    return getattr(DecodingConfig(), name)
