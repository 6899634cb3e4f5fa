"""The little that `engine` reads and writes of protocol buffers, by hand.

A process without Python's tensorflow has no generated classes; the standard library
is all that is imported.
"""

import typing

INTERNAL = "__"  # how the keys of signatures begin that no request may name


class TensorInfo(typing.NamedTuple):
    """One input or output of a signature."""

    tensor: str  # name in the graph, "operation:index"
    dtype: int  # TF_DataType
    shape: list[int] | None  # -1 = any size; None = any rank


def fields(message):
    """Yields (number, value) of a serialised protocol buffer, one level deep."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        if tag & 7 == 0:
            value, at = _varint(message, at)
        elif tag & 7 in (1, 2, 5):
            width = {1: 8, 5: 4}.get(tag & 7)
            if width is None:
                width, at = _varint(message, at)
            value, at = message[at : at + width], at + width
        else:
            raise ValueError(
                f"Expected a serialised protocol buffer. Received: the tag {tag}. "
                "The message is damaged."
            )
        yield tag >> 3, value


def _varint(message, at):
    result = shift = 0
    while True:
        byte = message[at]
        at, result, shift = at + 1, result | (byte & 127) << shift, shift + 7
        if byte < 128:
            return result, at


def _map(message, number):
    """Returns a map<string, message> field as a dictionary."""
    entries = (dict(fields(value)) for key, value in fields(message) if key == number)
    return {entry[1].decode(): entry.get(2, b"") for entry in entries}


def read_signatures(meta_graph):
    """Returns {key: ({input: TensorInfo}, {output: TensorInfo})} of a MetaGraphDef.

    Args:
        meta_graph: the serialised message.
    """
    return {
        key: tuple(
            {name: _tensor_info(x) for name, x in _map(signature, number).items()}
            for number in (1, 2)
        )
        for key, signature in _map(meta_graph, 5).items()
        if not key.startswith(INTERNAL)
    }


def _tensor_info(message):
    info = dict(fields(message))
    shape = list(fields(info.get(3, b"")))
    sizes = [dict(fields(value)).get(1, 0) for number, value in shape if number == 2]
    signed = [size - (size >> 63 << 64) for size in sizes]
    unknown = any(number == 3 and value for number, value in shape)
    return TensorInfo(info[1].decode(), info[2], None if unknown else signed)


def run_options(timeout_ms):
    """Returns a serialised RunOptions with a deadline."""
    message, left = bytearray([2 << 3]), timeout_ms  # field 2, a varint
    while left > 127:
        message.append(left & 127 | 128)
        left >>= 7
    return bytes([*message, left])
