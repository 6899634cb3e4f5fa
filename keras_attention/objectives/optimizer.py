"""The optimizer, section 5.3 of the paper."""

from keras_attention.objectives.adam import Adam
from keras_attention.objectives.schedule import NoamSchedule


def make_optimizer(
    model_dim, warmup_steps=4000, scale=1.0, beta_1=0.9, beta_2=0.98, epsilon=1e-9
):
    """Returns Adam on the schedule of the paper.

    Gradient clipping is an option of `Transformer.compile`, where the gradient of the
    whole batch is known; Keras's own would act on each replica's part.

    Args:
        model_dim: int, d_model.
        warmup_steps: int, updates of warm-up.
        scale: float factor on the schedule; 1.0 is the paper's.
        beta_1, beta_2, epsilon: of Adam.

    Returns:
        `keras_attention.objectives.Adam`, a `keras.optimizers.Adam`.

    Raises:
        ValueError: a value of the schedule that cannot work.

    Example:

    >>> make_optimizer(512).beta_2
    0.98

    Reference: section 5.3.
    """
    return Adam(
        NoamSchedule(model_dim, warmup_steps, scale),
        beta_1=beta_1,
        beta_2=beta_2,
        epsilon=epsilon,
    )
