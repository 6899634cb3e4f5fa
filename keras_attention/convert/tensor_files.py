"""Weights of other toolkits as NumPy arrays; no file is ever run as a program."""

import pathlib
import struct

import numpy as np

SAFETENSORS = "model.safetensors"
PICKLED = "pytorch_model.bin"


def read_tensors(folder):
    """Reads the weights of a Hugging Face folder.

    Args:
        folder: with `model.safetensors`, which is preferred, or `pytorch_model.bin`.

    Returns:
        Dictionary, name -> float32 array.

    Raises:
        ValueError: neither file is there or what is there cannot be read, or the
            package that reads it is missing.
    """
    folder = pathlib.Path(folder)
    if (folder / SAFETENSORS).is_file():
        return _read_safetensors(folder / SAFETENSORS)
    if (folder / PICKLED).is_file():
        return _read_pickled(folder / PICKLED)
    raise ValueError(
        f"A folder to convert must hold {SAFETENSORS} or {PICKLED}. Received: "
        f"{folder}, which holds neither. Pass the folder that `save_pretrained` wrote, "
        "its weights in one file."
    )


def _read_safetensors(path):
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise ValueError(
            f"Reading {path.name} needs a package. Received: {error}. Run "
            "`pip install 'keras-attention[convert]'`."
        ) from error
    try:
        return _float32(load_file(path))
    except (SafetensorError, OSError, ValueError, KeyError, struct.error) as error:
        raise ValueError(
            f"{path} must be a whole safetensors file. Received: {error}. Copy it anew."
        ) from error


def _read_pickled(path):
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"{path.name} is a pickle, which only PyTorch reads without running it. "
            f"Received: {error}. Install torch, or save the model as {SAFETENSORS}."
        ) from error
    try:
        # Never without `weights_only`: a pickle is a program.
        state = torch.load(path, map_location="cpu", weights_only=True)
        return _float32({name: tensor.float() for name, tensor in state.items()})
    except Exception as error:  # PyTorch raises what the file makes it raise
        raise ValueError(
            f"{path} must hold tensors by name and nothing else. Received: "
            f"{type(error).__name__}. Save the model as {SAFETENSORS}, or copy it anew."
        ) from error


def _float32(tensors):
    return {name: np.asarray(array, np.float32) for name, array in tensors.items()}


class Tensors:
    """Arrays by name, each taken once, so that what nobody took is found.

    Args:
        arrays: dictionary, name -> array.
    """

    def __init__(self, arrays):
        self._arrays = dict(arrays)

    def take(self, name, shape):
        """Returns an array, after a look at its shape."""
        return self.check(name, self.drop(name), shape)

    def check(self, name, found, shape):
        """Returns the array `found` if it has the shape."""
        if found is None or found.shape != tuple(shape):
            received = "none" if found is None else f"shape {found.shape}"
            raise ValueError(
                f"The weights must hold {name!r} of shape {tuple(shape)}. Received: "
                f"{received}. The file and config.json must be of one Marian model."
            )
        return found

    def drop(self, name):
        """Returns an array that may be missing."""
        return self._arrays.pop(name, None)

    def check_empty(self):
        """Raises ValueError if something was not used."""
        if self._arrays:
            raise ValueError(
                "Every weight must have a place in the model. Received: "
                f"{', '.join(sorted(self._arrays))}, which Marian models do not have. "
                "Only models of that architecture can be converted."
            )
