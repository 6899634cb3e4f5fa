"""Equation (3): counted from 1, for every kind of step."""

import json

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keras_attention as ka
from tests.reference import transformer as oracle


@pytest.mark.parametrize(
    "step",
    [
        99,
        99.0,
        np.int64(99),
        np.int32(99),
        keras.ops.convert_to_tensor(99, "int32"),
        keras.ops.convert_to_tensor(99, "int64"),
        keras.ops.convert_to_tensor(99.0, "float32"),
    ],
    ids=lambda step: f"{type(step).__name__}-{getattr(step, 'dtype', '')}",
)
def test_every_kind_of_step_gives_the_same_float32(step):
    rate = ka.NoamSchedule(512, 4000)(step)
    assert keras.backend.standardize_dtype(rate.dtype) == "float32"
    np.testing.assert_allclose(rate, 1.746928e-05, rtol=1e-6)


@pytest.mark.parametrize(
    ("update", "rate"),
    [
        (0, 1.746928e-07),
        (1, 3.493856e-07),
        (2, 5.240784e-07),
        (3999, 6.987712e-04),
        (15_999, 3.493856e-04),
    ],
)
def test_update_k_gets_the_rate_of_step_k_plus_1(update, rate):
    np.testing.assert_allclose(ka.NoamSchedule(512)(update), rate, rtol=1e-6)


def test_published_values(shared_data):
    values = json.loads((shared_data / "vectors/lr_schedule.json").read_text())
    for name, model_dim, warmup in [
        ("d512_w4000", 512, 4000),
        ("d128_w2000", 128, 2000),
    ]:
        schedule = ka.NoamSchedule(model_dim, warmup)
        for step, rate in values[name].items():
            np.testing.assert_allclose(schedule(int(step) - 1), rate, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**9),
    st.integers(1, 4096),
    st.integers(1, 10**5),
    st.floats(0.1, 9),
)
def test_equals_the_formula(update, model_dim, warmup, scale):
    expected = oracle.noam_rate(update + 1, model_dim, warmup, scale)
    rate = ka.NoamSchedule(model_dim, warmup, scale)(update)
    np.testing.assert_allclose(rate, expected, rtol=1e-5)


def test_peak_is_at_the_end_of_the_warm_up():
    schedule = ka.NoamSchedule(64, 10)
    rates = [float(schedule(k)) for k in range(40)]
    assert int(np.argmax(rates)) == 9


def test_exact_beyond_what_float32_can_count():
    # 2^24 + 1 is not a float32; the rate must still go down and stay finite.
    schedule = ka.NoamSchedule(512)
    rates = [float(schedule(np.int64(2**k))) for k in (20, 24, 30, 40)]
    assert rates == sorted(rates, reverse=True) and rates[-1] > 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (dict(model_dim=0), "model_dim"),
        (dict(model_dim=512, warmup_steps=0), "warmup_steps"),
        (dict(model_dim=512, warmup_steps=-4), "warmup_steps"),
        (dict(model_dim=512, scale=0.0), "scale"),
        (dict(model_dim=512, scale=float("nan")), "scale"),
    ],
)
def test_what_cannot_work_is_refused(arguments, name):
    with pytest.raises(ValueError, match=f"{name}.*Received"):
        ka.NoamSchedule(**arguments)


def test_the_optimizer_reports_the_rate_of_its_next_update():
    optimizer = ka.make_optimizer(512)
    weight = keras.Variable([1.0, 2.0])
    optimizer.build([weight])
    for update in range(3):
        np.testing.assert_allclose(
            optimizer.learning_rate, oracle.noam_rate(update + 1, 512, 4000), rtol=1e-6
        )
        optimizer.apply([keras.ops.ones(2)])
    assert float(weight[0]) < 1.0
