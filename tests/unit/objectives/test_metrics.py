"""Metrics weigh tokens, not batches."""

import keras
import numpy as np
import pytest

from keras_attention.objectives import Perplexity, TokenMean


def test_the_order_and_size_of_batches_do_not_matter():
    random = np.random.default_rng(0)
    losses = random.uniform(0, 9, 40)
    whole, parts = TokenMean(), TokenMean()
    whole.update_state(losses.sum(), 40.0)
    for part in np.split(losses, [1, 4, 25]):
        parts.update_state(part.sum(), float(len(part)))
    np.testing.assert_allclose(parts.result(), whole.result(), rtol=1e-6)
    np.testing.assert_allclose(whole.result(), losses.mean(), rtol=1e-6)


def test_perplexity_is_exp_of_the_mean_not_the_mean_of_exps():
    metric = Perplexity()
    metric.update_state(4.0, 1.0)
    metric.update_state(3.0, 3.0)
    np.testing.assert_allclose(metric.result(), np.exp(1.75), rtol=1e-6)


@pytest.mark.parametrize(("cls", "start"), [(TokenMean, 0.0), (Perplexity, 1.0)])
def test_empty_and_reset(cls, start):
    metric = cls()
    assert float(metric.result()) == start
    metric.update_state(0.0, 0.0)
    assert float(metric.result()) == start
    metric.update_state(5.0, 2.0)
    metric.reset_state()
    assert float(metric.result()) == start


@pytest.mark.parametrize("cls", [TokenMean, Perplexity])
def test_names_and_config(cls):
    metric = cls(name="x1")
    again = cls.from_config(metric.get_config())
    assert again.name == "x1" and again.get_config() == metric.get_config()
    assert all(
        keras.backend.standardize_dtype(v.dtype) == "float32" for v in metric.variables
    )
