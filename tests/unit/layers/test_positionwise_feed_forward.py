"""Equation (2), the same for every position."""

import numpy as np
import pytest

import keras_attention as ka
from tests.reference import bridge
from tests.reference import transformer as oracle


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(**arguments):
    layer = ka.PositionwiseFeedForward(10, **arguments)
    layer(normal(1, 2, 6))
    for i, variable in enumerate(layer.trainable_variables):
        variable.assign(normal(*variable.shape, seed=i))
    return layer


@pytest.mark.parametrize("activation", sorted(oracle.ACTIVATIONS))
def test_equals_the_oracle(activation):
    layer, x = make(activation=activation), normal(2, 3, 6)
    weights = bridge.weights_of(bridge.feed_forward_variables(layer))
    expected = oracle.feed_forward(x, weights, activation)
    np.testing.assert_allclose(layer(x), expected, atol=1e-5)


def test_every_position_is_treated_alike_and_alone():
    layer, x = make(), normal(2, 5, 6)
    whole = np.asarray(layer(x))
    for t in range(5):
        np.testing.assert_allclose(layer(x[:, t : t + 1])[:, 0], whole[:, t], atol=1e-6)


def test_parameters():
    assert make().count_params() == 2 * 6 * 10 + 10 + 6


def test_inner_dropout_is_off_by_default(seeded):
    x = normal(2, 3, 6)
    np.testing.assert_array_equal(make()(x, training=True), make()(x))
    dropping = make(dropout_rate=0.5)
    difference = dropping(x, training=True) - dropping(x)
    assert np.abs(difference).max() > 0.1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (dict(feed_forward_dim=0), "feed_forward_dim"),
        (dict(feed_forward_dim=4, dropout_rate=1.5), "dropout_rate"),
        (dict(feed_forward_dim=4, activation="nonsense"), "nonsense"),
    ],
)
def test_what_cannot_work_is_refused(arguments, name):
    with pytest.raises(ValueError, match=name):
        ka.PositionwiseFeedForward(**arguments)
