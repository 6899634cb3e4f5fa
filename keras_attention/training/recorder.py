"""What a run records about itself: sums over updates, and where they are written."""

import collections.abc
import math

import tensorflow as tf

from keras_attention.objectives.schedule import NoamSchedule
from keras_attention.training.memory import memory_figures
from keras_attention.training.validation import metric_values

_MEANS = ("loss", "nll", "token_accuracy")


class Recorder:
    """Sums up the updates and writes the records of a run.

    Args:
        parts: the `RunParts`.
        check: called before sums are read; raises if the run has gone bad.
    """

    def __init__(self, parts, check):
        self.parts = parts
        self.state = parts.state
        self._check = check
        training = parts.config["training"]
        self._log_steps = training.log_steps
        self._scaled = training.dtype_policy == "mixed_float16"
        self.schedule = NoamSchedule(
            parts.config["transformer"].model_dim,
            training.warmup_steps,
            training.learning_rate_scale,
        )

    def add(self, values):
        """Adds the counts of an update to the sums since the last record."""
        _add(self.state.window, values)

    def epoch_means(self):
        """Returns the metrics since the epoch began."""
        self.fold()
        return _means(self.state.epoch_sums)

    def fold(self):
        """Moves the metric sums of the device to the sums of the host."""
        state = self.state
        weight = state.window.pop("pending", 0)
        if weight == 0:
            return
        self._check()
        values = metric_values(self.parts.model)
        self.parts.model.reset_metrics()
        sums = {name: values[name] * weight for name in _MEANS}
        for totals in (state.window, state.epoch_sums):
            _add(totals, {**sums, "weight": weight})

    def after_update(self):
        """Records what is due by the number of updates, and shows what is by time."""
        if self.state.step % self._log_steps == 0:
            self.log()
        # To read a metric of many workers takes them all, and time is not the same.
        elif self.parts.workers.count == 1 and self.parts.progress.is_due():
            self._show(self._record(self._peek()))

    def log(self):
        """Records the updates since the last record."""
        self.fold()
        record = self._record(self.state.window)
        # `float` of a variable fails when replicas mirror it.
        norm = float(tf.convert_to_tensor(self.parts.model.gradient_norm))
        record["gradient_norm"] = norm if math.isfinite(norm) else None
        record.update(memory_figures())
        self._show(record)
        self.state.window = {}
        self.write("train", record)

    def _record(self, window):
        state, seconds = self.state, max(window["seconds"], 1e-9)
        tokens = {side: window[f"{side}_tokens"] for side in ("source", "target")}
        return {
            "kind": "train",
            "step": state.step,
            "epoch": state.epoch,
            **_means(window),
            **self._rate(),
            "source_tokens_per_second": tokens["source"] / seconds,
            "target_tokens_per_second": tokens["target"] / seconds,
            "real_token_share": sum(tokens.values()) / window["cells"],
            "minutes": state.seconds / 60,
        }

    def _rate(self):
        # Of the last update: a step that overflowed in float16 was none, and moves
        # neither the optimizer's count nor its rate.
        updates = int(self.parts.model.optimizer.iterations.numpy())
        values = {"learning_rate": float(self.schedule(max(0, updates - 1)))}
        if self._scaled:
            values["skipped_updates"] = self.state.step - updates
        return values

    def _show(self, record):
        window = self.state.window
        step_seconds = window["seconds"] / window["updates"]
        self.parts.progress.train(record, self.state.seconds, step_seconds)

    def _peek(self):
        # The window as `fold` would make it, without a change to any sum: where a run
        # is looked at must not show in its figures.
        window = dict(self.state.window)
        weight, values = window["pending"], metric_values(self.parts.model)
        _add(window, {**{n: values[n] * weight for n in _MEANS}, "weight": weight})
        return window

    def write(self, group, record):
        """Writes a record for programs and, its numbers, for TensorBoard."""
        self.parts.metrics_log.write(record)
        values = {k: v for k, v in record.items() if k not in ("kind", "step")}
        self.parts.tensorboard.scalars(group, record["step"], values)


def count_tokens(batches, epoch):
    """Returns, for every batch of an epoch, its real tokens a side and its cells.

    Source tokens count END, target tokens are the labels (END, but not START).

    Args:
        batches: `TokenBatches`.
        epoch: number of the epoch.

    Returns:
        A sequence of dictionaries "source_tokens", "target_tokens", "cells", counted
        when they are asked for.
    """
    return _TokenCounts(batches.encoded, batches.plan(epoch))


class _TokenCounts(collections.abc.Sequence):
    def __init__(self, encoded, plan):
        self._encoded = encoded
        self._plan = plan

    def __len__(self):
        return len(self._plan)

    def __getitem__(self, index):
        rows, shape = self._plan[index]
        source, target = self._encoded.lengths(rows)
        return {
            "source_tokens": int(source.sum()) + len(rows),
            "target_tokens": int(target.sum()) + len(rows),
            "cells": 2 * shape[0] * shape[1],
        }


def _add(totals, values):
    for name, value in values.items():
        totals[name] = totals.get(name, 0) + value


def _means(sums):
    means = {name: sums[name] / sums["weight"] for name in _MEANS if name in sums}
    if "nll" in means:
        means["perplexity"] = math.exp(min(means["nll"], 700.0))
    return means
