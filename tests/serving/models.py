"""The versions of a model: found, loaded, warmed up, served, swapped, unloaded.

As in TensorFlow Serving: the largest number is served; a new version is loaded beside
the old one, which goes only when the new one is available; one that fails to load
leaves it serving.
"""

import contextlib
import threading

from tests.serving import warmup
from tests.serving.batching import BatchingSession, Parameters
from tests.serving.failures import Failure
from tests.serving.protos import engine
from tests.serving.tensors import Tensor, from_proto

DEFAULT = "serving_default"
AT_LOAD_SECONDS = 600.0


class Version:
    """One loaded version.

    Args:
        library: `Engine`.
        folder: of the version.
        parameters: `Parameters` of its batches; None: requests run alone.
    """

    def __init__(self, library, folder, parameters):
        self.number = int(folder.name)
        self._model = engine.SavedModel(library, folder)
        self.signatures = self._model.signatures
        self._batching = BatchingSession(self._run, parameters) if parameters else None
        try:
            self.warmed = warmup.replay(folder, self._replayed)
        except BaseException:
            self.close()
            raise

    @property
    def batches(self):
        return list(self._batching.sizes) if self._batching else []

    def run(self, signature, inputs, seconds):
        """Returns {name: Tensor}, within so many seconds."""
        run = self._batching.run if self._batching else self._run
        return run(signature, inputs, seconds)

    def close(self):
        """Frees it; no request may be running."""
        if self._batching:
            self._batching.close()
        self._model.close()

    def _run(self, signature, inputs, seconds):
        arrays = {name: (x.values, x.shape) for name, x in inputs.items()}
        try:
            found = self._model.run(signature, arrays, int(seconds * 1_000))
        except engine.EngineError as error:
            raise Failure.of_engine(error) from error
        infos = self.signatures[signature][1]
        return {name: Tensor(infos[name].dtype, *x) for name, x in found.items()}

    def _replayed(self, request):
        signature = request.model_spec.signature_name or DEFAULT
        inputs = {name: from_proto(name, x) for name, x in request.inputs.items()}
        check_inputs(self.signatures, signature, inputs)
        self.run(signature, inputs, AT_LOAD_SECONDS)


def check_inputs(signatures, signature, inputs):
    """Raises unless the signature is there and takes these (predict_util.cc)."""
    if signature not in signatures:
        message = f'Serving signature key "{signature}" not found.'
        raise Failure("FAILED_PRECONDITION", message)
    infos = signatures[signature][0]
    if set(infos) != set(inputs):
        sent, wanted = set(inputs) - set(infos), set(infos) - set(inputs)
        raise Failure(
            "INVALID_ARGUMENT",
            f"input size does not match signature: {len(inputs)}!={len(infos)} "
            f"Sent extra: {{{','.join(sorted(sent))}}}. "
            f"Missing but required: {{{','.join(sorted(wanted))}}}.",
        )
    for name, tensor in inputs.items():
        if tensor.dtype != infos[name].dtype:
            raise Failure(
                "INVALID_ARGUMENT",
                f"Expects arg {name} to be of type {infos[name].dtype} but type "
                f"{tensor.dtype} is provided",
            )


class ServedModel:
    """The versions of one model, looked for every so many seconds.

    Args:
        name: what requests call it.
        folder: of the versions.
        library: `Engine`.
        parameters: version folder -> `Parameters` or None.
    """

    def __init__(self, name, folder, library, parameters):
        self.name, self._folder = name, folder
        self._library, self._parameters = library, parameters
        self._lock = threading.Condition()
        self._loaded, self._users = {}, {}
        self.states = {}  # {number: [state, code, message]}

    @contextlib.contextmanager
    def version(self, number=None):
        """Gives a version that stays loaded as long as the block runs."""
        with self._lock:
            wanted = max(self._loaded, default=None) if number is None else number
            if wanted not in self._loaded:
                which = "Latest" if number is None else "Specific"
                words = self.name if number is None else f"{self.name}, {number}"
                message = f"Servable not found for request: {which}({words})"
                raise Failure("NOT_FOUND", message)
            found = self._loaded[wanted]
            self._users[wanted] += 1
        try:
            yield found
        finally:
            with self._lock:
                self._users[wanted] -= 1
                self._lock.notify_all()

    def poll(self):
        """Loads what is new and unloads what is gone."""
        folders = {
            int(path.name): path
            for path in self._folder.iterdir()
            if path.name.isascii() and path.name.isdigit() and path.is_dir()
        }
        for number in set(self.states) - set(folders) - set(self._loaded):
            del self.states[number]  # one that comes back is tried again
        if not folders:
            self._unload(self._loaded)
            return
        newest = max(folders)
        # One that was served before may come back; one that failed stays as it is.
        failed = self.states.get(newest, ["", "OK", ""])[1] != "OK"
        if newest not in self._loaded and not failed:
            self._load(folders[newest])
        if newest in self._loaded:
            self._unload(set(self._loaded) - {newest})

    def _load(self, folder):
        number = int(folder.name)
        self.states[number] = ["LOADING", "OK", ""]
        try:
            loaded = Version(self._library, folder, self._parameters(folder))
        except (engine.EngineError, Failure, OSError) as error:
            code = getattr(error, "code", "UNKNOWN")
            code = Failure.of_engine(error).code if isinstance(code, int) else code
            self.states[number] = ["END", code, str(error)]
            return
        with self._lock:
            self._loaded[number], self._users[number] = loaded, 0
            self.states[number] = ["AVAILABLE", "OK", ""]

    def _unload(self, numbers):
        for number in list(numbers):
            with self._lock:
                gone = self._loaded.pop(number)
                self.states[number] = ["UNLOADING", "OK", ""]
                self._lock.wait_for(lambda n=number: not self._users[n])
            gone.close()
            self.states[number] = ["END", "OK", ""]


def batching_parameters(default, per_model):
    """Returns version folder -> `Parameters` or None."""

    def parameters(folder):
        own = folder / "batching_params.pbtxt"
        if per_model and own.exists():
            return Parameters.read(own)
        return default

    return parameters
