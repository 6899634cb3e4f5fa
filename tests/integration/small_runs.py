"""A run of a second or two, and what two such runs are compared by."""

import json
import os

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.corpora import ParallelCorpus
from keras_attention.training.checkpoint_files import list_checkpoints
from keras_attention.training.progress import read_metrics
from keras_attention.training.run import train

TIMES = (
    "minutes",
    "source_tokens_per_second",
    "target_tokens_per_second",
    "memory_gib",
    "peak_memory_gib",
)
SMALL = {
    "transformer": {
        "vocabulary_size": 28,
        "num_layers": 1,
        "model_dim": 16,
        "num_heads": 2,
        "feed_forward_dim": 16,
        "dropout_rate": 0.3,
    },
    "training": {
        "batch_tokens": 96,
        "max_steps": 14,
        "warmup_steps": 8,
        "log_steps": 3,
        "checkpoint_steps": 4,
        "validation_steps": 4,
        "validation_sentences": 3,
        "average_checkpoints": 2,
    },
    "decoding": {"max_extra_length": 2},
}


def copy_corpora():
    """54 short pairs, so that 14 updates cross the ends of epochs, and 6 others."""
    words = ["ab", "cd", "ef", "gh", "ba", "dc"]
    generator = np.random.default_rng(0)
    lines = [" ".join(generator.choice(words, 1 + i % 5)) for i in range(60)]
    return (
        ParallelCorpus.from_pairs(lines[:54], lines[:54]),
        ParallelCorpus.from_pairs(lines[54:], lines[54:]),
    )


def small_run(workdir, corpora=None, callbacks=(), **training):
    with open(os.devnull, "w") as silence:
        return train(
            workdir,
            preset="tiny",
            transformer=SMALL["transformer"],
            training={**SMALL["training"], **training},
            decoding=SMALL["decoding"],
            corpora=corpora or copy_corpora(),
            callbacks=callbacks,
            stream=silence,
        )


def values_of(checkpoint):
    reader = tf.train.load_checkpoint(str(checkpoint / "checkpoint"))
    keys = [key for key in reader.get_variable_to_shape_map() if "ATTRIBUTES" in key]
    values = {key: reader.get_tensor(key) for key in keys}
    state = values.pop("state/.ATTRIBUTES/py_state").decode()
    state = {k: v for k, v in json.loads(state).items() if "seconds" not in k}
    return values, state


def history(workdir):
    records = read_metrics(workdir / "metrics.jsonl")
    kept = [r for r in records if r["kind"] != "end"]
    return [{k: v for k, v in record.items() if k not in TIMES} for record in kept]


def assert_same_run(one, other):
    first, second = (list_checkpoints(d / "checkpoints")[-1] for d in (one, other))
    assert first.name == second.name
    (values, state), (others, other_state) = values_of(first), values_of(second)
    assert values.keys() == others.keys()
    for key, value in values.items():
        assert np.array_equal(value, others[key]), key
    for sums in (state["window"], other_state["window"]):
        sums.pop("seconds", None)
    assert state == other_state
    assert history(one) == history(other)


def event_files(directory):
    """The event files in the order in which they were begun.

    A name ends in the second, the host, the process and a number, which passes from 9
    to 10: within a second the order of the names is another.
    """

    def begun(path):
        _, _, _, second, *_, process, number, _ = path.name.split(".")
        return int(second), int(process), int(number)

    return sorted(directory.glob("events.out.tfevents.*"), key=begun)


def event_points(directory):
    """(tag, update) of every value in the event files but those of a process."""
    points = []
    for path in event_files(directory):
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            tags = [value.tag for value in event.summary.value]
            points += [(t, event.step) for t in tags if not t.startswith("_hparams_")]
    return points


def assert_same_model(one, other):
    models = [keras.saving.load_model(d / "model.keras") for d in (one, other)]
    for first, second in zip(*(m.get_weights() for m in models), strict=True):
        assert np.array_equal(first, second)


class Signal(keras.callbacks.Callback):
    """Sends this process a signal after a number of updates."""

    def __init__(self, number, updates):
        super().__init__()
        self.number, self.left = number, updates

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)
