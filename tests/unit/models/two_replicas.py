"""Program of `test_replicas.py`: two logical CPUs need a process of their own.

Prints a JSON object with what one and two replicas gave.
"""

import json
import sys

import keras
import numpy as np
import tensorflow as tf

import keras_attention as ka
from tests.unit.models.tiny import Line, Output


def make_line():
    model = Line()
    model.compile(optimizer=keras.optimizers.SGD(1.0), loss=Output())
    model.optimizer.build(model.trainable_variables)
    return model


def make_transformer(policy="float32", **compile_options):
    keras.utils.set_random_seed(5)
    config = ka.TransformerConfig(
        11,
        num_layers=1,
        model_dim=8,
        num_heads=2,
        feed_forward_dim=8,
        dropout_rate=0.0,
    )
    model = ka.build_transformer(config, dtype_policy=policy)
    model.compile(
        optimizer=ka.make_optimizer(8, warmup_steps=10, epsilon=1e-4),
        loss=ka.LabelSmoothedCrossEntropy(0.1),
        **compile_options,
    )
    model.optimizer.build(model.trainable_variables)
    return model


def line_data():
    x = np.array([[1, 1, 1, 1], [5, 0, 0, 0]], "float32")
    return [({"x": x}, np.array([[1, 1, 1, 1], [1, 0, 0, 0]], "int32"))]


def random_batches(steps=5, rows=4):
    random = np.random.default_rng(0)
    batches = []
    for _ in range(steps):
        ids = random.integers(4, 11, (3, rows, 6)).astype("int32")
        # Very unequal halves: the second replica has few real tokens.
        ids[:, rows // 2 :, 2:] = 0
        batches.append(({"source_ids": ids[0], "target_ids": ids[1]}, ids[2]))
    # At the end one batch of nothing but padding: it must not count.
    source, target, labels = ids * 0
    batches.append(({"source_ids": source, "target_ids": target}, labels))
    return batches


def train(make, batches, strategy):
    """Returns weights, metrics and updates after the batches."""
    with strategy.scope():
        model = make()
    step = tf.function(lambda data: strategy.run(model.train_step, args=(data,)))
    replicas = strategy.num_replicas_in_sync
    for batch in batches:
        parts = [
            tf.nest.map_structure(
                lambda x, r=r: tf.constant(np.split(x, replicas)[r]), batch
            )
            for r in range(replicas)
        ]
        step(
            tf.nest.map_structure(
                lambda *values: strategy.experimental_distribute_values_from_function(
                    lambda context: values[context.replica_id_in_sync_group]
                ),
                *parts,
            )
        )
    return summary(model)


def fit(make, batches, strategy):
    """The same through `fit`."""
    with strategy.scope():
        model = make()
    data = tf.data.Dataset.from_generator(
        lambda: iter(batches),
        output_signature=tf.nest.map_structure(
            lambda x: tf.TensorSpec(x.shape, x.dtype), batches[0]
        ),
    )
    history = model.fit(data, shuffle=False, verbose=0).history
    result = summary(model)
    result["history"] = {name: values[-1] for name, values in history.items()}
    result["evaluated"] = model.evaluate(data, verbose=0, return_dict=True)
    return result


def summary(model):
    return {
        "weights": [v.numpy().tolist() for v in model.trainable_variables],
        "metrics": {m.name: float(m.result()) for m in model.metrics},
        "updates": int(model.optimizer.iterations.numpy()),
    }


def main():
    devices = tf.config.list_physical_devices("CPU")
    logical = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(devices[0], logical)
    one = tf.distribute.get_strategy()
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    batches = random_batches()
    split = dict(micro_batches=2, gradient_clip_norm=0.5)
    results = {
        "line": [train(make_line, line_data(), s) for s in (one, two)],
        "transformer": [train(make_transformer, batches, s) for s in (one, two)],
        "clipped": [
            train(lambda: make_transformer(**split), batches, two),
            train(lambda: make_transformer(gradient_clip_norm=0.5), batches, one),
        ],
        "fit": [fit(make_transformer, batches, s) for s in (one, two)],
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
