import types

import pytest

from keras_attention.training.checkpoints import RunState
from keras_attention.training.lockstep import MOST_UPDATES, Lockstep
from keras_attention.training.workers import Alone


class Two:
    """This worker is the second; what the chief says is `chief`."""

    count = 2

    def __init__(self, **chief):
        self.chief = {"received": 0, "stop_training": False, "seconds": 0.0, **chief}
        self.talks = 0

    def everyone(self, value):
        self.talks += 1
        return [self.chief, value]


def lockstep(workers, received=None, stop=False):
    signals = types.SimpleNamespace(received=received)
    model = types.SimpleNamespace(stop_training=stop)
    return Lockstep(workers, RunState(), signals, model), signals, model


def test_one_process_acts_on_what_it_sees_at_once():
    together, signals, model = lockstep(Alone())
    assert together.received is None and together.stop_training is False
    signals.received, model.stop_training = 15, True
    assert together.received == 15 and together.stop_training is True
    together.spend(2.0)
    assert together._state.seconds == 2.0


def test_a_worker_acts_on_its_own_signal_only_once_it_is_told():
    together, _, _ = lockstep(Two(), received=15, stop=True)
    assert together.received is None and together.stop_training is False
    together.agree()
    assert together.received == 15 and together.stop_training is True


@pytest.mark.parametrize(("own", "of_chief", "agreed"), [(None, 2, 2), (15, 2, 15)])
def test_the_signal_of_any_worker_is_all_workers(own, of_chief, agreed):
    together, _, _ = lockstep(Two(received=of_chief), received=own)
    together.agree()
    assert together.received == agreed


def test_the_wish_of_any_callback_to_stop_is_all_workers():
    together, _, _ = lockstep(Two(stop_training=True))
    together.agree()
    assert together.stop_training is True


def test_the_time_is_the_chiefs():
    together, _, _ = lockstep(Two(seconds=3.0))
    together.spend(50.0)
    assert together._state.seconds == 0.0
    together.agree()
    together.agree()
    assert together._state.seconds == 6.0


@pytest.mark.parametrize(
    ("seconds", "wait"), [(0.1, 10), (5.0, 1), (0.0, MOST_UPDATES)]
)
def test_workers_talk_about_once_a_second(seconds, wait):
    workers = Two(seconds=seconds)
    together, _, _ = lockstep(workers)
    together.after_update()  # the first update tells how long one takes
    assert workers.talks == 1
    for _ in range(wait - 1):
        together.after_update()
    assert workers.talks == 1
    together.after_update()
    assert workers.talks == 2


def test_talks_in_between_do_not_make_updates_look_short():
    workers = Two(seconds=0.5)
    together, _, _ = lockstep(workers)
    together.agree()  # as after a validation
    together.after_update()
    assert together._wait == 1  # 0.5 + 0.5 seconds for the one update


def test_one_process_does_not_talk():
    together, _, _ = lockstep(Alone())
    together.after_update()
    together.agree()
    assert together._updates == 1
