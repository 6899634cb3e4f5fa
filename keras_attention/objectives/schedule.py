"""The learning-rate schedule, section 5.3 of the paper."""

import keras
from keras import ops

from keras_attention.checks import check_integer, check_number


@keras.saving.register_keras_serializable("keras_attention")
class NoamSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Grows linearly for `warmup_steps` updates, then decays with their root.

    lrate = scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    The paper counts updates from 1 and Keras from 0: update k (k = 0, 1, ...) gets
    lrate(k + 1), so that the first update is not lost.

    Args:
        model_dim: int, d_model.
        warmup_steps: int, at least 1.
        scale: float factor; 1.0 is the paper's.

    Call arguments:
        step: int or float, or an integer or float scalar tensor: updates done.

    Returns:
        float32 scalar.

    Raises:
        ValueError: a value that cannot work (a warm-up of 0 would divide by zero).

    Example:

    >>> schedule = NoamSchedule(model_dim=512, warmup_steps=4000)
    >>> f"{float(schedule(0)):.5e} {float(schedule(3999)):.5e}"
    '1.74693e-07 6.98771e-04'

    Reference: section 5.3, equation (3).
    """

    def __init__(self, model_dim, warmup_steps=4000, scale=1.0):
        self.model_dim = check_integer("model_dim", model_dim)
        self.warmup_steps = check_integer("warmup_steps", warmup_steps)
        self.scale = check_number("scale", scale, open_low=True)

    def __call__(self, step):
        """Returns the learning rate of the update that follows `step` others."""
        step = ops.cast(step, "float32") + 1.0
        rate = ops.minimum(ops.rsqrt(step), step * self.warmup_steps**-1.5)
        return self.scale * self.model_dim**-0.5 * rate

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            "model_dim": self.model_dim,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
        }
