"""What can go wrong between a client and a server, each in one plain line."""

# Codes of gRPC; over REST the same are told by the status of HTTP (http_server.cc).
CODE_OF_HTTP = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    412: "FAILED_PRECONDITION",
    413: "RESOURCE_EXHAUSTED",
    416: "OUT_OF_RANGE",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",  # of a proxy before the server
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
# What the server says, by which one code is told from another use of it.
_NO_SIGNATURE = ("Serving signature key", "Serving signature name")
_TOO_MANY_ROWS = "larger than maximum input batch size"
_TOO_BIG = ("message larger than max", "larger than `max_message_bytes`")
# A request that is not right stays so, whoever asks again.
_WRONG_REQUEST = ("NOT_FOUND", "INVALID_ARGUMENT")


class ServingError(OSError):
    """No answer, or not the one that was asked for.

    Args:
        code: name of a gRPC status, such as "NOT_FOUND"; of what came over REST, the
            one that the server means.
        message: one line for the user.
        detail: what the server or the library said.

    Attributes:
        exit_code: of a binary that ends with it: 2 for a request that is wrong, 1 for
            anything else.

    Example:

    >>> ServingError("UNAVAILABLE", "no server answers").may_be_retried
    True
    """

    def __init__(self, code, message, detail=""):
        super().__init__(" ".join(message.split()))
        self.code = code
        self.detail = detail

    @property
    def exit_code(self):
        return 2 if self.code in _WRONG_REQUEST else 1

    @property
    def may_be_retried(self):
        """Whether the same request may find an answer a moment later.

        A translation changes nothing in the server, so one that was lost on its way
        may be asked for again.
        """
        overloaded = self.code == "RESOURCE_EXHAUSTED" and not self.is_too_big
        return self.code == "UNAVAILABLE" or overloaded

    @property
    def is_too_big(self):
        """Whether a message was larger than one side takes."""
        return any(words in self.detail for words in _TOO_BIG)

    @property
    def lacks_signature(self):
        """Whether the model was found and has no such signature."""
        return any(words in self.detail for words in _NO_SIGNATURE)


def explained(code, detail, request):
    """Returns the `ServingError` of a code, with what to do about it.

    Args:
        code, detail: as in `ServingError`.
        request: dictionary of `address`, `protocol`, `model` (with its version),
            `signature`, `rows`, `deadline_seconds` and `max_message_bytes`.

    Example:

    >>> request = {"address": "host:8500", "model": "en-de, version 7"}
    >>> print(explained("NOT_FOUND", "Servable not found", request))
    host:8500 serves no model en-de, version 7: Servable not found
    """
    message = f"{request['address']} answers {code}: {detail or 'no reason given'}"
    error = ServingError(code, message, detail)
    if code == "UNAVAILABLE":
        message = (
            "no server at {address}, or it is too busy: {detail}. Is it up, and is "
            "this its {protocol} port (usual are 8500 for gRPC, 8501 for REST)?"
        )
    elif code == "NOT_FOUND":
        message = "{address} serves no model {model}: {detail}"
    elif error.lacks_signature:
        message = "model {model} at {address} has no signature {signature!r}"
    elif _TOO_MANY_ROWS in detail:
        message = (
            "a request of {rows} rows is larger than a batch of {address}: {detail}. "
            "Send fewer at a time (`batch_size`)"
        )
    elif code == "RESOURCE_EXHAUSTED" and error.is_too_big:
        message = (
            "a message is too big: {detail}. Send fewer rows at a time, or raise "
            "`max_message_bytes` (now {max_message_bytes}) on the side that refuses"
        )
    elif code == "DEADLINE_EXCEEDED":
        message = (
            "no answer from {address} within the deadline, {deadline_seconds:g} s or "
            "that of the server ({detail}). Send fewer rows at a time, or raise "
            "`deadline_seconds`"
        )
    else:
        return error
    return ServingError(code, message.format(**request, detail=detail), detail)


def unexpected(request, what):
    """Returns the `ServingError` of an answer that is none."""
    return ServingError(
        "DATA_LOSS",
        f"the answer of {request['address']} is not what signature "
        f"{request['signature']!r} gives: {what}",
        what,
    )


def needing_extra(package, error):
    """Returns the `ValueError` for a package of the extra that is not installed."""
    return ValueError(
        f"A client of TensorFlow Serving needs {package}. Received: {error}. "
        "Run `pip install 'keras-attention[client]'`."
    )
