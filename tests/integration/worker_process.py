"""One worker of a small run, as a process of its own; see test_many_workers.py."""

import json
import pathlib
import sys

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.corpora import ParallelCorpus
from keras_attention.training.cluster import LostWorkerError
from keras_attention.training.run import train

TRANSFORMER = {
    "vocabulary_size": 28,
    "num_layers": 1,
    "model_dim": 16,
    "num_heads": 2,
    "feed_forward_dim": 16,
    "dropout_rate": 0.3,
}
TRAINING = {
    "batch_tokens": 96,
    "max_steps": 12,
    "warmup_steps": 8,
    "log_steps": 3,
    "checkpoint_steps": 4,
    "validation_steps": 6,
    "validation_sentences": 2,
    "average_checkpoints": 2,
    "optimizer_epsilon": 1e-3,  # so that a difference of rounding stays one
    "rows_multiple": 4,
}


def copy_corpora():
    words = ["ab", "cd", "ef", "gh", "ba", "dc"]
    generator = np.random.default_rng(0)
    lines = [" ".join(generator.choice(words, 1 + i % 5)) for i in range(60)]
    return (
        ParallelCorpus.from_pairs(lines[:54], lines[:54]),
        ParallelCorpus.from_pairs(lines[54:], lines[54:]),
    )


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


def nothing(_):
    pass


ACTIONS = {"stop": stop, "wait": wait, "nothing": nothing}


def main(workdir, options):
    strategy = None
    if options.get("replicas"):
        cpu = tf.config.list_physical_devices("CPU")[0]
        two = [tf.config.LogicalDeviceConfiguration()] * options["replicas"]
        tf.config.set_logical_device_configuration(cpu, two)
    callbacks = []
    if "action" in options:
        callbacks.append(At(options["updates"], ACTIONS[options["action"]]))
    try:
        result = train(
            pathlib.Path(workdir),
            preset="tiny",
            transformer=TRANSFORMER,
            training={**TRAINING, **options.get("training", {})},
            decoding={"max_extra_length": 2},
            corpora=copy_corpora(),
            callbacks=callbacks,
            strategy=strategy,
        )
    except LostWorkerError as error:
        print(f"lost: {error}", file=sys.stderr)
        return error.exit_code
    except ValueError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2
    told = {"reason": result.reason, "step": result.step, **result.validation}
    print("result " + json.dumps(told), flush=True)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2])))
