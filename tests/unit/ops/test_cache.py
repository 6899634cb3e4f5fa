"""Caches of keys and values that are written in place and never reordered."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention import ops


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("graph", [True, False])
def test_every_position_keeps_what_was_written(in_place, graph):
    keys, values = random(5, 2, 3, 8), random(5, 2, 3, 10, seed=1)  # W * K, W * Kv

    def written():
        cache = ops.empty_cache(2, 2, 3, 4, 5, 6, "float32")
        for step in range(5):
            index = ops.position_index(cache, step)
            cache = ops.write_to_cache(
                cache, index, keys[step], values[step], 6, in_place=in_place
            )
        return cache

    cache = (tf.function(written, autograph=False) if graph else written)()
    np.testing.assert_array_equal(cache["key"][:, :, :5], np.moveaxis(keys, 0, 2))
    np.testing.assert_array_equal(cache["value"][:, :, :5], np.moveaxis(values, 0, 2))
    assert not np.any(cache["key"][:, :, 5])


def test_two_calls_of_a_graph_do_not_share_a_cache():
    @tf.function(autograph=False)
    def write(step):
        cache = ops.empty_cache(1, 1, 1, 1, 1, 3, "float32")
        index, ones = ops.position_index(cache, step), tf.ones((1, 1))
        return ops.write_to_cache(cache, index, ones, ones, 3)["key"][0, 0, :, 0]

    first, second = write(tf.constant(0)), write(tf.constant(2))
    assert first.numpy().tolist() == [1, 0, 0] and second.numpy().tolist() == [0, 0, 1]


def test_the_dtype_is_kept_and_rows_may_be_a_tensor():
    cache = tf.function(
        lambda rows: ops.empty_cache(rows, 2, 1, 2, 3, 7, "bfloat16"), autograph=False
    )(tf.constant(4))
    assert cache["key"].shape == (4, 1, 7, 4) and cache["value"].dtype == "bfloat16"
    assert cache["value"].shape == (4, 1, 7, 6)


def test_a_graph_does_not_take_the_capacity_for_a_constant():
    graph = tf.function(lambda: ops.empty_cache(2, 1, 1, 2, 2, 7, "float32")["key"])
    assert graph.get_concrete_function().output_shapes.as_list() == [None, 1, None, 2]


@pytest.mark.parametrize("capacity", [16, 40])
def test_growing_keeps_everything(capacity):
    cache = {"key": random(2, 3, capacity, 4), "value": random(2, 3, capacity, 5)}
    lineage = np.zeros((4, capacity), "int32")
    same, same_lineage = ops.grow_cache([cache], lineage, capacity - 1)
    assert same[0]["key"].shape == (2, 3, capacity, 4)
    assert same_lineage.shape == (4, capacity)
    (grown,), longer = ops.grow_cache([cache], lineage, capacity)
    assert grown["key"].shape[2] == longer.shape[1] >= capacity + 8
    for name, old in cache.items():
        np.testing.assert_array_equal(grown[name][:, :, :capacity], old)
        assert not np.any(grown[name][:, :, capacity:])
    assert np.all(longer[:, capacity:] == -1) and not np.any(longer[:, :capacity])


def test_a_limit_is_not_exceeded():
    cache, lineage = {"key": random(1, 1, 8, 2)}, np.zeros((2, 8), "int32")
    for limit, capacity in ((20, 16), (11, 11), (8, 8), (5, 8)):
        (grown,), longer = ops.grow_cache([cache], lineage, 8, limit)
        assert grown["key"].shape[2] == longer.shape[1] == capacity


def test_the_mask_follows_the_lineage():
    """Three beams; who came from whom is decided by chance at every step."""
    rng, beams, steps = np.random.default_rng(3), 3, 6
    lineage = ops.empty_lineage(2 * beams, steps + 2)
    pasts = [[] for _ in range(2 * beams)]  # the slots that each row came through
    for step in range(steps):
        lineage = ops.extend_lineage(lineage, step, beams)
        for row, past in enumerate(pasts):
            past.append(row % beams)
        mask = np.asarray(ops.lineage_mask(lineage, beams))
        assert mask.shape == (2, 1, beams, (steps + 2) * beams)
        for row, past in enumerate(pasts):
            expected = np.zeros((steps + 2, beams), bool)
            expected[range(step + 1), past] = True
            np.testing.assert_array_equal(
                mask[row // beams, 0, row % beams], expected.ravel()
            )
        parents = rng.integers(beams, size=(2, beams))
        rows = (parents + [[0], [beams]]).ravel()
        lineage, pasts = np.asarray(lineage)[rows], [list(pasts[r]) for r in rows]
