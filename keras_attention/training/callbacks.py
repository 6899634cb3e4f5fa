"""Keras callbacks in a run: most work, those that would fight with the run do not."""

import keras

_REFUSED = {
    keras.callbacks.BackupAndRestore: "the run resumes from its own checkpoints",
    keras.callbacks.LearningRateScheduler: "the learning rate follows `NoamSchedule`",
    keras.callbacks.ReduceLROnPlateau: "the learning rate follows `NoamSchedule`",
}


def make_callbacks(callbacks, model, max_steps):
    """Returns a `keras.callbacks.CallbackList` for a run, or None without callbacks.

    Args:
        callbacks: Keras callbacks.
        model: the model that is trained.
        max_steps: updates of the whole run.

    Raises:
        ValueError: something that is no callback, or a callback that the run cannot
            have: `BackupAndRestore` and those that set the learning rate.
    """
    callbacks = list(callbacks)
    for callback in callbacks:
        _check(callback)
    if not callbacks:
        return None
    return keras.callbacks.CallbackList(
        callbacks,
        model=model,
        add_history=False,
        add_progbar=False,
        epochs=None,
        steps=max_steps,
        verbose=0,
    )


def _check(callback):
    if not isinstance(callback, keras.callbacks.Callback):
        raise ValueError(
            "`callbacks` must hold instances of `keras.callbacks.Callback`. "
            f"Received: {callback!r} of type {type(callback).__name__}."
        )
    for kind, reason in _REFUSED.items():
        if isinstance(callback, kind):
            raise ValueError(
                f"`{kind.__name__}` cannot take part in a run: {reason}. "
                f"Received: {callback!r}. Leave it out of `callbacks`."
            )
