"""The shared libraries of a TensorFlow installation, called by the C API.

Nothing but the standard library is imported; `engine` says what it is for. The ops of
tensorflow-text are shared libraries, and XLA is disabled by the very function that a
stock TensorFlow Serving calls.
"""

import contextlib
import ctypes
import importlib.util
import math
import pathlib
import struct

# TF_Code
INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, UNIMPLEMENTED = 3, 5, 9, 12
FLOAT, INT32, STRING, INT64, BOOL = 1, 3, 7, 9, 10  # TF_DataType
NAMES = {FLOAT: "float32", INT32: "int32", STRING: "string", INT64: "int64"}
NAMES[BOOL] = "bool"
FORMATS = {FLOAT: "f", INT32: "i", INT64: "q", BOOL: "?"}
CELL = 24  # bytes of a TF_TString
DISABLE_XLA = "_ZN10tensorflow21DisableXlaCompilationEv"
PACKAGES = ("tensorflow", "tensorflow_text")
LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")
MISSING_OPS = "Op type not registered"

_P, _I, _N, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p
_SIZES = ctypes.POINTER(ctypes.c_int64)


class Slot(ctypes.Structure):
    """TF_Output: one output of one operation."""

    _fields_ = [("operation", _P), ("index", _I)]


class Buffer(ctypes.Structure):
    """TF_Buffer: bytes that the library owns."""

    _fields_ = [("data", _P), ("length", _N), ("deallocator", _P)]


_SLOTS, _BUFFER = ctypes.POINTER(Slot), ctypes.POINTER(Buffer)
_RUN = (_P, _BUFFER, _SLOTS, ctypes.POINTER(_P), _I, _SLOTS, ctypes.POINTER(_P), _I)
# The result and the arguments of each function, see tensorflow/c/c_api.h.
PROTOTYPES = {
    "TF_AllocateTensor": (_P, _I, _SIZES, _I, _N),
    "TF_CloseSession": (None, _P, _P),
    "TF_DeleteBuffer": (None, _BUFFER),
    "TF_DeleteGraph": (None, _P),
    "TF_DeleteLibraryHandle": (None, _P),
    "TF_DeleteSession": (None, _P, _P),
    "TF_DeleteSessionOptions": (None, _P),
    "TF_DeleteStatus": (None, _P),
    "TF_DeleteTensor": (None, _P),
    "TF_Dim": (ctypes.c_int64, _P, _I),
    "TF_GetCode": (_I, _P),
    "TF_GraphOperationByName": (_P, _P, _TEXT),
    "TF_LoadLibrary": (_P, _TEXT, _P),
    "TF_LoadSessionFromSavedModel": (
        *(_P, _P, _BUFFER, _TEXT, ctypes.POINTER(_TEXT), _I, _P, _BUFFER, _P),
    ),
    "TF_Message": (_TEXT, _P),
    "TF_NewBuffer": (_BUFFER,),
    "TF_NewBufferFromString": (_BUFFER, _TEXT, _N),
    "TF_NewGraph": (_P,),
    "TF_NewSessionOptions": (_P,),
    "TF_NewStatus": (_P,),
    "TF_NumDims": (_I, _P),
    "TF_SessionRun": (None, *_RUN, _P, _I, _BUFFER, _P),
    "TF_StringCopy": (None, _P, _TEXT, _N),
    "TF_StringGetDataPointer": (_P, _P),
    "TF_StringGetSize": (_N, _P),
    "TF_StringInit": (None, _P),
    "TF_TensorData": (_P, _P),
    "TF_TensorType": (_I, _P),
    "TF_Version": (_TEXT,),
    DISABLE_XLA: (None,),
}


class EngineError(RuntimeError):
    """What the engine refused; `code` is a TF_Code, the same as in gRPC."""

    def __init__(self, code, message):
        super().__init__(f"[{code}] {message}")
        self.code = code


class Engine:
    """The shared libraries of one TensorFlow installation; one a process.

    Args:
        folders: those that may hold `tensorflow/` and `tensorflow_text/`, the first
            that does counts; none = where Python would import them from.

    Raises:
        EngineError: there is no TensorFlow, or it lacks a function.
    """

    def __init__(self, folders=()):
        base, text = (find_package(x, folders) for x in PACKAGES)
        if base is None:
            places = ", ".join(map(str, folders)) or "the path of Python"
            raise EngineError(NOT_FOUND, f"no tensorflow in {places}")
        try:
            libraries = [
                ctypes.CDLL(str(base / name), ctypes.RTLD_GLOBAL) for name in LIBRARIES
            ]
        except OSError as error:
            raise EngineError(NOT_FOUND, str(error)) from error
        self._functions = {name: _bound(name, libraries) for name in PROTOTYPES}
        self.call(DISABLE_XLA)
        self.version = self.call("TF_Version").decode()
        for library in sorted((text / "python" / "ops").glob("_*.so")) if text else ():
            handle = self.checked("TF_LoadLibrary", str(library).encode())
            self.call("TF_DeleteLibraryHandle", handle)  # the library itself stays

    def call(self, name, *arguments):
        """Calls a function of the C API, without the interpreter's lock."""
        return self._functions[name](*arguments)

    def checked(self, name, *arguments):
        """Calls a function whose last argument is a status, and looks at it."""
        status = self.call("TF_NewStatus")  # of its own: other threads call too
        try:
            result = self.call(name, *arguments, status)
            code = self.call("TF_GetCode", status)
            message = self.call("TF_Message", status).decode("utf-8", "replace")
        finally:
            self.call("TF_DeleteStatus", status)
        if code and MISSING_OPS in message:
            message += (
                " (The library of the op is missing: subword models need the package "
                "tensorflow-text of the same version beside tensorflow.)"
            )
        if code:
            raise EngineError(code, message)
        return result

    @contextlib.contextmanager
    def tensor(self, kind, values, shape):
        """Gives a tensor of flat values; it is freed when the block ends."""
        content, width = _content(kind, values, shape), _width(kind)
        sizes, count = (ctypes.c_int64 * len(shape))(*shape), len(values)
        tensor = self.call("TF_AllocateTensor", kind, sizes, len(shape), count * width)
        data = self.call("TF_TensorData", tensor)
        cells = range(data or 0, (data or 0) + count * width, width)
        try:
            if kind == STRING:
                for cell in cells:
                    self.call("TF_StringInit", cell)
                for cell, value in zip(cells, values, strict=True):
                    self.call("TF_StringCopy", cell, value, len(value))
            elif count:
                ctypes.memmove(data, content, len(content))
            yield tensor
        finally:
            self.call("TF_DeleteTensor", tensor)  # and its strings

    def values(self, tensor):
        """Returns the flat values of a tensor, strings as bytes, and its shape."""
        kind = self.call("TF_TensorType", tensor)
        rank = self.call("TF_NumDims", tensor)
        shape = [self.call("TF_Dim", tensor, axis) for axis in range(rank)]
        count, data = math.prod(shape), self.call("TF_TensorData", tensor)
        if not count:
            return [], shape
        if kind == STRING:
            cells = range(data, data + count * CELL, CELL)
            return [self._string(cell) for cell in cells], shape
        raw = ctypes.string_at(data, count * _width(kind))
        return memoryview(raw).cast(FORMATS[kind]).tolist(), shape

    def _string(self, cell):
        size = self.call("TF_StringGetSize", cell)
        return ctypes.string_at(self.call("TF_StringGetDataPointer", cell), size)


def _width(kind):
    """Returns the bytes of one value in a tensor."""
    if kind == STRING:
        return CELL
    if kind not in FORMATS:
        known = ", ".join(sorted(NAMES.values()))
        raise EngineError(UNIMPLEMENTED, f"tensors are {known}, and not type {kind}")
    return struct.calcsize(FORMATS[kind])


def _content(kind, values, shape):
    """Checks the values of a request; returns them as bytes, but for strings."""
    told = (
        f"{NAMES.get(kind, kind)} of shape {list(shape)}, received {repr(values)[:80]}"
    )
    if math.prod(shape) != len(values) or min(shape, default=0) < 0:
        raise EngineError(INVALID_ARGUMENT, f"{told}, which are {len(values)} values")
    _width(kind)
    if kind == STRING:
        if not all(isinstance(value, bytes) for value in values):
            raise EngineError(INVALID_ARGUMENT, f"{told}; strings are bytes")
        return None
    try:
        return struct.pack(f"{len(values)}{FORMATS[kind]}", *values)
    except (struct.error, OverflowError) as error:
        raise EngineError(INVALID_ARGUMENT, f"{told}: {error}") from error


def find_package(name, folders=()):
    """Returns the folder of a package without importing it, or None."""
    for folder in folders:
        if (pathlib.Path(folder) / name).is_dir():
            return pathlib.Path(folder) / name
    # find_spec of a top-level name locates the package and does not import it.
    spec = None if folders else importlib.util.find_spec(name)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def _bound(name, libraries):
    result, *arguments = PROTOTYPES[name]
    for library in libraries:
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            return function
    raise EngineError(NOT_FOUND, f"no function {name} in this TensorFlow")
