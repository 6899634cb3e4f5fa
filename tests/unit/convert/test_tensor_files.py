"""Weights are read as data: no file is run."""

import pickle
import sys

import numpy as np
import pytest

from keras_attention.convert.tensor_files import (
    PICKLED,
    SAFETENSORS,
    Tensors,
    read_tensors,
)

ARRAYS = {
    "a": np.arange(6, dtype="float32").reshape(2, 3),
    "b": np.array([0.5, 2.0], "float16"),
}


def test_safetensors_are_read_as_float32(tmp_path):
    files = pytest.importorskip("safetensors.numpy")
    files.save_file(ARRAYS, tmp_path / SAFETENSORS)
    (tmp_path / PICKLED).write_bytes(b"not read")
    found = read_tensors(tmp_path)
    assert found.keys() == ARRAYS.keys()
    for name, array in found.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_a_damaged_safetensors_file_is_refused(tmp_path):
    files = pytest.importorskip("safetensors.numpy")
    files.save_file(ARRAYS, tmp_path / SAFETENSORS)
    content = (tmp_path / SAFETENSORS).read_bytes()
    for damaged in (b"", content[:-1], b"\xff" * 40):
        (tmp_path / SAFETENSORS).write_bytes(damaged)
        with pytest.raises(ValueError, match="whole safetensors file. Received: "):
            read_tensors(tmp_path)


def test_pickled_tensors_are_read(tmp_path):
    torch = pytest.importorskip("torch")
    state = {name: torch.tensor(array) for name, array in ARRAYS.items()}
    torch.save(state, tmp_path / PICKLED)
    for name, array in read_tensors(tmp_path).items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, ARRAYS[name])


class Malice:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_is_never_run(tmp_path):
    torch = pytest.importorskip("torch")
    trace = tmp_path / "trace"
    torch.save({"a": Malice(trace)}, tmp_path / PICKLED)
    with pytest.raises(ValueError, match="tensors by name and nothing else. Received"):
        read_tensors(tmp_path)
    (tmp_path / PICKLED).write_bytes(pickle.dumps(Malice(trace)))
    with pytest.raises(ValueError, match="tensors by name and nothing else. Received"):
        read_tensors(tmp_path)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("file", "package", "message"),
    [
        (SAFETENSORS, "safetensors", r"Received: .*pip install .*\[convert\]"),
        (PICKLED, "torch", "Received: .*Install torch, or save the model as"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, file, package, message):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / file).write_bytes(b"")
    with pytest.raises(ValueError, match=message):
        read_tensors(tmp_path)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must hold model.safetensors or .*Received: "):
        read_tensors(tmp_path)


def test_every_tensor_is_taken_once():
    tensors = Tensors(ARRAYS)
    assert tensors.take("a", [2, 3]) is ARRAYS["a"]
    with pytest.raises(ValueError, match=r"'a' of shape \(2, 3\). Received: none"):
        tensors.take("a", (2, 3))
    with pytest.raises(ValueError, match="Received: b, which Marian models do not"):
        tensors.check_empty()
    with pytest.raises(ValueError, match=r"\(3,\). Received: shape \(2,\)"):
        tensors.take("b", (3,))
    assert tensors.drop("b") is None
    tensors.check_empty()
