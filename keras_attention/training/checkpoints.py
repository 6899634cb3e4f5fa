"""Exact checkpoints of a run, and the average of the last of them.

A checkpoint is a directory `checkpoints/step-N` that holds the model, the optimizer,
the state of every dropout generator (which no Keras format keeps), the metric sums and
the position in the data. It appears by one rename, so it is whole or absent.
"""

import contextlib
import dataclasses
import json
import logging
import os
import pathlib
import re
import shutil
import warnings

import numpy as np
import tensorflow as tf

from keras_attention.files import flush_to_disk

_PREFIX = "checkpoint"
_OFF_SCHEDULE = "off-schedule"
_NAME = re.compile(r"step-(\d+)")
_WEIGHT = re.compile(r"weights/(\d+)/\.ATTRIBUTES/VARIABLE_VALUE")
# What TensorFlow raises for a file that is missing, cut short or changed.
_DAMAGE = (tf.errors.OpError, ValueError, LookupError, AssertionError, RuntimeError)


@dataclasses.dataclass
class RunState:
    """Where a run stands, beside its variables; plain values that JSON can hold.

    Attributes:
        step: updates done.
        epoch: epoch of the next batch, from 0.
        batch: place of the next batch in its epoch, from 0.
        seconds: of training so far, over all resumes.
        best_nll: lowest validation nll so far.
        stale_validations: validations since then.
        window: sums since the last line of the log.
        epoch_sums: sums since the epoch began.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_nll: float | None = None
    stale_validations: int = 0
    window: dict = dataclasses.field(default_factory=dict)
    epoch_sums: dict = dataclasses.field(default_factory=dict)


class _StateEntry(tf.train.experimental.PythonState):
    """Lets a TensorFlow checkpoint carry a `RunState`."""

    def __init__(self, state):
        self.state = state

    def serialize(self):
        return json.dumps(dataclasses.asdict(self.state))

    def deserialize(self, string_value):
        for name, value in json.loads(string_value).items():
            setattr(self.state, name, value)


class Checkpoints:
    """Saves and restores a run.

    Args:
        directory: holds one directory a checkpoint.
        model: a compiled `Transformer` whose optimizer is built.
        state: the `RunState` that is saved, and changed by `restore`.
        keep: checkpoints to keep; older ones are deleted.
    """

    def __init__(self, directory, model, state, keep=5):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.keep = keep
        self._state = state
        weights = {id(variable) for variable in model.weights}
        metrics = [v for metric in model.metrics for v in metric.variables]
        taken = weights | {id(variable) for variable in metrics}
        others = [v for v in model.non_trainable_variables if id(v) not in taken]
        self._checkpoint = tf.train.Checkpoint(
            weights=[v.value for v in model.weights],
            optimizer=[v.value for v in model.optimizer.variables],
            generators=[v.value for v in others],
            metrics=[v.value for v in metrics],
            state=_StateEntry(state),
        )
        for leftover in self.directory.glob(".tmp-*"):
            shutil.rmtree(leftover)

    def save(self, off_schedule=False):
        """Saves the run as it stands.

        Args:
            off_schedule: a signal made this checkpoint, which the uninterrupted run
                would not have: it is kept until the next one, and never averaged
                with others.

        Returns:
            The path of the new checkpoint.
        """
        target = self.directory / f"step-{self._state.step}"
        temporary = self.directory / f".tmp-{target.name}"
        shutil.rmtree(temporary, ignore_errors=True)  # of a save that failed
        temporary.mkdir()
        with _quiet_absl():
            self._checkpoint.write(str(temporary / _PREFIX))
        if off_schedule:
            (temporary / _OFF_SCHEDULE).touch()
        for path in temporary.iterdir():
            flush_to_disk(path)
        if target.exists():
            shutil.rmtree(target)
        os.rename(temporary, target)
        flush_to_disk(self.directory)
        others = set(list_checkpoints(self.directory)) - {target}
        scheduled = scheduled_checkpoints(self.directory)
        for old in others - set(scheduled[-self.keep :]):
            shutil.rmtree(old)
        return target

    def restore(self):
        """Restores the newest checkpoint that can be read.

        A damaged one is set aside as `damaged-step-N` with a warning.

        Returns:
            Its path, or None when the run has none yet.

        Raises:
            ValueError: there are checkpoints and none of them can be read, now or
                at an earlier start.
        """
        paths = list_checkpoints(self.directory)
        for path in reversed(paths):
            try:
                status = self._checkpoint.read(str(path / _PREFIX))
                status.assert_consumed()
                return path
            except _DAMAGE as error:
                aside = path.with_name(f"damaged-{path.name}")
                shutil.rmtree(aside, ignore_errors=True)
                os.rename(path, aside)
                warnings.warn(
                    f"The checkpoint {path} is damaged and was renamed to {aside.name} "
                    f"({_first_line(error)}); the one before it is used.",
                    stacklevel=2,
                )
        if has_checkpoints(self.directory):
            damaged = len(list(self.directory.glob("damaged-*")))
            raise ValueError(
                "Expected a checkpoint that can be read. Received: "
                f"{damaged} damaged ones in {self.directory} (now named damaged-*). "
                "Delete the workdir's checkpoints to train from the start."
            )
        return None


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
    return [path for path in paths if not (path / _OFF_SCHEDULE).exists()]


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
        reader = tf.train.load_checkpoint(str(pathlib.Path(path) / _PREFIX))
        found = {}
        for key in reader.get_variable_to_shape_map():
            match = _WEIGHT.fullmatch(key)
            if match:
                found[int(match.group(1))] = reader.get_tensor(key)
    except _DAMAGE as error:
        raise ValueError(
            f"Expected a checkpoint that can be read. Received: {path}, which is "
            f"missing or damaged ({_first_line(error)}). Restore or delete it."
        ) from error
    return dict(sorted(found.items()))


def average_weights(paths):
    """Returns the mean of the model weights of several checkpoints (paper, 6.1).

    Sums are float32 (float64 for float64 weights), the result has the dtype of the
    weight. The optimizer, its step count and the generators are left out. The average
    of one checkpoint is that checkpoint, bit for bit.

    Args:
        paths: of the checkpoints, at least one.

    Returns:
        A list of NumPy arrays in the order of `model.weights`.

    Raises:
        ValueError: no checkpoint, or checkpoints of different models.
    """
    if not paths:
        raise ValueError(
            "Expected at least one checkpoint to average. Received: none. Train first."
        )
    first = read_weights(paths[0])
    total = {key: value.astype(_sum_dtype(value)) for key, value in first.items()}
    for path in paths[1:]:
        weights = read_weights(path)
        _check_same_keys(first, weights, paths[0], path)
        for key, value in weights.items():
            total[key] += value.astype(total[key].dtype)
    count = len(paths)
    return [(total[k] / count).astype(value.dtype) for k, value in first.items()]


def _sum_dtype(value):
    return np.float64 if value.dtype == np.float64 else np.float32


def _check_same_keys(first, second, first_path, second_path):
    def described(weights):
        return {
            f"weights/{key} {value.dtype.name}{list(value.shape)}"
            for key, value in weights.items()
        }

    one, two = described(first), described(second)
    if one != two:
        raise ValueError(
            "Checkpoints to average must hold the same weights. Received: only in "
            f"{first_path}: {sorted(one - two)}; only in {second_path}: "
            f"{sorted(two - one)}. Average checkpoints of one run."
        )


@contextlib.contextmanager
def _quiet_absl():
    # TensorFlow tells how long it took to split each checkpoint into files.
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.WARNING)
    yield
    logger.setLevel(level)


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
