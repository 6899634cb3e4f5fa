"""Adam of section 5.3 on the schedule."""

import json

import keras
import numpy as np

import keras_attention as ka
from tests.reference import transformer as oracle


def gradient(p):
    """Of the objective of the file: 0.5 sum(p^2) + sum(sin(3p))."""
    return p + 3 * np.cos(3 * p)


def test_the_values_of_the_paper_are_the_default():
    config = ka.make_optimizer(512).get_config()
    assert (config["beta_1"], config["beta_2"]) == (0.9, 0.98)
    assert config["epsilon"] == 1e-9
    assert not config["weight_decay"] and not config["amsgrad"]


def test_ten_steps_equal_torch(shared_data):
    case = json.loads((shared_data / "vectors/torch_loss_adam.json").read_text())
    case = case["adam"]
    config = ka.make_optimizer(16).get_config()
    optimizer = keras.optimizers.Adam.from_config(
        {**config, "learning_rate": case["lr"]}
    )
    weight = keras.Variable(np.array(case["p0"]), dtype="float32")
    for expected in case["p_after_step"]:
        optimizer.apply(
            [keras.ops.convert_to_tensor(gradient(weight.numpy()))], [weight]
        )
        np.testing.assert_allclose(weight, expected, atol=2e-6)


def test_follows_the_schedule_like_the_oracle():
    optimizer = ka.make_optimizer(16, warmup_steps=3, scale=0.5, beta_1=0.8, beta_2=0.9)
    reference = oracle.Adam(lambda step: oracle.noam_rate(step, 16, 3, 0.5), 0.8, 0.9)
    start = np.array([1.0, -2.0, 0.5])
    weight, expected = keras.Variable(start, dtype="float32"), {"p": start}
    for _ in range(8):
        expected = reference.update(expected, {"p": gradient(expected["p"])})
        optimizer.apply(
            [keras.ops.convert_to_tensor(gradient(weight.numpy()))], [weight]
        )
        np.testing.assert_allclose(weight, expected["p"], atol=3e-6)


def test_epsilon_is_handed_on():
    # Keras adds it before the bias correction ("epsilon hat" of Adam's paper), torch
    # after; at 1e-9 nothing of this can be seen, so only the value is checked.
    assert ka.make_optimizer(16, epsilon=1e-3).get_config()["epsilon"] == 1e-3
