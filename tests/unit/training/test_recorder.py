"""What is shown between two records leaves no trace in the figures."""

import copy
import types

import pytest

from keras_attention.config import TrainingConfig, TransformerConfig
from keras_attention.training import recorder as recorders
from keras_attention.training.checkpoints import RunState
from keras_attention.training.recorder import Recorder
from keras_attention.training.workers import Alone


class Metric:
    reads = 0

    def __init__(self, name):
        self.name = name

    def result(self):
        Metric.reads += 1
        return 2.0


@pytest.fixture
def world():
    names = ("loss", "nll", "perplexity", "token_accuracy")
    world = types.SimpleNamespace(shown=[], records=[], due=False, resets=0)
    Metric.reads = 0

    def reset():
        world.resets += 1

    nothing = types.SimpleNamespace
    world.model = nothing(
        metrics=[Metric(name) for name in names],
        reset_metrics=reset,
        gradient_norm=0.5,
        optimizer=nothing(iterations=nothing(numpy=lambda: world.parts.state.step)),
    )
    world.parts = nothing(
        config={
            "transformer": TransformerConfig(vocabulary_size=50),
            "training": TrainingConfig(log_steps=3),
        },
        model=world.model,
        state=RunState(),
        workers=Alone(),
        progress=nothing(
            train=lambda *told: world.shown.append(told), is_due=lambda: world.due
        ),
        metrics_log=nothing(write=world.records.append),
        tensorboard=nothing(scalars=lambda *_: None),
    )
    world.recorder = Recorder(world.parts, lambda: None)
    return world


def update(world):
    counts = {"source_tokens": 10, "target_tokens": 20, "cells": 40}
    world.recorder.add({**counts, "pending": 20, "updates": 1, "seconds": 0.5})
    world.parts.state.step += 1
    world.recorder.after_update()


def test_no_metric_is_read_between_two_records_unless_a_look_is_due(world):
    update(world)
    update(world)
    assert Metric.reads == 0 and world.shown == []


def test_a_look_shows_the_present_and_changes_nothing(world):
    world.due = True
    update(world)
    ((record, _, step_seconds),) = world.shown
    assert record["nll"] == 2.0 and record["step"] == 1 and step_seconds == 0.5
    assert record["source_tokens_per_second"] == 20.0
    assert record["real_token_share"] == 0.75
    assert world.resets == 0 and world.records == []
    assert "weight" not in world.parts.state.window


def test_a_look_right_after_a_fold_is_of_the_folded_sums(world):
    update(world)
    world.recorder.fold()  # as at the end of an epoch
    before = copy.deepcopy(world.parts.state.window)
    world.due = True
    update(world)
    ((record, *_),) = world.shown
    assert record["nll"] == 2.0
    assert world.parts.state.window["weight"] == before["weight"] == 20


def test_records_are_the_same_whether_looked_at_or_not(world):
    for _ in range(3):
        update(world)
    world.due = True
    for _ in range(3):
        update(world)
    drop = ("step", "learning_rate", "memory_gib", "peak_memory_gib")
    first, second = (
        {k: v for k, v in record.items() if k not in drop} for record in world.records
    )
    assert first == second
    assert [record["step"] for record in world.records] == [3, 6]


@pytest.mark.parametrize("norm", [float("inf"), float("nan")])
def test_a_norm_that_is_no_number_is_null(world, norm):
    world.model.gradient_norm = norm
    for _ in range(3):
        update(world)
    assert world.records[0]["gradient_norm"] is None


def test_memory_is_recorded(world, monkeypatch):
    monkeypatch.setattr(recorders, "memory_figures", lambda: {"memory_gib": 1.5})
    for _ in range(3):
        update(world)
    assert world.records[0]["memory_gib"] == 1.5
    assert world.records[0]["gradient_norm"] == 0.5
