"""The checkpoints of a run as files: their names, and what they hold.

A checkpoint is a directory `step-N`, N the updates done; one that could not be read
was renamed to `damaged-step-N`. A name that begins with `.tmp-` is that of one which
was being written, or deleted, when its process ended.
"""

import os
import pathlib
import re
import shutil

import tensorflow as tf

from keras_attention.files import parse_object

PREFIX = "checkpoint"
OFF_SCHEDULE = "off-schedule"
# What TensorFlow raises for a file that is missing, cut short or changed.
DAMAGE = (tf.errors.OpError, ValueError, LookupError, AssertionError, RuntimeError)
_NAME = re.compile(r"step-(\d+)")
_FOOTER_BYTES = 48
_STATE = "state/.ATTRIBUTES/py_state"
_WEIGHT = re.compile(r"weights/(\d+)/\.ATTRIBUTES/VARIABLE_VALUE")


def list_checkpoints(directory):
    """Returns the paths of the checkpoints in a directory, oldest first.

    Example:

    >>> list_checkpoints("/no/such/directory")
    []
    """
    directory = pathlib.Path(directory)
    if not directory.is_dir():
        return []
    found = [path for path in directory.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(found, key=checkpoint_step)


def scheduled_checkpoints(directory):
    """Returns those of `list_checkpoints` that no signal made."""
    paths = list_checkpoints(directory)
    return [path for path in paths if not (path / OFF_SCHEDULE).exists()]


def has_checkpoints(directory):
    """Says whether a directory holds checkpoints, damaged ones included.

    Example:

    >>> has_checkpoints("/no/such/directory")
    False
    """
    directory = pathlib.Path(directory)
    damaged = directory.glob("damaged-*") if directory.is_dir() else ()
    return bool(list_checkpoints(directory)) or any(damaged)


def checkpoint_step(path):
    """Returns the number of updates that a checkpoint's name says: 9 < 10."""
    return int(_NAME.fullmatch(pathlib.Path(path).name).group(1))


def best_checkpoint(directory):
    """Returns the checkpoint of the best validation BLEU, or None.

    The newest checkpoint that can be read says which it is.
    """
    for path in reversed(list_checkpoints(directory)):
        try:
            step = read_state(path).get("best_step")
        except ValueError:
            continue
        best = path.with_name(f"step-{step}")
        return best if best.is_dir() else None
    return None


def delete_checkpoint(path):
    """Deletes a checkpoint so that a kill leaves no part of it under its name."""
    doomed = pathlib.Path(path).with_name(f".tmp-old-{path.name}")
    os.rename(path, doomed)
    shutil.rmtree(doomed)


def read_weights(path):
    """Returns the model weights of one checkpoint, in the order of `model.weights`.

    Args:
        path: of the checkpoint.

    Returns:
        A dictionary from the number of a weight to its NumPy array.

    Raises:
        ValueError: the checkpoint is missing or damaged.
    """
    found = {}
    for key, value in _read(path, _WEIGHT.fullmatch):
        found[int(_WEIGHT.fullmatch(key).group(1))] = value
    return dict(sorted(found.items()))


def read_state(path):
    """Returns the `RunState` of one checkpoint as a dictionary.

    Raises:
        ValueError: the checkpoint is missing or damaged.
    """
    for _, value in _read(path, _STATE.__eq__):
        try:
            return parse_object(value, finite=False)
        except ValueError as error:
            raise _damaged(path, error) from error
    return {}


def check_whole(path):
    """Checks that all of a checkpoint can be read, whatever model it is of.

    TensorFlow compares every tensor with the checksum beside it.

    Raises:
        ValueError: the checkpoint is missing or damaged.
        PermissionError: a file of it may not be read.
    """
    for file in pathlib.Path(path).iterdir():
        file.open("rb").close()
    for _ in _read(path, lambda _: True):
        pass


def _read(path, wanted):
    # Yields the names and values of some tensors, one at a time.
    try:
        _check_index(pathlib.Path(path) / f"{PREFIX}.index")
        reader = tf.train.load_checkpoint(str(pathlib.Path(path) / PREFIX))
        for key in filter(wanted, sorted(reader.get_variable_to_shape_map())):
            yield key, reader.get_tensor(key)
    except DAMAGE as error:
        raise _damaged(path, error) from error


def _check_index(path):
    """Refuses an index whose end points outside of it.

    The blocks of an index have checksums, the last 48 bytes have none: they say where
    the block of blocks is, and TensorFlow takes as much memory as they say.
    """
    if not path.is_file():
        return  # which TensorFlow tells
    size = path.stat().st_size - _FOOTER_BYTES
    with open(path, "rb") as file:
        file.seek(max(0, size))
        footer = iter(file.read())
    for _ in range(2):  # of names, and of blocks
        if sum(map(_varint, (footer, footer))) > size:
            raise ValueError("the end of its index points behind it")


def _varint(footer):
    number = 0
    for place, byte in enumerate(footer):
        number |= (byte & 127) << 7 * place
        if byte < 128:
            break
    return number


def _damaged(path, error):
    return ValueError(
        f"Expected a checkpoint that can be read. Received: {path}, which is "
        f"missing or damaged ({first_line(error)}). Restore or delete it."
    )


def first_line(error):
    """Returns the first line of an error's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
