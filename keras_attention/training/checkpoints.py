"""Exact checkpoints of a run.

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
import shutil
import warnings

import tensorflow as tf

from keras_attention.files import flush_to_disk
from keras_attention.training.checkpoint_files import (
    DAMAGE,
    OFF_SCHEDULE,
    PREFIX,
    first_line,
    has_checkpoints,
    list_checkpoints,
    scheduled_checkpoints,
)


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
            self._checkpoint.write(str(temporary / PREFIX))
        if off_schedule:
            (temporary / OFF_SCHEDULE).touch()
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
                status = self._checkpoint.read(str(path / PREFIX))
                status.assert_consumed()
                return path
            except DAMAGE as error:
                aside = path.with_name(f"damaged-{path.name}")
                shutil.rmtree(aside, ignore_errors=True)
                os.rename(path, aside)
                warnings.warn(
                    f"The checkpoint {path} is damaged and was renamed to {aside.name} "
                    f"({first_line(error)}); the one before it is used.",
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


@contextlib.contextmanager
def _quiet_absl():
    # TensorFlow tells how long it took to split each checkpoint into files.
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.WARNING)
    yield
    logger.setLevel(level)
