"""Runs a SavedModel in TensorFlow's C++ loader, without Python TensorFlow.

As near to TensorFlow Serving as a test can get: the C API opens the session, the ops
of tensorflow-text are shared libraries, and XLA is disabled by the function that the
stock server calls. Python carries the bytes and imports neither tensorflow nor keras.

Requests on standard input, answers on standard output, JSON, bytes as latin-1 text:

    python c_api.py SAVED_MODEL < requests.json > answers.json

A request is a list of strings, or {"values": [...], "shape": [...]}; an answer is
{"outputs": {name: list}, "shapes": {name: list}, "seconds": s} or {"error": text}.
`--package DIR` takes the engine from another installation of TensorFlow.
"""

import argparse
import ctypes
import importlib.util
import json
import pathlib
import struct
import sys
import time

FLOAT, STRING, BOOL = 1, 7, 10
WIDTHS = {FLOAT: 4, STRING: 24, BOOL: 1}
DISABLE_XLA = "_ZN10tensorflow21DisableXlaCompilationEv"


class Slot(ctypes.Structure):
    """TF_Output: one output of one operation."""

    _fields_ = [("operation", ctypes.c_void_p), ("index", ctypes.c_int)]


class Buffer(ctypes.Structure):
    """TF_Buffer: bytes that the library owns."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("deallocator", ctypes.c_void_p),
    ]


RESTYPES = {
    "TF_AllocateTensor": ctypes.c_void_p,
    "TF_Dim": ctypes.c_int64,
    "TF_GetCode": ctypes.c_int,
    "TF_GraphOperationByName": ctypes.c_void_p,
    "TF_LoadLibrary": ctypes.c_void_p,
    "TF_LoadSessionFromSavedModel": ctypes.c_void_p,
    "TF_Message": ctypes.c_char_p,
    "TF_NewBuffer": ctypes.POINTER(Buffer),
    "TF_NewGraph": ctypes.c_void_p,
    "TF_NewSessionOptions": ctypes.c_void_p,
    "TF_NewStatus": ctypes.c_void_p,
    "TF_NumDims": ctypes.c_int,
    "TF_StringGetDataPointer": ctypes.c_void_p,
    "TF_StringGetSize": ctypes.c_size_t,
    "TF_TensorData": ctypes.c_void_p,
    "TF_TensorType": ctypes.c_int,
}


class EngineError(RuntimeError):
    """What the C++ engine refused, with its code."""


class Engine:
    """The shared libraries of one TensorFlow installation."""

    def __init__(self, package=None):
        base = self._folder("tensorflow", package)
        text = self._folder("tensorflow_text", package)
        names = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")
        self._libraries = [
            ctypes.CDLL(str(base / name), ctypes.RTLD_GLOBAL) for name in names
        ]
        self.status = ctypes.c_void_p(self.call("TF_NewStatus"))
        self._symbol(DISABLE_XLA)()
        for library in sorted((text / "python" / "ops").glob("_*.so")):
            self.checked("TF_LoadLibrary", str(library).encode())

    @staticmethod
    def _folder(name, package):
        if package:
            return pathlib.Path(package) / name
        # find_spec of a top-level name locates the package and does not import it.
        return pathlib.Path(importlib.util.find_spec(name).origin).parent

    def _symbol(self, name):
        for library in self._libraries:
            if hasattr(library, name):
                return getattr(library, name)
        raise EngineError(f"no symbol {name} in this TensorFlow")

    def call(self, name, *arguments):
        """Calls a function of the C API; raw integers are passed as pointers."""
        function = self._symbol(name)
        function.restype = RESTYPES.get(name)
        return function(*arguments)

    def checked(self, name, *arguments):
        """Calls a function whose last argument is the status, and looks at it."""
        result = self.call(name, *arguments, self.status)
        code = self.call("TF_GetCode", self.status)
        if code:
            message = self.call("TF_Message", self.status).decode("utf-8", "replace")
            raise EngineError(f"[{code}] {message}")
        return result

    def string_tensor(self, values, shape):
        """Returns a tensor of strings, (*shape,)."""
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        tensor = ctypes.c_void_p(
            self.call(
                "TF_AllocateTensor",
                ctypes.c_int(STRING),
                sizes,
                ctypes.c_int(len(shape)),
                ctypes.c_size_t(len(values) * WIDTHS[STRING]),
            )
        )
        data = self.call("TF_TensorData", tensor) or 0
        for row, value in enumerate(values):
            cell = ctypes.c_void_p(data + row * WIDTHS[STRING])
            self.call("TF_StringInit", cell)
            self.call("TF_StringCopy", cell, value, ctypes.c_size_t(len(value)))
        return tensor

    def values(self, tensor):
        """Returns the flat values of a tensor, and its shape."""
        kind = self.call("TF_TensorType", tensor)
        rank = self.call("TF_NumDims", tensor)
        shape = [self.call("TF_Dim", tensor, ctypes.c_int(i)) for i in range(rank)]
        count = 1
        for size in shape:
            count *= size
        data = self.call("TF_TensorData", tensor) or 0
        if kind == STRING:
            cells = (ctypes.c_void_p(data + row * 24) for row in range(count))
            return [self._string(cell) for cell in cells], shape
        raw = ctypes.string_at(data, count * WIDTHS[kind]) if count else b""
        code = {FLOAT: "f", BOOL: "?"}[kind]
        return list(struct.unpack(f"<{count}{code}", raw)), shape

    def _string(self, cell):
        size = self.call("TF_StringGetSize", cell)
        pointer = self.call("TF_StringGetDataPointer", cell)
        return ctypes.string_at(pointer, size).decode("latin-1") if size else ""


def fields(message):
    """Yields (number, value) of a serialised protocol buffer, one level deep."""

    def varint():
        nonlocal at
        result = shift = 0
        while True:
            byte = message[at]
            at += 1
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    at = 0
    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        width = varint() if tag & 7 == 2 else {1: 8, 5: 4}[tag & 7]
        yield tag >> 3, message[at : at + width]
        at += width


def field_map(message, number):
    """Returns a map<string, message> field as a dictionary."""
    entries = (dict(fields(value)) for key, value in fields(message) if key == number)
    return {entry[1].decode(): entry.get(2, b"") for entry in entries}


def signature_slots(meta_graph, key="serving_default"):
    """Returns {"inputs": {name: tensor name}, "outputs": {...}} of a signature."""
    signature = field_map(meta_graph, 5)[key]  # MetaGraphDef.signature_def
    return {
        side: {
            name: dict(fields(info))[1].decode()  # TensorInfo.name
            for name, info in field_map(signature, number).items()
        }
        for side, number in (("inputs", 1), ("outputs", 2))
    }


class SavedModel:
    """One session of one SavedModel, and the signature `serving_default`."""

    def __init__(self, engine, directory):
        self._engine = engine
        self._graph = ctypes.c_void_p(engine.call("TF_NewGraph"))
        tags = (ctypes.c_char_p * 1)(b"serve")
        meta_graph = engine.call("TF_NewBuffer")
        self._session = ctypes.c_void_p(
            engine.checked(
                "TF_LoadSessionFromSavedModel",
                ctypes.c_void_p(engine.call("TF_NewSessionOptions")),
                None,
                str(directory).encode(),
                tags,
                ctypes.c_int(1),
                self._graph,
                meta_graph,
            )
        )
        content = meta_graph.contents
        self._slots = signature_slots(ctypes.string_at(content.data, content.length))

    def _slot(self, name):
        operation, _, index = name.partition(":")
        found = self._engine.call(
            "TF_GraphOperationByName", self._graph, operation.encode()
        )
        if not found:
            raise EngineError(f"no operation {operation} in the graph")
        return Slot(found, int(index or 0))

    def run(self, values, shape):
        """Returns {name: (flat values, shape)} of one request."""
        engine, names = self._engine, sorted(self._slots["outputs"])
        inputs = (Slot * 1)(self._slot(self._slots["inputs"]["text"]))
        outputs = (Slot * len(names))(
            *(self._slot(self._slots["outputs"][name]) for name in names)
        )
        request = engine.string_tensor(values, shape)
        feeds = (ctypes.c_void_p * 1)(request)
        results = (ctypes.c_void_p * len(names))()
        try:
            engine.checked(
                "TF_SessionRun",
                self._session,
                None,
                inputs,
                feeds,
                ctypes.c_int(1),
                outputs,
                results,
                ctypes.c_int(len(names)),
                None,
                ctypes.c_int(0),
                None,
            )
            tensors = [ctypes.c_void_p(result) for result in results]
            answer = dict(zip(names, map(engine.values, tensors), strict=True))
            for tensor in tensors:
                engine.call("TF_DeleteTensor", tensor)
        finally:
            engine.call("TF_DeleteTensor", request)
        return answer


def main():
    """Answers the requests of standard input."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("saved_model")
    parser.add_argument("--package", help="folder that holds tensorflow/ to use")
    arguments = parser.parse_args()
    directory = pathlib.Path(arguments.saved_model)
    requests = json.load(sys.stdin)  # a list of requests
    start = time.monotonic()
    answers = []
    try:
        model = SavedModel(Engine(arguments.package), directory)
    except EngineError as error:
        json.dump({"load_error": str(error), "answers": []}, sys.stdout)
        return
    loaded = time.monotonic() - start
    for request in requests:
        if isinstance(request, list):
            request = {"values": request, "shape": [len(request)]}
        values = [value.encode("latin-1") for value in request["values"]]
        start = time.monotonic()
        try:
            answer = model.run(values, request["shape"])
            answers.append(
                {
                    "outputs": {name: value for name, (value, _) in answer.items()},
                    "shapes": {name: shape for name, (_, shape) in answer.items()},
                    "seconds": time.monotonic() - start,
                }
            )
        except EngineError as error:
            answers.append({"error": str(error)})
    # The finder of an editable install is loaded by every Python and is no package.
    foreign = [
        name
        for name in sys.modules
        if name.startswith(("tensorflow", "keras", "tf_keras"))
    ]
    json.dump({"load_s": loaded, "modules": foreign, "answers": answers}, sys.stdout)


if __name__ == "__main__":
    main()
