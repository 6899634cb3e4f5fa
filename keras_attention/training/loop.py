"""The loop of a run: update, log, validate, save, until there is a reason to stop."""

import dataclasses
import math
import signal
import time

from keras_attention.training.lockstep import Lockstep
from keras_attention.training.nonfinite import check_finite
from keras_attention.training.progress import duration, shown
from keras_attention.training.recorder import Recorder, count_tokens
from keras_attention.training.signals import Interrupted
from keras_attention.training.validation import metric_values


@dataclasses.dataclass
class RunParts:
    """Everything that takes part in a run; each is described by its own class."""

    config: dict
    model: object
    steps: object
    batches: object
    validator: object  # or None: a run without validation pairs
    state: object
    checkpoints: object
    metrics_log: object
    tensorboard: object
    pictures: object
    profiler: object
    progress: object
    callbacks: object  # or None
    signals: object
    workers: object


class Loop:
    """Trains until a reason to stop.

    Args:
        parts: the `RunParts`.
    """

    def __init__(self, parts):
        self.parts = parts
        self.state = parts.state
        self.training = parts.config["training"]
        self.recorder = Recorder(parts, self._check_finite)
        self.lockstep = Lockstep(parts.workers, parts.state, parts.signals, parts.model)
        self._saved_step = self.state.step
        self._mark = None
        self._validation = {}

    def run(self):
        """Trains.

        Returns:
            Why it stopped: "max_steps", "max_minutes", "patience", "callback",
            "SIGTERM" or "SIGINT".

        Raises:
            FloatingPointError: the loss was not finite; the message names the update,
                the pairs it learned from and the last good checkpoint.
        """
        self._mark = time.monotonic()
        self._call("on_train_begin")
        if self.state.step == 0:
            self.validate()
        elif self.state.validation_due:
            self._make_up()
        self.lockstep.agree()
        reason = self._stop_reason()
        while reason is None:
            reason = self._epoch()
        if self.state.step > self._saved_step:  # it stopped between two epochs
            self.save(due=False)
        self._call("on_train_end", self._validation)
        return reason

    def _epoch(self):
        state, batches = self.state, self.parts.batches
        counts = count_tokens(batches, state.epoch)
        reason = None
        if state.batch == 0:
            self._call("on_epoch_begin", state.epoch)
        if state.batch < len(counts):
            data = batches.dataset(state.epoch, start=state.batch)
            for inputs, label_ids, *weights in data:
                self._update(inputs, label_ids, counts[state.batch], *weights)
                reason = self._after_update()
                if reason is not None:
                    return reason
        logs = self.recorder.epoch_means()
        logs.update({f"val_{k}": v for k, v in self._validation.items()})
        self._call("on_epoch_end", state.epoch, logs)
        state.epoch, state.batch, state.epoch_sums = state.epoch + 1, 0, {}
        self.lockstep.agree()
        return self._stop_reason()

    def _update(self, inputs, label_ids, counts, *weights):
        state = self.state
        self._call("on_train_batch_begin", state.batch)
        with self.parts.profiler.update(state.step + 1):
            self.parts.steps.train(inputs, label_ids, *weights)
        self.recorder.add({**counts, "pending": counts["target_tokens"], "updates": 1})
        if self.parts.callbacks is not None:
            logs = metric_values(self.parts.model)
            self._call("on_train_batch_end", state.batch, logs)
        state.step += 1
        state.batch += 1
        self.recorder.add({"seconds": self._tick()})

    def _after_update(self):
        state, training = self.state, self.training
        self.recorder.after_update()
        self.lockstep.after_update()
        save, ending = self._save_is_due(), self._end_reason() is not None
        every = training.validation_steps
        if state.step % every == 0 if every else save and not ending:
            state.validation_due = self.validate() is None
        reason = self._stop_reason()
        if save or reason is not None or state.best_step == state.step:
            self.save(due=save)
        return reason

    def _make_up(self):
        # The validation that a signal left out, and the checkpoint as it is after it.
        state = self.state
        due = state.saved_seconds == state.seconds  # so was the one without it
        if self.validate() is not None:
            state.validation_due = False
            self.save(due=due)

    def _save_is_due(self):
        every, minutes = (
            self.training.checkpoint_steps,
            self.training.checkpoint_minutes,
        )
        if every is not None and self.state.step % every == 0:
            return True
        waited = self.state.seconds - self.state.saved_seconds
        return minutes is not None and waited >= minutes * 60

    def _stop_reason(self):
        received = self.lockstep.received
        if received is not None:
            return signal.Signals(received).name
        return self._end_reason()

    def _end_reason(self):
        # What ends the run for good; a run that a signal stopped goes on.
        state, training = self.state, self.training
        if state.step >= training.max_steps:
            return "max_steps"
        if training.max_minutes and state.seconds >= training.max_minutes * 60:
            return "max_minutes"
        stale = {"nll": state.stale_validations, "bleu": state.stale_bleu_validations}
        if training.patience and stale[training.patience_metric] >= training.patience:
            return "patience"
        return "callback" if self.lockstep.stop_training else None

    def _tick(self):
        # Adds the time since the last call to the run's time.
        now = time.monotonic()
        passed, self._mark = now - self._mark, now
        self.lockstep.spend(passed)
        return passed

    def validate(self, kind="validation"):
        """Evaluates the model as it is and records it.

        A signal ends it at the next batch, with no trace: a validation may take longer
        than the half minute that schedulers leave a process to save itself.

        Args:
            kind: "validation", or "final" for the averaged weights.

        Returns:
            The figures, empty for a run without validation pairs; None after a signal.
        """
        if self.parts.validator is None:
            return {}
        self._check_finite()
        try:
            self._check_signal()
            self._call("on_test_begin")
            values, samples = self._evaluate()
        except Interrupted:
            return None
        if self.state.step > 0:
            self.parts.tensorboard.samples(kind, self.state.step, samples)
            if kind == "validation":
                self.parts.pictures.show(self.state.step)
        self._call("on_test_end", values)
        self._tick()
        self.lockstep.agree()
        if kind == "validation":
            self._compare(values)
            self._validation = values
        record = {"kind": kind, "step": self.state.step, **values}
        if self.state.step == 0:
            record["log_vocabulary_size"] = math.log(
                self.parts.config["transformer"].vocabulary_size
            )
        self.recorder.write(kind, {**record, "minutes": self.state.seconds / 60})
        self.parts.progress.say(
            f"{kind} at step {self.state.step}: {shown(values)}  "
            f"after {duration(self.state.seconds)}"
        )
        return values

    def _evaluate(self):
        validator, workers = self.parts.validator, self.parts.workers
        values, samples = validator.losses(self._check_batch), []
        if self.state.step > 0:  # an untrained model would only babble to its limits
            # The others wait: a search has no part that could be shared. So none of
            # them may leave it, either.
            check = self._check_batch if workers.count == 1 else None
            scores, samples = workers.from_chief(lambda: validator.bleu(check))
            values.update(scores)
        return values, samples

    def _check_batch(self):
        self._tick()
        self.lockstep.after_update()
        self._check_signal()

    def _check_signal(self):
        if self.lockstep.received is not None:
            raise Interrupted

    def _compare(self, values):
        state, nll, bleu = self.state, values["nll"], values.get("bleu")
        if state.best_nll is None or nll < state.best_nll:
            state.best_nll, state.stale_validations = nll, 0
        else:
            state.stale_validations += 1
        if bleu is None:  # nothing was translated
            return
        if state.best_bleu is None or bleu > state.best_bleu:
            state.best_bleu, state.best_step = bleu, state.step
            state.stale_bleu_validations = 0
        else:
            state.stale_bleu_validations += 1

    def save(self, due=True):
        """Saves the run, unless its weights are no longer finite.

        Args:
            due: the schedule asks for it, not a signal or the best BLEU so far.
        """
        self._check_finite(weights=True)
        self.parts.metrics_log.sync()
        self.parts.tensorboard.sync()
        scheduled = due or self._end_reason() is not None
        if scheduled:
            self.state.saved_seconds = self.state.seconds
        self.parts.checkpoints.save(off_schedule=not scheduled)
        seconds = self._tick()
        self.parts.progress.debug(f"saved step {self.state.step} in {seconds:.2f} s")
        self._saved_step = self.state.step

    def _check_finite(self, weights=False):
        check_finite(self.parts, self.recorder.schedule, weights)

    def _call(self, event, *arguments):
        if self.parts.callbacks is not None:
            getattr(self.parts.callbacks, event)(*arguments)
