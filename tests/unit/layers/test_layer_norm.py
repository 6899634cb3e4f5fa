import keras
import numpy as np
import pytest

from keras_attention.layers import LayerNorm


def test_it_has_the_weights_and_values_of_kerass_layer():
    inputs = np.random.default_rng(1).normal(size=(2, 3, 4)).astype("float32")
    ours, theirs = LayerNorm(), keras.layers.LayerNormalization(epsilon=1e-6)
    np.testing.assert_allclose(ours(inputs), theirs(inputs), atol=1e-6)
    assert [w.shape for w in ours.weights] == [w.shape for w in theirs.weights]


@pytest.mark.parametrize("epsilon", [0, -1.0, None])
def test_an_epsilon_that_cannot_work_is_refused(epsilon):
    with pytest.raises(ValueError, match="`epsilon` must be .*Received"):
        LayerNorm(epsilon=epsilon)


@pytest.mark.parametrize("option", ["axis", "scale", "center", "rms_scaling"])
def test_options_of_kerass_layer_are_refused(option):
    with pytest.raises(ValueError, match=f"the last axis.*Received: {option}"):
        LayerNorm(**{option: 1})
