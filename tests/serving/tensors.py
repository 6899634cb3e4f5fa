"""Tensors between messages, JSON and the engine: (dtype, flat values, shape)."""

import math
import struct
import typing

from tests.serving.failures import Failure
from tests.serving.protos import engine

FLOAT, INT32, STRING, INT64, BOOL = 1, 3, 7, 9, 10
FIELDS = {
    FLOAT: "float_val",
    INT32: "int_val",
    STRING: "string_val",
    INT64: "int64_val",
    BOOL: "bool_val",
}
CODES = engine.c_api.FORMATS


class Tensor(typing.NamedTuple):
    """One tensor; strings are bytes."""

    dtype: int
    values: list
    shape: list

    def rows(self, start, end):
        """Those rows of it."""
        cells = math.prod(self.shape[1:])
        values = self.values[start * cells : end * cells]
        return Tensor(self.dtype, values, [end - start, *self.shape[1:]])


def from_proto(name, proto):
    """A `Tensor` of a TensorProto."""
    shape = [each.size for each in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.dtype not in FIELDS or min(shape, default=0) < 0:
        raise Failure("INVALID_ARGUMENT", f"tensor parsing error: {name}")
    if proto.tensor_content:
        code = CODES.get(proto.dtype)
        if not code or len(proto.tensor_content) != count * struct.calcsize(code):
            raise Failure("INVALID_ARGUMENT", f"tensor parsing error: {name}")
        values = list(struct.unpack(f"<{count}{code}", proto.tensor_content))
        return Tensor(proto.dtype, values, shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))
    if len(values) > count:
        raise Failure("INVALID_ARGUMENT", f"tensor parsing error: {name}")
    # Fewer values than cells: the last one fills the rest, or the type's zero.
    blank = b"" if proto.dtype == STRING else 0
    values += [values[-1] if values else blank] * (count - len(values))
    return Tensor(proto.dtype, values, shape)


def to_proto(tensor, proto):
    """Fills a TensorProto."""
    proto.dtype = tensor.dtype
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=size)
    getattr(proto, FIELDS[tensor.dtype]).extend(tensor.values)
