"""A small model with dropout, checkpoints of it, and ways to damage them."""

import pathlib

import keras
import tensorflow as tf


def make_model():
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dropout(0.5)]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
    model.optimizer.build(model.trainable_variables)
    return model


def update(model):
    x = tf.ones((2, 3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=True) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply(gradients, model.trainable_variables)


def values(model):
    return [
        v.numpy() for v in model.non_trainable_variables + model.optimizer.variables
    ]


def write(directory, step, weights):
    """A checkpoint as TensorFlow lays it out, with things that must not be averaged."""
    path = pathlib.Path(directory) / f"step-{step}"
    path.mkdir(parents=True)
    tf.train.Checkpoint(
        weights=[tf.Variable(value) for value in weights],
        optimizer=[tf.Variable(step, dtype=tf.int64), tf.Variable([100.0 * step])],
    ).write(str(path / "checkpoint"))
    return path


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 4
    path.write_bytes(bytes(content))


def damage(path, kind):
    data, index = path / "checkpoint.data-00000-of-00001", path / "checkpoint.index"
    if kind == "cut":
        data.write_bytes(data.read_bytes()[:100])
    elif kind == "missing data":
        data.unlink()
    elif kind == "zero bytes":
        data.write_bytes(b"")
    elif kind == "empty directory":
        data.unlink()
        index.unlink()
    elif kind == "garbage":
        data.write_bytes(bytes(i % 251 for i in range(data.stat().st_size)))
    elif kind == "changed state":
        content = data.read_bytes()
        data.write_bytes(content.replace(b'"best_nll"', b'"best_mll"'))
        assert data.read_bytes() != content
    elif kind == "missing index":
        index.unlink()
    elif kind == "empty index":
        index.write_bytes(b"")
    else:
        flip(data, 150)


KINDS = [
    "cut",
    "zero bytes",
    "missing data",
    "missing index",
    "empty index",
    "empty directory",
    "garbage",
    "changed state",
    "flipped bit",
]
