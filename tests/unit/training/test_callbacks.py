import keras
import pytest

from keras_attention.training.callbacks import make_callbacks


class Recorder(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.seen = (self.model, self.params["steps"])


def model():
    return keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])


def test_callbacks_see_the_model_and_the_steps():
    recorder, trained = Recorder(), model()
    make_callbacks([recorder], trained, 7).on_train_begin()
    assert recorder.seen == (trained, 7)


def test_no_callbacks_is_no_list():
    assert make_callbacks([], model(), 7) is None


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.BackupAndRestore("backup"),
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.1),
        keras.callbacks.ReduceLROnPlateau(),
    ],
)
def test_callbacks_that_fight_with_the_run_are_refused(callback):
    with pytest.raises(ValueError, match="cannot take part in a run: the"):
        make_callbacks([callback], model(), 7)


def test_what_is_no_callback_is_refused():
    with pytest.raises(ValueError, match="must hold .*Received: <built-in fun"):
        make_callbacks([print], model(), 7)
