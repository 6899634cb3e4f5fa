"""Runs a SavedModel in the C++ engine of TensorFlow Serving, without Python TensorFlow.

The C API opens the session with the loader that the server uses and runs requests of
any signature. This file and the two beside it, `c_api.py` and `wire.py`, import the
standard library only, so a process that starts this one by its path does not have
tensorflow, keras or keras_attention:

    python -I keras_attention/export/engine.py VERSION < requests.json > answers.json

Requests are a JSON list of {"signature": key, "inputs": {name: array}, "timeout_ms":
int}; an array is a list, or {"values": flat list, "shape": list}, and bytes are spelled
as latin-1 text. The answer is {"load_s", "engine", "modules", "signatures", "answers"}
or {"load_error", "code"}; each of the answers is {"outputs": {name: {"values",
"shape"}}, "seconds"} or {"error", "code", "seconds"}. `modules` names what was imported
against the rule above.
`--package DIR` takes the engine from another installation; it may be repeated.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import json
import pathlib
import signal
import subprocess
import sys
import time


def _beside(name):
    """Loads a file beside this one by its path, so that no package is imported."""
    path = pathlib.Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"engine_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


c_api, wire = _beside("c_api"), _beside("wire")
Engine, EngineError = c_api.Engine, c_api.EngineError
_PR_SET_PDEATHSIG = 1
FOREIGN = ("tensorflow", "keras", "tf_keras", "keras_attention", "numpy")


class SavedModel:
    """A session of one SavedModel. Several threads may run it at once.

    Args:
        engine: `Engine`.
        directory: the folder of a version.

    Attributes:
        signatures: {key: ({input: TensorInfo}, {output: TensorInfo})}.

    Raises:
        EngineError: the engine cannot load it.
    """

    def __init__(self, engine, directory):
        self._engine = engine
        with contextlib.ExitStack() as stack:

            def owned(kind):
                made = engine.call(f"TF_New{kind}")
                stack.callback(engine.call, f"TF_Delete{kind}", made)
                return made

            options, meta_graph = owned("SessionOptions"), owned("Buffer")
            tags = (ctypes.c_char_p * 1)(b"serve")
            self._graph = engine.call("TF_NewGraph")
            try:
                self._session = engine.checked(
                    *("TF_LoadSessionFromSavedModel", options, None),
                    *(str(directory).encode(), tags, 1, self._graph, meta_graph),
                )
            except EngineError:
                engine.call("TF_DeleteGraph", self._graph)
                raise
            buffer = meta_graph.contents
            content = ctypes.string_at(buffer.data, buffer.length)
        self.signatures = wire.read_signatures(content)

    def close(self):
        """Frees the session; no request may be running, and none may follow."""
        self._engine.checked("TF_CloseSession", self._session)
        self._engine.checked("TF_DeleteSession", self._session)
        self._engine.call("TF_DeleteGraph", self._graph)

    def run(self, key, inputs, timeout_ms=None):
        """Runs one request.

        Args:
            key: of the signature.
            inputs: {name: (flat values, shape)}, or a list for a vector; strings are
                bytes. Shapes are not checked, as in a server.
            timeout_ms: deadline in milliseconds; None = none.

        Returns:
            {output name: (flat values, shape)}.

        Raises:
            EngineError: with the code of the engine: 3 for inputs of other names or
                types, 4 behind the deadline, 9 for an unknown signature.
        """
        if key not in self.signatures:
            message = f"no signature {key!r} among {', '.join(sorted(self.signatures))}"
            raise EngineError(c_api.FAILED_PRECONDITION, message)
        feeds, fetches = self.signatures[key]
        if set(inputs) != set(feeds):
            message = f"{key!r} takes {sorted(feeds)}, and received {sorted(inputs)}"
            raise EngineError(c_api.INVALID_ARGUMENT, message)
        engine, results = self._engine, (ctypes.c_void_p * len(fetches))()
        with contextlib.ExitStack() as stack:
            tensors = [
                stack.enter_context(engine.tensor(info.dtype, *_flat(inputs[name])))
                for name, info in feeds.items()
            ]
            options = None
            if timeout_ms is not None:
                content = wire.run_options(max(1, timeout_ms))
                options = engine.call("TF_NewBufferFromString", content, len(content))
                stack.callback(engine.call, "TF_DeleteBuffer", options)
            engine.checked(
                *("TF_SessionRun", self._session, options, self._slots(feeds)),
                *((ctypes.c_void_p * len(tensors))(*tensors), len(tensors)),
                *(self._slots(fetches), results, len(fetches), None, 0, None),
            )
            for result in results:
                stack.callback(engine.call, "TF_DeleteTensor", result)
            return dict(zip(fetches, map(engine.values, results), strict=True))

    def _slots(self, infos):
        slots = []
        for info in infos.values():
            operation, _, index = info.tensor.partition(":")
            name = operation.encode()
            found = self._engine.call("TF_GraphOperationByName", self._graph, name)
            if not found:
                message = f"no operation {operation!r} in the graph"
                raise EngineError(c_api.NOT_FOUND, message)
            slots.append(c_api.Slot(found, int(index or 0)))
        return (c_api.Slot * len(slots))(*slots)


def _flat(array):
    return array if isinstance(array, tuple) else (array, [len(array)])


def answers(version, requests, folders=(), timeout=600):
    """Runs requests in a child process; see the top of this file.

    Args:
        version: the folder of a SavedModel.
        requests: list of requests, arrays as this file spells them in JSON.
        folders: where the engine lies, see `Engine`.
        timeout: seconds until the child is ended.

    Returns:
        The answer of the child, a dictionary.

    Raises:
        ValueError: the child died or did not end in time.
    """
    command = [sys.executable, "-I", __file__, str(version)]
    for folder in folders:
        command += ["--package", str(folder)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(requests).encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode == 0:
            return json.loads(done.stdout)
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        reason = f"it ended with {done.returncode}: {said}"
    except subprocess.TimeoutExpired:
        reason = f"it did not end in {timeout} s"
    raise ValueError(
        f"Expected the C++ engine to run {str(version)!r} in a child process. "
        f"Received: {reason}. The folder may be damaged; export it again."
    )


def _spelled(array):
    """Returns an array of a result as JSON can hold it."""
    values, shape = array
    values = [x.decode("latin-1") if isinstance(x, bytes) else x for x in values]
    return {"values": values, "shape": shape}


def _read(array):
    """Returns an array of a request as `SavedModel.run` takes it."""
    if isinstance(array, list):
        array = {"values": array, "shape": [len(array)]}
    values = [x.encode("latin-1") if isinstance(x, str) else x for x in array["values"]]
    return values, array["shape"]


def _answer(model, request):
    inputs = {name: _read(array) for name, array in request["inputs"].items()}
    start = time.monotonic()
    try:
        found = model.run(request["signature"], inputs, request.get("timeout_ms"))
    except EngineError as error:
        seconds = time.monotonic() - start
        return {"error": str(error), "code": error.code, "seconds": seconds}
    seconds = time.monotonic() - start
    outputs = {name: _spelled(array) for name, array in found.items()}
    return {"outputs": outputs, "seconds": seconds}


def _end_with_parent():
    """Has Linux end this process when the one that waits for its answers is killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    """Answers the requests of standard input on standard output."""
    _end_with_parent()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("saved_model")
    parser.add_argument("--package", action="append", default=[])
    arguments = parser.parse_args()
    requests, start = json.load(sys.stdin), time.monotonic()
    try:
        engine = Engine(arguments.package)
        model = SavedModel(engine, arguments.saved_model)
    except EngineError as error:
        json.dump({"load_error": str(error), "code": error.code}, sys.stdout)
        return
    found = {"load_s": time.monotonic() - start, "engine": engine.version}
    found["answers"] = [_answer(model, request) for request in requests]
    found["signatures"] = model.signatures
    model.close()
    # The finder of an editable install is loaded by every Python and is no package.
    found["modules"] = [name for name in sys.modules if name.split(".")[0] in FOREIGN]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
