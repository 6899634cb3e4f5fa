import types

import pytest
import tensorflow as tf

from keras_attention.config import TrainingConfig
from keras_attention.training.strategy import check_replicas, make_strategy


def strategy(replicas):
    return types.SimpleNamespace(num_replicas_in_sync=replicas)


def test_one_device_needs_no_mirror():
    assert make_strategy() is tf.distribute.get_strategy()


@pytest.mark.parametrize(("replicas", "parts"), [(1, 1), (2, 4), (8, 1)])
def test_batches_that_split_evenly_are_taken(replicas, parts):
    check_replicas(strategy(replicas), TrainingConfig(micro_batches=parts))


@pytest.mark.parametrize(("replicas", "parts"), [(3, 1), (2, 8), (1, 3)])
def test_batches_that_do_not_split_are_refused(replicas, parts):
    with pytest.raises(ValueError, match=f"must divide .*replicas={replicas}, micro"):
        check_replicas(strategy(replicas), TrainingConfig(micro_batches=parts))


def test_compilation_across_devices_is_refused():
    with pytest.raises(ValueError, match="`jit_compile` works with one replica only"):
        check_replicas(strategy(2), TrainingConfig(jit_compile=True))
