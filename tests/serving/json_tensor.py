"""REST bodies to tensors and back, by the rules of json_tensor.cc."""

import base64
import binascii
import json
import math
import struct

from tests.serving.failures import Failure
from tests.serving.tensors import BOOL, FLOAT, INT32, INT64, STRING, Tensor

NAMES = {FLOAT: "float", INT32: "int32", INT64: "int64", STRING: "string"}
NAMES[BOOL] = "bool"


def _refuse(*words):
    raise Failure("INVALID_ARGUMENT", "".join(map(str, words)))


def read_request(body, inputs_of):
    """Returns (signature, {name: Tensor}, whether it came in rows).

    Args:
        body: bytes.
        inputs_of: signature -> {name: TensorInfo}.
    """
    if not body:
        _refuse("JSON Parse error: The document is empty")
    try:
        document = json.loads(body)
    except ValueError as error:
        _refuse("JSON Parse error: ", error)
    if not isinstance(document, dict):
        _refuse("JSON Value: ", json.dumps(document), " Is not object")
    signature = document.get("signature_name", "serving_default")
    if not isinstance(signature, str):
        _refuse("'signature_name' key must be a string value.")
    infos = inputs_of(signature)
    if "instances" in document and "inputs" in document:
        _refuse("Not formatted correctly expecting only one of 'inputs' or 'instances'")
    if "instances" in document:
        return signature, _from_rows(document["instances"], infos), True
    if "inputs" in document:
        return signature, _from_columns(document["inputs"], infos), False
    return _refuse("Missing 'inputs' or 'instances' key")


def _is_object(value):
    """An object that is no text in base64."""
    is_text = isinstance(value, dict) and list(value) == ["b64"]
    return isinstance(value, dict) and not (is_text and isinstance(value["b64"], str))


def _from_rows(rows, infos):
    if not isinstance(rows, list):
        _refuse("Excepting 'instances' to be an list/array")
    if not rows:
        _refuse("No values in 'instances' array")
    named = _is_object(rows[0])
    if not isinstance(rows[0], dict) and len(infos) > 1:
        _refuse(
            "instances is a plain list, but expecting list of objects as multiple "
            "input tensors required as per tensorinfo_map"
        )
    found = {name: [] for name in infos}
    for number, row in enumerate(rows):
        if _is_object(row) != named:
            kinds = "object but got list" if named else "value/list but got object"
            _refuse("Expecting ", kinds, f" at item {number} of input list")
        if not named:
            row = {next(iter(infos)): row}
        for name, value in row.items():
            if name not in infos:
                _refuse("JSON object: does not have named input: ", name)
            tensor = _tensor(value, infos[name].dtype)
            if found[name] and found[name][0].shape != tensor.shape:
                _refuse(f"Expecting shape {found[name][0].shape} but got: ")
            found[name].append(tensor)
        if set(row) != set(infos):
            _refuse(
                f"Failed to process element: {number} of 'instances' list. JSON object "
                f"keys must be equal to: {','.join(sorted(infos))}"
            )
    return {
        name: Tensor(
            infos[name].dtype,
            [value for tensor in tensors for value in tensor.values],
            [len(rows), *tensors[0].shape],
        )
        for name, tensors in found.items()
    }


def _from_columns(columns, infos):
    if not _is_object(columns):
        if len(infos) > 1:
            _refuse(
                "inputs is a plain value/list, but expecting an object as multiple "
                "input tensors required as per tensorinfo_map"
            )
        columns = {next(iter(infos)): columns}
    for name in infos:
        if name not in columns:
            _refuse("Missing named input: ", name, " in 'inputs' object.")
    return {name: _tensor(columns[name], info.dtype) for name, info in infos.items()}


def _tensor(value, dtype):
    """The shape is that of the first element at each level; all others must fit."""
    shape, first = [], value
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    values = []

    def fill(item, level):
        if not isinstance(item, list):
            if level != len(shape):
                _refuse(f"JSON Value: {item!r} found at incorrect level: {level + 1}")
            values.append(_cell(item, dtype))
            return
        if level >= len(shape):
            _refuse(f"Encountered list at unexpected level: {level}")
        if len(item) != shape[level]:
            _refuse(
                f"Encountered list at unexpected size: {len(item)} at level: {level} "
                f"expected size: {shape[level]}"
            )
        for each in item:
            fill(each, level + 1)

    fill(value, 0)
    return Tensor(dtype, values, shape)


def _cell(value, dtype):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    whole = number and isinstance(value, int)
    if dtype == STRING and isinstance(value, str):
        return value.encode("utf-8")
    if dtype == STRING and isinstance(value, dict):
        return _text_of(value)
    if dtype == FLOAT and number:
        exact = abs(value) < 1 << 24 if whole else True
        if not exact or (math.isfinite(value) and abs(value) > 3.4028235677973366e38):
            _refuse(f"Cannot convert JSON value: {value} to float without loss of ")
        return float(value)
    if dtype == BOOL and isinstance(value, bool):
        return value
    bits = {INT32: 31, INT64: 63}.get(dtype, 0)
    if whole and -(1 << bits) <= value < 1 << bits:
        return value
    return _refuse(
        f"JSON Value: {json.dumps(value)} is not of expected type: {NAMES[dtype]}"
    )


def _text_of(value):
    if _is_object(value):
        _refuse(f"JSON Value: {json.dumps(value)} not formatted correctly for base64")
    try:
        return base64.b64decode(value["b64"], validate=True)
    except binascii.Error:
        return _refuse("Unable to base64 decode")


def write_answer(outputs, as_rows):
    """Returns the body, bytes, of {name: Tensor}."""
    if not as_rows:
        columns = {name: _nested(name, x, x.shape) for name, x in outputs.items()}
        return spelled({"outputs": _unnamed(columns)})
    rows = None
    for name, tensor in sorted(outputs.items()):
        if not tensor.shape:
            _refuse("Tensor name: ", name, " has no shape information ")
        if rows not in (None, tensor.shape[0]):
            _refuse(
                f"Tensor name: {name} has inconsistent batch size: {tensor.shape[0]} "
                f"expecting: {rows}"
            )
        rows = tensor.shape[0]
    columns = {name: _nested(name, x, x.shape) for name, x in outputs.items()}
    predictions = [
        _unnamed({name: column[row] for name, column in columns.items()})
        for row in range(rows)
    ]
    return spelled({"predictions": predictions})


def _unnamed(values):
    """The only output loses its name."""
    return values if len(values) > 1 else next(iter(values.values()))


def _nested(name, tensor, shape):
    cells = iter(tensor.values)
    as_bytes = tensor.dtype == STRING and name.endswith("_bytes")

    def build(level):
        if level == len(shape):
            value = next(cells)
            if tensor.dtype == FLOAT:
                return _Decimal(value)
            if tensor.dtype != STRING:
                return value
            if as_bytes:
                return {"b64": base64.b64encode(value).decode()}
            return value.decode("utf-8", "surrogateescape")
        return [build(level + 1) for _ in range(shape[level])]

    return build(0)


class _Decimal(float):
    """A float32, spelled with the fewest digits that give it back."""

    def __repr__(self):
        for digits in (6, 9):
            text = f"{float(self):.{digits}g}"
            if struct.pack("f", float(text)) == struct.pack("f", float(self)):
                break
        return text if "." in text or "e" in text else f"{text}.0"


def spelled(document):
    """JSON as a server writes it: texts are UTF-8, or whatever bytes they are."""
    return "".join(_pieces(document)).encode("utf-8", "surrogateescape")


def _pieces(value):
    """Text of a value; `json` spells a subclass of float as it spells a float."""
    if isinstance(value, dict):
        yield "{"
        for number, (key, each) in enumerate(value.items()):
            yield f"{', ' if number else ''}{json.dumps(key)}: "
            yield from _pieces(each)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, each in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(each)
        yield "]"
    elif isinstance(value, _Decimal) and math.isfinite(value):
        yield repr(value)
    else:
        yield json.dumps(value, ensure_ascii=False)
