"""One worker of a small run, as a process of its own; see test_many_workers.py."""

import json
import os
import pathlib
import signal
import sys

import keras
import numpy as np
import tensorflow as tf

from keras_attention.training.cluster import LostWorkerError
from keras_attention.training.run import train
from tests.integration.small_runs import SMALL, copy_corpora

TRAINING = {
    **SMALL["training"],
    "max_steps": 12,
    "validation_steps": 6,
    "validation_sentences": 2,
    "optimizer_epsilon": 1e-3,  # so that a difference of rounding stays one
    "rows_multiple": 4,
}


class At(keras.callbacks.Callback):
    """Does something once the optimizer has done so many updates."""

    def __init__(self, updates, action):
        super().__init__()
        self.updates, self.action = updates, action

    def on_train_batch_end(self, batch, logs=None):
        if int(self.model.optimizer.iterations.numpy()) == self.updates:
            self.action(self)


def stop(callback):
    callback.model.stop_training = True


def wait(_):
    print("waits", flush=True)
    sys.stdin.read()


def hang(_):
    print("hangs", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def poison(callback):
    # The copy of this worker alone: an assignment to all would wait for the others.
    variable = callback.model.trainable_variables[0].value
    for copy in variable.values:
        bad = tf.fill(copy.shape, np.float32(np.nan))
        tf.raw_ops.AssignVariableOp(resource=copy.handle, value=bad)


def nothing(_):
    pass


ACTIONS = {f.__name__: f for f in (stop, wait, hang, poison, nothing)}


def main(workdir, options):
    strategy = None
    if options.get("replicas"):
        cpu = tf.config.list_physical_devices("CPU")[0]
        two = [tf.config.LogicalDeviceConfiguration()] * options["replicas"]
        tf.config.set_logical_device_configuration(cpu, two)
    if options.get("own_strategy"):
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    callbacks = []
    if "action" in options:
        callbacks.append(At(options["updates"], ACTIONS[options["action"]]))
    try:
        result = train(
            pathlib.Path(workdir),
            preset="tiny",
            transformer=SMALL["transformer"],
            training={**TRAINING, **options.get("training", {})},
            decoding=SMALL["decoding"],
            corpora=copy_corpora(),
            callbacks=callbacks,
            strategy=strategy,
        )
    except LostWorkerError as error:
        print(f"lost: {error}", file=sys.stderr)
        return error.exit_code
    except (ValueError, FloatingPointError) as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2
    told = {"reason": result.reason, "step": result.step, **result.validation}
    print("result " + json.dumps(told), flush=True)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2])))
