import keras
import numpy as np
import pytest

from keras_attention.objectives import Adam, NoamSchedule

STARTS = [np.full((3, 4), 0.5, "float32"), np.arange(5, dtype="float32")]


def after_updates(make, updates=4, **options):
    """Returns the variables of an optimizer's own updates, and the optimizer."""
    optimizer = make(NoamSchedule(8, warmup_steps=2), beta_2=0.98, **options)
    variables = [keras.Variable(start) for start in STARTS]
    random = np.random.default_rng(3)
    for _ in range(updates):
        gradients = [random.normal(size=v.shape).astype("float32") for v in variables]
        gradients[1][2] = 0.0
        optimizer.apply([keras.ops.convert_to_tensor(g) for g in gradients], variables)
    return variables, optimizer


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": 1e-9},
        {"amsgrad": True},
        {"weight_decay": 0.1},
        {"use_ema": True},
    ],
    ids=str,
)
def test_it_computes_what_kerass_adam_computes(options):
    ours, mine = after_updates(Adam, **options)
    theirs, keras_s = after_updates(keras.optimizers.Adam, **options)
    for one, other, start in zip(ours, theirs, STARTS, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert np.abs(one.numpy() - start).max() > 0.1
    assert len(mine.variables) == len(keras_s.variables)
    for one, other in zip(mine.variables, keras_s.variables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_it_is_restored_from_its_configuration():
    optimizer = Adam(NoamSchedule(8), beta_2=0.9, epsilon=1e-7)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again) is Adam and again.get_config() == optimizer.get_config()
