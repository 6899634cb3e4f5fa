"""Compile, fit and evaluate are the steps; what cannot be exact is refused."""

import keras
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.unit.models.tiny import DATA, assert_same_weights, make, step, tensors


def test_fit_and_evaluate_agree_with_the_steps(tmp_path):
    ours, fitted = (make(ka.make_optimizer(4)) for _ in range(2))
    data = tf.data.Dataset.from_tensors(DATA).repeat(3)
    for _ in range(3):
        results = step(ours)
    board = keras.callbacks.TensorBoard(tmp_path, update_freq=1)
    history = fitted.fit(data, shuffle=False, verbose=0, callbacks=[board]).history
    assert {name: values[0] for name, values in history.items()} == pytest.approx(
        results, abs=1e-5
    )
    assert_same_weights(ours, fitted)
    measured = fitted.evaluate(data, verbose=0, return_dict=True)
    fitted.reset_metrics()
    again = fitted.test_step(tensors(DATA))
    assert measured == pytest.approx({k: float(v) for k, v in again.items()}, abs=1e-5)


def test_a_compiled_model_comes_back_compiled(tmp_path):
    model = make(ka.make_optimizer(4), compile=dict(micro_batches=2))
    step(model)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert int(loaded.optimizer.iterations) == 1
    step(model), step(loaded)
    assert_same_weights(model, loaded)


class Mean(keras.losses.Loss):
    def call(self, labels, logits):
        return tf.reduce_mean(logits)


def uncompiled():
    model = make()
    return ka.Transformer.from_config(model.get_config())


@pytest.mark.parametrize(
    ("act", "pattern"),
    [
        (lambda: step(uncompiled()), "no loss. Call `model.compile"),
        (lambda: step(make(), (DATA[0],)), r"\(inputs, label_ids\).*Received"),
        (
            lambda: make(keras.optimizers.SGD(1.0, gradient_accumulation_steps=2)),
            "`micro_batches`.*Received: gradient_accumulation_steps=2, replicas=1",
        ),
        (lambda: make().compile(metrics=["accuracy"]), "Remove `metrics`.*Received"),
        (
            lambda: make().compile(loss="sparse_categorical_crossentropy"),
            "must be a `keras.losses.Loss`.*Received: 'sparse",
        ),
        (lambda: make().compile(micro_batches=0), "`micro_batches`.*Received"),
        (lambda: make().compile(gradient_clip_norm=0.0), "`gradient_clip_norm`.*Rec"),
    ],
)
def test_what_cannot_work_is_refused(act, pattern):
    with pytest.raises(ValueError, match=pattern):
        act()


def test_a_loss_that_is_not_one_value_a_token_is_refused():
    model = make()
    model.compile(optimizer="sgd", loss=Mean())
    with pytest.raises(ValueError, match="one value a token.*Received: Mean.call"):
        step(model)
