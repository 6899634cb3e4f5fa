import contextlib

import pytest
import tensorflow as tf

from keras_attention.training.profiler import WARM_UP, Profiler


@pytest.fixture
def asked(monkeypatch):
    """What TensorFlow's profiler was asked for."""
    asked = []

    @contextlib.contextmanager
    def trace(name, step_num, _r):
        asked.append(step_num)
        yield

    profiler = tf.profiler.experimental
    monkeypatch.setattr(profiler, "start", lambda where: asked.append(f"start {where}"))
    monkeypatch.setattr(profiler, "stop", lambda: asked.append("stop"))
    monkeypatch.setattr(profiler, "Trace", trace)
    return asked


def updates(profiler, count, first=1):
    for step in range(first, first + count):
        with profiler.update(step):
            pass


def test_updates_after_the_warm_up_are_recorded(asked):
    profiler = Profiler("here", 2)
    updates(profiler, WARM_UP)
    assert asked == []
    updates(profiler, 10, first=101)
    profiler.close()
    assert asked == ["start here", 101, 102, "stop"]


def test_a_run_that_ends_before_writes_what_there_is(asked):
    profiler = Profiler("here", 5)
    updates(profiler, WARM_UP + 1)
    profiler.close()
    profiler.close()
    assert asked == ["start here", WARM_UP + 1, "stop"]


def test_nothing_is_asked_for_without_updates(asked):
    profiler = Profiler("here", 0)
    updates(profiler, 20)
    profiler.close()
    assert asked == []
