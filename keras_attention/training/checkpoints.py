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

from keras_attention.files import delete_leftovers, flush_to_disk
from keras_attention.training.checkpoint_files import (
    DAMAGE,
    OFF_SCHEDULE,
    PREFIX,
    check_whole,
    delete_checkpoint,
    first_line,
    has_checkpoints,
    list_checkpoints,
    scheduled_checkpoints,
)
from keras_attention.training.workers import Alone


@dataclasses.dataclass
class RunState:
    """Where a run stands, beside its variables; plain values that JSON can hold.

    Attributes:
        step: batches trained on: updates, and those that overflowed in float16.
        epoch: epoch of the next batch, from 0.
        batch: place of the next batch in its epoch, from 0.
        seconds: of training so far, over all resumes.
        best_nll: lowest validation nll so far.
        stale_validations: validations since then.
        best_bleu: highest validation BLEU so far.
        stale_bleu_validations: validations since then.
        best_step: updates done at that validation.
        saved_seconds: `seconds` at the last checkpoint of the schedule.
        validation_due: a signal came before the validation of this step was through;
            the run that goes on begins with it.
        window: sums since the last line of the log.
        epoch_sums: sums since the epoch began.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_nll: float | None = None
    stale_validations: int = 0
    best_bleu: float | None = None
    stale_bleu_validations: int = 0
    best_step: int | None = None
    saved_seconds: float = 0.0
    validation_due: bool = False
    window: dict = dataclasses.field(default_factory=dict)
    epoch_sums: dict = dataclasses.field(default_factory=dict)


class _StateEntry(tf.train.experimental.PythonState):
    """Lets a TensorFlow checkpoint carry a `RunState`."""

    def __init__(self, state):
        self.state = state

    def serialize(self):
        return json.dumps(dataclasses.asdict(self.state))

    def deserialize(self, string_value):
        values = json.loads(string_value)
        unknown = sorted(set(values) - set(dataclasses.asdict(self.state)))
        if unknown:
            raise ValueError(f"the state of the run names {', '.join(unknown)}")
        for name, value in values.items():
            setattr(self.state, name, value)


class Checkpoints:
    """Saves and restores a run.

    Kept are the last `keep` checkpoints of the schedule, whether updates or minutes
    made them due; the newest of all; and the one with the best validation BLEU so far,
    until a better one is saved. What else there was is deleted.

    Args:
        directory: holds one directory a checkpoint.
        model: a compiled `Transformer` whose optimizer is built.
        state: the `RunState` that is saved, and changed by `restore`.
        keep: checkpoints of the schedule to keep.
        workers: `Alone` or `Workers`. All of them save and restore together; the chief
            writes, and says which checkpoint is read.
    """

    def __init__(self, directory, model, state, keep=5, workers=None):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.keep = keep
        self._state = state
        self._workers = workers or Alone()
        weights = {id(variable) for variable in model.weights}
        metrics = [v for metric in model.metrics for v in metric.variables]
        taken = weights | {id(variable) for variable in metrics}
        others = [v for v in model.non_trainable_variables if id(v) not in taken]
        # A metric has a part on every replica. The sum of the parts is saved.
        self._metrics = metrics
        self._sums = [tf.Variable(tf.zeros(v.shape, v.dtype)) for v in metrics]
        self._checkpoint = tf.train.Checkpoint(
            weights=[v.value for v in model.weights],
            optimizer=[v.value for v in model.optimizer.variables],
            generators=[v.value for v in others],
            metrics=self._sums,
            state=_StateEntry(state),
        )
        if self._workers.is_chief:
            delete_leftovers(self.directory)

    def save(self, off_schedule=False):
        """Saves the run as it stands.

        Args:
            off_schedule: a signal, or the best BLEU so far, made this checkpoint: it
                is kept until the next one, or a better one, and never averaged with
                others.

        Returns:
            The path of the new checkpoint; None on a worker that is not the chief.

        Raises:
            OSError: it could not be written, as on a full disk; the others are as
                they were.
        """
        for kept, variable in zip(self._sums, self._metrics, strict=True):
            kept.assign(variable.numpy())
        if not self._workers.is_chief:
            return None
        target = self.directory / f"step-{self._state.step}"
        temporary = self.directory / f".tmp-{target.name}"
        try:
            self._write(temporary, off_schedule)
        except (OSError, tf.errors.OpError) as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise OSError(
                f"Cannot write the checkpoint {target}: {first_line(error)}"
            ) from error
        if target.exists():
            delete_checkpoint(target)
        os.rename(temporary, target)
        flush_to_disk(self.directory)
        self._prune(target)
        return target

    def _write(self, directory, off_schedule):
        directory.mkdir()
        with _quiet_absl():
            self._checkpoint.write(str(directory / PREFIX))
        if off_schedule:
            (directory / OFF_SCHEDULE).touch()
        for path in (*directory.iterdir(), directory):
            flush_to_disk(path)

    def _prune(self, newest):
        best = self.directory / f"step-{self._state.best_step}"
        scheduled = scheduled_checkpoints(self.directory)[-self.keep :]
        if best.exists() and best not in scheduled:
            (best / OFF_SCHEDULE).touch()  # kept, but not one of the last any more
        kept = {newest, best, *scheduled}
        for path in set(list_checkpoints(self.directory)) - kept:
            delete_checkpoint(path)

    def restore(self):
        """Restores the newest checkpoint that can be read.

        A damaged one is set aside as `damaged-step-N` with a warning.

        Returns:
            Its path, or None when the run has none yet.

        Raises:
            ValueError: there are checkpoints and none of them can be read, now or
                at an earlier start; or the newest is that of another model, or of
                another version of the package, and stays as it is.
            PermissionError: a checkpoint may not be read.
        """
        name = self._workers.from_chief(self._newest_whole)
        if name is None:
            return None
        self._read(self.directory / name)
        return self.directory / name

    def _newest_whole(self):
        for path in reversed(list_checkpoints(self.directory)):
            try:
                check_whole(path)
            except ValueError as error:
                _set_aside(path, error.__cause__)
                continue
            return path.name
        if has_checkpoints(self.directory):
            damaged = len(list(self.directory.glob("damaged-*")))
            raise ValueError(
                "Expected a checkpoint that can be read. Received: "
                f"{damaged} damaged ones in {self.directory} (now named damaged-*). "
                "Delete the workdir's checkpoints to train from the start."
            )
        return None

    def _read(self, path):
        try:
            self._checkpoint.read(str(path / PREFIX)).assert_consumed()
            for kept, variable in zip(self._sums, self._metrics, strict=True):
                variable.assign(kept)
        except DAMAGE as error:
            raise ValueError(
                "Expected a checkpoint of this model, written by this version of the "
                f"package. Received: {path}, which is whole but does not fit "
                f"({first_line(error)}). Use the version that config.json names, or "
                "take another workdir."
            ) from error


def _set_aside(path, error):
    aside = path.with_name(f"damaged-{path.name}")
    shutil.rmtree(aside, ignore_errors=True)
    os.rename(path, aside)
    warnings.warn(
        f"The checkpoint {path} is damaged and was renamed to {aside.name} "
        f"({first_line(error)}); the one before it is used.",
        stacklevel=5,  # of what called `restore`
    )


@contextlib.contextmanager
def _quiet_absl():
    # TensorFlow tells how long it took to split each checkpoint into files.
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
