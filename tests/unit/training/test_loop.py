"""The loop with everything around it replaced by records of what it was asked for."""

import dataclasses
import math
import types

import numpy as np
import pytest

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.training import loop as loops
from keras_attention.training.checkpoints import RunState
from keras_attention.training.loop import Loop, RunParts
from keras_attention.training.profiler import Profiler
from keras_attention.training.recorder import count_tokens
from keras_attention.training.workers import Alone


class Metric:
    def __init__(self, name, world):
        self.name, self.world, self.variables = name, world, []

    def result(self):
        losses = self.world.losses or [0.0]
        return sum(losses) / len(losses)


class World:
    """Stands for model, steps, batches, logs and checkpoints at once."""

    def __init__(self, batches=4, **training):
        self.asked, self.records, self.losses, self.shown = [], [], [], []
        self.gradient_norm, self.skipped = 0.25, 0
        updates = types.SimpleNamespace(numpy=lambda: self.done - self.skipped)
        self.optimizer = types.SimpleNamespace(iterations=updates)
        self.done, self.bad, self.nlls, self.bleus = 0, None, [], []
        names = ("loss", "nll", "perplexity", "token_accuracy")
        self.metrics = [Metric(name, self) for name in names]
        self.weights, self.stop_training, self.seen_bad = [], False, []
        self.directory = "no/such/directory"
        lengths = np.array([2, 3, 4, 5][:batches])
        self.encoded = types.SimpleNamespace(
            lengths=lambda rows=slice(None): 2 * (lengths[rows],),
            line_numbers=lambda rows: [10 * (row + 1) for row in rows],
        )
        defaults = {"checkpoint_steps": 100, "checkpoint_minutes": None}
        self.config = {
            "transformer": TransformerConfig.from_preset("tiny", vocabulary_size=50),
            "training": TrainingConfig(**{**defaults, **training}),
            "decoding": DecodingConfig(),
        }
        self.state = RunState()
        self.signals = types.SimpleNamespace(received=None)
        self.validated, self.interrupted = True, None
        self.synced, self.dues = [], []

    # model
    def reset_metrics(self):
        self.losses = []

    # steps
    def train(self, inputs, label_ids):
        self.done += 1
        self.losses.append(float(self.done))
        self.asked.append(f"train {inputs}")

    def first_bad_step(self):
        return self.bad

    # batches
    def plan(self, epoch):
        return [([i], (1, 8)) for i in range(len(self.encoded.lengths()[0]))]

    def dataset(self, epoch, start):
        return [(f"{epoch}.{i}", None) for i in range(start, len(self.plan(epoch)))]

    # validator
    def interrupt(self, what, before_batch):
        """A signal that comes in the midst of a part of the validation."""
        if self.done and what == self.interrupted:
            self.signals.received = 15
            before_batch()

    def losses_of_validation(self, before_batch):
        self.interrupt("losses", before_batch)
        self.asked.append("validate")
        nll = self.nlls.pop(0) if self.nlls else 1.0
        self.seen_bad.append(self.bad)
        return {"loss": nll, "nll": nll, "perplexity": 2.0, "token_accuracy": 0.5}

    def bleu(self, before_batch):
        self.interrupt("bleu", before_batch)
        return ({"bleu": self.bleus.pop(0)} if self.bleus else {}), []

    # checkpoints
    def save(self, off_schedule=False):
        what = "save off schedule" if off_schedule else "save"
        self.asked.append(f"{what} {self.state.step}")
        self.saved = dataclasses.replace(self.state)
        self.dues.append(self.state.validation_due)
        self.synced.append("checkpoint")

    def run(self, callbacks=None):
        nothing = types.SimpleNamespace
        validator = nothing(losses=self.losses_of_validation, bleu=self.bleu)
        log = nothing(
            write=self.records.append, sync=lambda: self.synced.append("history")
        )
        board = nothing(
            scalars=lambda *_: None,
            samples=lambda *_: None,
            sync=lambda: self.synced.append("board"),
        )
        pictures = nothing(show=lambda step: self.shown.append(step))
        progress = nothing(
            train=lambda *_: None,
            say=lambda *_: None,
            debug=lambda *_: None,
            is_due=lambda: False,
        )
        parts = RunParts(
            config=self.config,
            model=self,
            steps=self,
            batches=self,
            validator=validator if self.validated else None,
            state=self.state,
            checkpoints=self,
            metrics_log=log,
            tensorboard=board,
            pictures=pictures,
            profiler=Profiler(None, 0),
            progress=progress,
            callbacks=callbacks,
            signals=self.signals,
            workers=Alone(),
        )
        return Loop(parts).run()

    def saves(self):
        return [asked for asked in self.asked if asked.startswith("save")]

    def validations(self):
        return [r["step"] for r in self.records if r["kind"] == "validation"]

    def trained(self):
        return [asked[6:] for asked in self.asked if asked.startswith("train")]


def test_ends_at_max_steps_with_a_checkpoint():
    world = World(max_steps=6, checkpoint_steps=4)
    assert world.run() == "max_steps"
    assert world.trained() == ["0.0", "0.1", "0.2", "0.3", "1.0", "1.1"]
    assert world.saves() == ["save 4", "save 6"]
    assert (world.state.epoch, world.state.batch, world.state.step) == (1, 2, 6)


def test_what_leads_to_a_checkpoint_is_on_the_disk_before_it():
    world = World(max_steps=1)
    world.run()
    assert world.synced == ["history", "board", "checkpoint"]


def test_goes_on_inside_an_epoch():
    world = World(max_steps=6)
    world.state = RunState(step=3, epoch=0, batch=3)
    world.run()
    assert world.trained() == ["0.3", "1.0", "1.1"]
    assert "validate" not in world.asked


def test_goes_on_at_the_end_of_an_epoch():
    world = World(max_steps=5)
    world.state = RunState(step=4, epoch=0, batch=4)
    world.run()
    assert world.trained() == ["1.0"]


def test_a_finished_run_asks_for_nothing():
    world = World(max_steps=6)
    world.state = RunState(step=6)
    assert world.run() == "max_steps" and world.asked == []


def test_validates_before_the_first_update_and_tells_ln_v():
    world = World(max_steps=1)
    world.run()
    assert world.asked[0] == "validate"
    assert world.records[0]["step"] == 0
    assert world.records[0]["log_vocabulary_size"] == pytest.approx(math.log(50))


def test_validates_before_it_saves_so_that_a_kill_between_loses_no_record():
    world = World(max_steps=3, checkpoint_steps=2)
    world.run()
    place = world.asked.index("save 2")
    assert world.asked[place - 1] == "validate"


def test_validates_by_steps_of_its_own():
    world = World(max_steps=6, checkpoint_steps=5, validation_steps=2)
    world.run()
    steps = [r["step"] for r in world.records if r["kind"] == "validation"]
    assert steps == [0, 2, 4, 6]


def test_the_end_of_a_run_is_validated_once_it_is_averaged():
    # The final validation is that of `run`; one with the last checkpoint would be
    # forgotten at once.
    world = World(max_steps=4, checkpoint_steps=2)
    world.run()
    steps = [r["step"] for r in world.records if r["kind"] == "validation"]
    assert steps == [0, 2] and world.saves() == ["save 2", "save 4"]


def test_without_validation_pairs_nothing_is_validated():
    world = World(max_steps=3, checkpoint_steps=2)
    world.validated = False
    world.run()
    assert "validate" not in world.asked and world.saves() == ["save 2", "save 3"]


def test_log_is_exact_over_tokens():
    world = World(max_steps=8, log_steps=3)
    world.run()
    logged = [r for r in world.records if r["kind"] == "train"]
    assert [r["step"] for r in logged] == [3, 6]
    # Updates 4 (6 tokens) of one epoch and 5, 6 (3 and 4 tokens) of the next.
    assert logged[1]["nll"] == pytest.approx((4.0 * 6 + 5.5 * 7) / 13)
    assert logged[1]["perplexity"] == pytest.approx(math.exp(logged[1]["nll"]))
    assert logged[1]["real_token_share"] == pytest.approx(26 / 48)


def test_learning_rate_is_that_of_the_update():
    world = World(max_steps=2, log_steps=2, warmup_steps=10)
    world.run()
    rate = [r for r in world.records if r["kind"] == "train"][0]["learning_rate"]
    assert rate == pytest.approx(128**-0.5 * 2 * 10**-1.5, rel=1e-5)


def test_a_step_that_overflowed_moves_no_learning_rate():
    world = World(
        max_steps=3, log_steps=3, warmup_steps=9, dtype_policy="mixed_float16"
    )
    world.skipped = 1
    world.run()
    record = [r for r in world.records if r["kind"] == "train"][0]
    assert (record["step"], record["skipped_updates"]) == (3, 1)
    assert record["learning_rate"] == pytest.approx(128**-0.5 * 2 * 9**-1.5, rel=1e-5)
    world = World(max_steps=2, log_steps=1, dtype_policy="mixed_float16")
    world.skipped = 1  # nothing but that one: the rate that the next will have
    world.run()
    rates = [r["learning_rate"] for r in world.records if r["kind"] == "train"]
    assert rates[0] == rates[1] == pytest.approx(128**-0.5 * 4000**-1.5, rel=1e-5)


class Clock:
    """Each look at it is ten seconds later."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 10.0
        return self.now


def test_minutes_end_a_run_and_are_counted_over_resumes(monkeypatch):
    monkeypatch.setattr(loops, "time", Clock())
    world = World(max_minutes=1.0)
    world.validated = False
    assert world.run() == "max_minutes" and world.state.step == 6
    world = World(max_minutes=1.0)
    world.state = RunState(step=3, batch=3, seconds=40.0)
    assert world.run() == "max_minutes" and world.state.step == 5


def test_saves_by_minutes(monkeypatch):
    monkeypatch.setattr(loops, "time", Clock())
    world = World(max_steps=8, checkpoint_steps=None, checkpoint_minutes=0.5)
    world.validated = False
    world.run()
    assert world.saves() == ["save 3", "save 5", "save 7", "save 8"]
    assert world.state.saved_seconds == 110.0, "a save takes ten seconds as well"


def test_patience_counts_validations_without_a_better_nll():
    world = World(checkpoint_steps=1, patience=2)
    world.nlls = [5.0, 3.0, 4.0, 2.0, 2.0, 2.5, 1.0]
    assert world.run() == "patience"
    assert world.state.step == 5 and world.saves()[-1] == "save 5"
    assert world.state.best_nll == 2.0


def test_patience_counts_validations_without_a_better_bleu():
    world = World(checkpoint_steps=1, patience=2, patience_metric="bleu")
    world.bleus = [1.0, 7.0, 7.0, 9.0, 8.0, 8.5, 10.0]
    world.nlls = [5.0, *([6.0] * 9)]  # it is not the nll that counts
    assert world.run() == "patience"
    assert (world.state.step, world.state.best_bleu) == (6, 9.0)


def test_patience_counts_each_figure_over_resumes():
    world = World(checkpoint_steps=1, patience=3, max_steps=4)
    world.bleus, world.nlls = [9.0, 8.0, 7.0], [5.0, 4.0, 3.0, 2.0]
    assert world.run() == "max_steps"
    again = World(checkpoint_steps=1, patience=3, patience_metric="bleu")
    again.state, again.bleus = world.state, [6.0, 10.0]
    assert again.run() == "patience" and again.state.step == 5


def test_a_signal_ends_after_the_update_with_a_checkpoint():
    world = World()
    train = world.train

    def interrupted(*arguments):
        train(*arguments)
        world.signals.received = 15 if world.done == 2 else None

    world.train = interrupted
    assert world.run() == "SIGTERM"
    assert world.saves() == ["save off schedule 2"]


@pytest.mark.parametrize("options", [{"max_steps": 2}, {"checkpoint_steps": 2}])
def test_a_signal_where_the_run_saves_anyway_leaves_a_checkpoint_of_the_schedule(
    options,
):
    world = World(**options)
    train = world.train

    def interrupted(*arguments):
        train(*arguments)
        world.signals.received = 15 if world.done == 2 else None

    world.train = interrupted
    assert world.run() == "SIGTERM"
    assert world.saves() == ["save 2"]
    assert world.validations() == [0], "it may take longer than the grace of SIGTERM"
    assert world.saved.validation_due == ("checkpoint_steps" in options)


@pytest.mark.parametrize("part", ["losses", "bleu"])
@pytest.mark.parametrize("every", [2, 5])  # updates from checkpoint to checkpoint
def test_a_signal_in_a_validation_ends_it_and_the_run_that_goes_on_makes_it_up(
    part, every
):
    options = {"max_steps": 4, "checkpoint_steps": every, "validation_steps": 2}
    world = World(**options)
    world.interrupted = part
    assert world.run() == "SIGTERM"
    due = "save 2" if every == 2 else "save off schedule 2"
    assert world.saves() == [due] and world.validations() == [0]
    assert world.state.best_nll == 1.0 and world.state.stale_validations == 0
    again = World(**options)
    again.state, again.nlls, again.bleus = world.saved, [3.0, 2.0], [7.0, 5.0]
    assert again.run() == "max_steps"
    assert again.asked[:3] == ["validate", due, "train 0.2"]
    assert again.validations() == [2, 4]
    state = again.state
    assert (state.stale_validations, state.best_step) == (2, 2)
    assert world.dues == [True] and not any(again.dues)


def test_a_validation_that_is_made_up_may_be_interrupted_again():
    world = World(validation_steps=2)
    world.state = RunState(step=2, batch=2, validation_due=True)
    world.done, world.interrupted = 1, "bleu"
    assert world.run() == "SIGTERM"
    assert world.saves() == world.validations() == world.trained() == []
    assert world.state.validation_due


def test_a_validation_that_is_made_up_may_end_the_run():
    world = World(validation_steps=2, patience=1)
    world.state = RunState(step=2, batch=2, validation_due=True, best_nll=0.5)
    assert world.run() == "patience"
    assert world.saves() == ["save 2"] and world.trained() == []


def test_the_best_bleu_is_saved_beside_the_schedule():
    world = World(max_steps=8, checkpoint_steps=4, validation_steps=1)
    world.bleus = [1.0, 3.0, 3.0, 2.0, 4.0, 3.5, 5.0, 1.0]
    world.run()
    assert world.saves() == [
        "save off schedule 1",
        "save off schedule 2",
        "save 4",
        "save off schedule 5",
        "save off schedule 7",
        "save 8",
    ]
    assert (world.state.best_bleu, world.state.best_step) == (5.0, 7)


def test_the_best_bleu_does_not_put_off_the_schedule(monkeypatch):
    monkeypatch.setattr(loops, "time", Clock())
    options = {"checkpoint_steps": None, "checkpoint_minutes": 1.0}
    world = World(max_steps=6, validation_steps=2, **options)
    world.bleus = [1.0, 2.0, 3.0]
    world.state = RunState(step=1, batch=1, seconds=25.0, saved_seconds=5.0)
    world.run()
    # Seconds: 35 at update 2, 45 and 55 after its validation and save, 65 at update 3.
    assert world.saves()[:2] == ["save off schedule 2", "save 3"]


def test_a_run_that_has_gone_bad_is_not_validated():
    world = World(max_steps=4, validation_steps=2)
    train = world.train

    def diverging(*arguments):
        train(*arguments)
        world.bad = 1

    world.train = diverging
    with pytest.raises(FloatingPointError, match="since update 1 .* the pairs 10 of"):
        world.run()
    assert world.seen_bad == [None], "only before the first update"


def test_callbacks_may_stop_and_see_each_event():
    world = World(max_steps=20)
    seen = []

    class Callbacks:
        def __getattr__(self, name):
            def note(*arguments):
                seen.append(name)
                world.stop_training = name == "on_epoch_end"

            return note

    assert world.run(Callbacks()) == "callback"
    assert seen[:4] == ["on_train_begin", "on_test_begin", "on_test_end"] + [
        "on_epoch_begin"
    ]
    assert seen.count("on_train_batch_begin") == seen.count("on_train_batch_end") == 4
    assert seen[-2:] == ["on_epoch_end", "on_train_end"]
    assert world.saves() == ["save 4"], "what ends a run between two epochs saves it"


def test_epoch_logs_are_exact_over_the_epoch():
    world, logs = World(max_steps=9, log_steps=3), []

    class Callbacks:
        def on_epoch_end(self, epoch, values):
            logs.append((epoch, values))

        def __getattr__(self, name):
            return lambda *_: None

    world.run(Callbacks())
    assert [epoch for epoch, _ in logs] == [0, 1]
    values = logs[0][1]
    assert values["nll"] == pytest.approx((2.0 * (3 + 4 + 5) + 4.0 * 6) / 18)
    # Updates 5 and 6, and 7 and 8, were read together: each pair has one mean.
    expected = (5.5 * (3 + 4) + 7.5 * (5 + 6)) / 18
    assert logs[1][1]["nll"] == pytest.approx(expected)
    assert values["val_nll"] == 1.0


@pytest.mark.parametrize("log_steps", [1, 100])
def test_a_loss_that_is_not_finite_ends_the_run_and_saves_nothing(log_steps):
    world = World(max_steps=4, log_steps=log_steps, checkpoint_steps=2)
    train = world.train

    def diverging(*arguments):
        train(*arguments)
        world.bad = 3 if world.done >= 3 else None

    world.train = diverging
    with pytest.raises(FloatingPointError, match="since update 3 .*good checkpoint"):
        world.run()
    assert world.saves() == ["save 2"]


def test_weights_that_are_not_finite_are_not_saved():
    tf = pytest.importorskip("tensorflow")
    world = World(max_steps=2)
    value = tf.constant([1.0, math.inf])
    world.weights = [types.SimpleNamespace(value=value)]
    with pytest.raises(FloatingPointError, match="since update 2"):
        world.run()
    assert world.saves() == []


def test_counts_tokens_of_both_sides_with_end():
    counts = count_tokens(World(batches=2), 0)
    assert list(counts) == [
        {"source_tokens": 3, "target_tokens": 3, "cells": 16},
        {"source_tokens": 4, "target_tokens": 4, "cells": 16},
    ]
