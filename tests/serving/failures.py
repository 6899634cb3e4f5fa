"""What the server refuses, with a code of gRPC."""

CODES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED"),
    *("NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED"),
    *("FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL"),
    *("UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
# ToHTTPStatusCode of model_servers/http_server.cc.
HTTP = {
    "INVALID_ARGUMENT": 400,
    "NOT_FOUND": 404,
    "DEADLINE_EXCEEDED": 504,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 412,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
}


class Failure(Exception):
    """A request that gets no answer."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    @classmethod
    def of_engine(cls, error):
        """The same failure as the engine's, whose text begins with its number."""
        return cls(CODES[error.code], str(error).partition("] ")[2])
