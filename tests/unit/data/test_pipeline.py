"""The data sets give the planned batches, from any batch on, to any consumer."""

import dataclasses
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data import (
    EncodedCorpus,
    TokenBatches,
    batching,
    make_dataset,
    plan,
)


def make_batches():
    rng = np.random.default_rng(0)
    sides = []
    for _ in range(2):
        lengths = rng.integers(1, 12, 60)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        sides += [rng.integers(4, 90, offsets[-1]).astype(np.uint16), offsets]
    return TokenBatches(EncodedCorpus(*sides, dropped={}), 64, rows_multiple=4, seed=5)


@pytest.fixture(scope="module")
def batches():
    return make_batches()


def arrays(dataset):
    return [
        (x["source_ids"].numpy(), x["target_ids"].numpy(), label.numpy())
        for x, label in dataset
    ]


def same(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


def planned(batches, epoch, shuffle=True):
    padded = batches.encoded.padded
    return [padded(rows, shape) for rows, shape in batches.plan(epoch, shuffle)]


@pytest.mark.parametrize("shuffle", [True, False])
def test_an_epoch_is_its_plan(batches, shuffle):
    dataset = batches.dataset(2, shuffle=shuffle)
    assert same(arrays(dataset), planned(batches, 2, shuffle))
    assert int(dataset.cardinality()) == batches.steps_per_epoch(2)
    features, label = dataset.element_spec
    assert sorted(features) == ["source_ids", "target_ids"]
    for spec in (*features.values(), label):
        assert (spec.shape.as_list(), spec.dtype) == ([None, None], tf.int32)


def test_a_later_start_continues_the_epoch(batches):
    whole = arrays(batches.dataset(1))
    for start in (0, 3, len(whole)):
        assert same(arrays(batches.dataset(1, start=start)), whole[start:])
    for start in (-1, len(whole) + 1):
        with pytest.raises(ValueError, match="`start` must be from 0 to"):
            batches.dataset(1, start=start)


def test_several_epochs(batches):
    dataset = make_dataset(batches, epochs=2, first_epoch=1)
    expected = planned(batches, 1) + planned(batches, 2)
    assert same(arrays(dataset), expected)
    assert int(dataset.cardinality()) == len(expected)
    assert same(arrays(dataset), expected)  # a second pass is the same


def test_the_end_of_an_epoch_waits_for_no_tuner(batches):
    for dataset in (batches.dataset(0), make_dataset(batches)):
        assert dataset.options().autotune.enabled is False


def test_epochs_that_have_been_read_take_no_memory(monkeypatch):
    plans, batches = [], make_batches()

    class Watched(plan.Plan):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            plans.append(weakref.ref(self))

    monkeypatch.setattr(batching, "Plan", Watched)
    for epoch in range(3):
        for _ in batches.dataset(epoch):
            pass
    for _ in make_dataset(batches, epochs=2, first_epoch=3):
        pass
    gc.collect()
    assert len(plans) == 5  # one for each epoch
    assert sum(reference() is not None for reference in plans) == batching.PLANS_KEPT


def test_an_endless_dataset_goes_on(batches):
    dataset = make_dataset(batches, epochs=None)
    expected = planned(batches, 0) + planned(batches, 1)
    assert int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY
    assert same(arrays(dataset.take(len(expected))), expected)
    fixed = make_dataset(batches, epochs=2, shuffle=False)
    assert same(arrays(fixed), 2 * planned(batches, 0, shuffle=False))


@pytest.mark.parametrize("epochs", [0, -1, 1.5])
def test_epochs_that_are_no_count_are_refused(batches, epochs):
    with pytest.raises(ValueError, match="`epochs` must be an integer.*Received"):
        make_dataset(batches, epochs=epochs)


def check_replicas():
    (cpu,) = tf.config.list_physical_devices("CPU")
    halves = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, halves)
    batches = make_batches()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    assert strategy.num_replicas_in_sync == 2
    parts = strategy.experimental_distribute_dataset(batches.dataset(0))
    labels = [strategy.experimental_local_results(label) for _, label in parts]
    expected = [label for _, _, label in planned(batches, 0)]
    for (one, two), whole in zip(labels, expected, strict=True):
        assert len(one) == len(two)
        assert np.array_equal(np.concatenate([one.numpy(), two.numpy()]), whole)
    print(len(labels), "batches shared")


def test_replicas_share_each_batch(batches, repository):
    # In a process of its own: devices cannot be split once TensorFlow has begun.
    script = "from tests.unit.data.test_pipeline import check_replicas as c; c()"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{batches.steps_per_epoch()} batches shared" in done.stdout


def test_weights_come_third_and_are_those_of_the_rows(batches):
    encoded = batches.encoded
    weights = np.arange(1, encoded.num_pairs + 1, dtype=np.float32)
    weighted = dataclasses.replace(encoded, weights=weights)
    assert weighted.sha256 != encoded.sha256
    epoch = TokenBatches(weighted, 64, rows_multiple=4, seed=5)
    found = list(epoch.dataset(0))
    assert same(arrays(x[:2] for x in found), planned(batches, 0))
    for (rows, (count, _)), (*_, given) in zip(epoch.plan(0), found, strict=True):
        assert given.shape == (count,)
        assert given[: len(rows)].numpy().tolist() == weights[rows].tolist()
        assert not given[len(rows) :].numpy().any()
