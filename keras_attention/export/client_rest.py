"""Requests to TensorFlow Serving over its REST interface; needs no TensorFlow."""

import base64
import json
import threading
import time
import urllib.parse

import numpy as np

from keras_attention.export.client_errors import (
    CODE_OF_HTTP,
    ServingError,
    explained,
    needing_extra,
    unexpected,
)

_CHUNK = 1 << 16


class RestTransport:
    """Connections to one server; threads may share it, and each has its own.

    Args:
        address: "host:port", or a URL with whatever a proxy puts before `/v1`.
        max_message_bytes: of an answer.

    Raises:
        ValueError: the extra `client` is not installed.
    """

    def __init__(self, address, max_message_bytes):
        try:
            import requests
        except ImportError as error:
            raise needing_extra("requests", error) from error
        self._requests = requests
        base = address if "://" in address else f"http://{address}"
        self._base = f"{base.rstrip('/')}/v1/models"
        self._max_bytes = max_message_bytes
        self._local = threading.local()
        self._sessions = []

    def predict(self, inputs, request, timeout):
        """Returns {name: array} of the outputs; the arguments are those of gRPC's."""
        body = {
            "signature_name": request["signature"],
            "inputs": {name: _to_json(values) for name, values in inputs.items()},
        }
        answer = self._called("POST", ":predict", request, timeout, body)
        outputs = answer.get("outputs") if isinstance(answer, dict) else None
        if outputs is None:
            raise unexpected(request, "no `outputs` in it")
        if not isinstance(outputs, dict):  # the only output loses its name
            _, names = self.signatures(request, timeout)[request["signature"]]
            outputs = {names[0]: outputs}
        try:
            return {name: _to_array(values) for name, values in outputs.items()}
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise unexpected(request, str(error)) from error

    def status(self, request, timeout):
        """Returns {version: (state, why)} of the model."""
        answer = self._called("GET", "", request, timeout)
        try:
            return {
                int(each["version"]): (each["state"], each["status"]["error_message"])
                for each in answer["model_version_status"]
            }
        except (KeyError, TypeError, ValueError) as error:
            raise unexpected(
                request, f"no status of a model in it ({error})"
            ) from error

    def signatures(self, request, timeout):
        """Returns {name: (names of inputs, names of outputs)}."""
        answer = self._called("GET", "/metadata", request, timeout)
        try:
            found = answer["metadata"]["signature_def"]["signature_def"]
            return {
                name: (sorted(each["inputs"]), sorted(each["outputs"]))
                for name, each in found.items()
            }
        except (AttributeError, KeyError, TypeError) as error:
            raise unexpected(request, f"no signatures in it ({error})") from error

    def close(self):
        """Closes the connections."""
        for session in self._sessions:
            session.close()

    def _called(self, method, what, request, timeout, body=None):
        """Returns the parsed JSON of one answer."""
        errors = self._requests.exceptions
        try:
            status, content = self._exchanged(method, what, request, timeout, body)
        except errors.Timeout as error:
            raise explained("DEADLINE_EXCEEDED", str(error), request) from error
        except (errors.InvalidURL, errors.InvalidSchema) as error:
            raise ServingError("INVALID_ARGUMENT", f"{error}") from error
        except (errors.ConnectionError, errors.ChunkedEncodingError) as error:
            raise explained("UNAVAILABLE", _reason(error), request) from error
        try:
            answer = json.loads(content)
        except ValueError as error:
            start = content[:60].decode("utf-8", "replace")
            if status == 200 or status not in CODE_OF_HTTP:
                raise unexpected(request, f"{start!r} is no JSON: {error}") from error
            answer = {"error": f"HTTP {status}: {start}"}
        if status == 200:
            return answer
        code = CODE_OF_HTTP.get(status, "UNKNOWN")
        detail = answer.get("error") if isinstance(answer, dict) else None
        raise explained(code, str(detail or f"HTTP {status}"), request)

    def _exchanged(self, method, what, request, timeout, body):
        """Returns the status and the body of an answer, read under one deadline."""
        ends = time.monotonic() + timeout
        url = f"{self._base}/{urllib.parse.quote(request['name'], safe='')}"
        if request["version"] is not None:
            url += f"/versions/{request['version']}"
        response = self._session().request(
            method,
            url + what,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            timeout=timeout,  # of each wait for the socket
            stream=True,
            allow_redirects=False,
        )
        content = bytearray()
        with response:
            for chunk in response.iter_content(_CHUNK):
                content += chunk
                if len(content) > self._max_bytes:
                    detail = "the answer is larger than `max_message_bytes`"
                    raise explained("RESOURCE_EXHAUSTED", detail, request)
                if time.monotonic() > ends:
                    raise explained("DEADLINE_EXCEEDED", "a slow answer", request)
        return response.status_code, bytes(content)

    def _session(self):
        """The connection of this thread; a session of `requests` is for one."""
        if not hasattr(self._local, "session"):
            self._local.session = self._requests.Session()
            self._sessions.append(self._local.session)
        return self._local.session


def _reason(error):
    """Returns the innermost of the messages that one failure is wrapped in."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    reason = getattr(error, "reason", None) or error
    return str(reason).rpartition(">: ")[2]


def _to_json(values):
    """Returns nested lists; bytes that are no UTF-8 as {"b64": text}.

    Example:

    >>> _to_json(np.array([b"caf\\xc3\\xa9", b"\\xff"], object))
    ['caf\xe9', {'b64': '/w=='}]
    >>> _to_json(np.array([[1, 2]], np.int32))
    [[1, 2]]
    """
    if values.dtype != object:
        return values.tolist()
    if values.ndim > 1:
        return [_to_json(row) for row in values]
    return [_text_to_json(value) for value in values]


def _text_to_json(value):
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode("ascii")}


def _to_array(values):
    """Returns an array of the type that the graph gave, as far as JSON shows it.

    Example:

    >>> _to_array([["a", {"b64": "/w=="}]])
    array([[b'a', b'\\xff']], dtype=object)
    >>> _to_array([-0.5]).dtype, _to_array([[1]]).dtype, _to_array([True]).dtype
    (dtype('float32'), dtype('int32'), dtype('bool'))
    """
    leaf, shape = values, []
    while isinstance(leaf, list):
        shape.append(len(leaf))
        leaf = leaf[0] if leaf else None
    if isinstance(leaf, (str, dict)):
        array = np.empty(shape, object)
        flat = array.reshape(-1)
        for place, text in enumerate(_leaves(values, len(shape))):
            flat[place] = _text_from_json(text)
        return array
    array = np.asarray(values)
    kinds = {"f": np.float32, "i": np.int32, "b": np.bool_}
    if array.dtype.kind not in kinds:
        raise ValueError(f"neither texts nor numbers: {str(values)[:60]}")
    return array.astype(kinds[array.dtype.kind])


def _leaves(values, depth):
    if depth == 0:
        yield values
        return
    for value in values:
        yield from _leaves(value, depth - 1)


def _text_from_json(value):
    if isinstance(value, dict):
        return base64.b64decode(value["b64"], validate=True)
    return value.encode("utf-8")
