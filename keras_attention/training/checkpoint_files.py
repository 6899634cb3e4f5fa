"""The checkpoints of a run as files: their names, and the weights that they hold.

A checkpoint is a directory `step-N`, N the updates done; one that could not be read
was renamed to `damaged-step-N`.
"""

import pathlib
import re

import tensorflow as tf

PREFIX = "checkpoint"
OFF_SCHEDULE = "off-schedule"
# What TensorFlow raises for a file that is missing, cut short or changed.
DAMAGE = (tf.errors.OpError, ValueError, LookupError, AssertionError, RuntimeError)
_NAME = re.compile(r"step-(\d+)")
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


def read_weights(path):
    """Returns the model weights of one checkpoint, in the order of `model.weights`.

    Args:
        path: of the checkpoint.

    Returns:
        A dictionary from the number of a weight to its NumPy array.

    Raises:
        ValueError: the checkpoint is missing or damaged.
    """
    try:
        reader = tf.train.load_checkpoint(str(pathlib.Path(path) / PREFIX))
        found = {}
        for key in reader.get_variable_to_shape_map():
            match = _WEIGHT.fullmatch(key)
            if match:
                found[int(match.group(1))] = reader.get_tensor(key)
    except DAMAGE as error:
        raise ValueError(
            f"Expected a checkpoint that can be read. Received: {path}, which is "
            f"missing or damaged ({first_line(error)}). Restore or delete it."
        ) from error
    return dict(sorted(found.items()))


def first_line(error):
    """Returns the first line of an error's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
