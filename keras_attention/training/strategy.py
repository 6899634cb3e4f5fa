"""Where updates are computed: one device, or replicas that share every update."""

import tensorflow as tf


def find_devices():
    """Returns the physical devices of this machine, without initialising them."""
    return tf.config.list_physical_devices()


def make_strategy():
    """Returns the distribution strategy of this machine.

    `MirroredStrategy` when there are several GPUs (or, without GPU, several logical
    CPUs, as tests make them); otherwise the default strategy, which is one replica on
    the one device.

    Example:

    >>> make_strategy().num_replicas_in_sync
    1
    """
    gpus = tf.config.list_logical_devices("GPU")
    devices = gpus or tf.config.list_logical_devices("CPU")
    if len(devices) < 2:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy([device.name for device in devices])


def check_replicas(strategy, training):
    """Checks that every batch of a run splits into equal parts.

    Args:
        strategy: a `tf.distribute.Strategy`.
        training: a `TrainingConfig`.

    Raises:
        ValueError: replicas times micro-batches do not divide `rows_multiple`, or
            `jit_compile` is asked for with several replicas, which TensorFlow cannot.
    """
    replicas = strategy.num_replicas_in_sync
    if training.rows_multiple % (replicas * training.micro_batches):
        raise ValueError(
            "Replicas times micro-batches must divide `rows_multiple`, so that every "
            f"batch splits evenly. Received: replicas={replicas}, micro_batches="
            f"{training.micro_batches}, rows_multiple={training.rows_multiple}. "
            "Start a new run with a larger `rows_multiple`, or use fewer micro-batches."
        )
    if training.jit_compile and replicas > 1:
        raise ValueError(
            "`jit_compile` works with one replica only (TensorFlow cannot compile an "
            f"update across devices). Received: replicas={replicas}. Leave it out."
        )
