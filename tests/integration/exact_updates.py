"""Program of `test_exact_updates.py`: two logical CPUs need a process of their own.

python -m tests.integration.exact_updates part|whole RESULTS.pickle

Trains one small model with one and two replicas, in micro-batches, through `fit` and
through the loop's `Steps`, and writes what came out. Importing it changes nothing.
"""

import pickle
import sys

import keras
import numpy as np
import tensorflow as tf
from keras.optimizers import SGD

import keras_attention as ka
from keras_attention.data.encoded import EncodedCorpus
from keras_attention.training.steps import Steps
from tests.unit.models.tiny import Line, Output

ROWS, UPDATES, V, DIM = 8, 5, 11, 8
# Rows of the last of five batches: all, 5 (one on the second replica), 2 (none there).
PAIRS = {"full": 40, "ragged": 37, "empty replica": 34}
WHOLE = [
    (replicas, parts, door, rule)
    for replicas in (1, 2)
    for parts in (1, 2, 4)
    for door, rule in (("fit", "sgd"), ("steps", "adam"))
] + [(2, 4, "steps", "sgd")]  # the same step by the other door: once is enough
CLIPPING = ("clipnorm", "global_clipnorm", "clipvalue")  # of Keras's optimizers
PART = [(1, 1, "fit", "sgd"), (2, 2, "fit", "sgd"), (1, 1, "steps", "halved")]


class HalvedSGD(SGD):
    """A fault: it applies half of the gradient."""

    def apply(self, grads, trainable_variables=None):
        super().apply([gradient / 2 for gradient in grads], trainable_variables)


class Spiked(ka.LabelSmoothedCrossEntropy):
    """A finite loss whose float16 gradient overflows where the label is V - 1."""

    def call(self, y_true, y_pred):
        return super().call(y_true, y_pred) * tf.where(y_true == V - 1, 1e30, 1.0)


def optimizer(rule):
    """SGD moves the weights far; the rates of Adam follow the schedule, up to 1e-3."""
    if rule == "adam":
        return keras.optimizers.Adam(ka.NoamSchedule(DIM, 4, scale=5.66e-3))
    if rule in CLIPPING:
        return SGD(1.0, **{rule: 1.0})
    return {"sgd": SGD(0.5), "halved": HalvedSGD(0.5), "plain": SGD(1.0)}[rule]


def make(strategy, rule="sgd", loss=None, policy="float32", **compiled):
    keras.utils.set_random_seed(5)
    sizes = {"num_layers": 1, "model_dim": DIM, "num_heads": 2, "feed_forward_dim": 8}
    config = ka.TransformerConfig(V, dropout_rate=0.0, **sizes)
    with strategy.scope():
        model = ka.build_transformer(config, dtype_policy=policy)
        model.compile(
            optimizer(rule), loss or ka.LabelSmoothedCrossEntropy(0.1), **compiled
        )
        model.optimizer.build(model.trainable_variables)
    return model


def batches_of(pairs):
    """The package's batches of random pairs, always `ROWS` rows."""
    random = np.random.default_rng(1)
    sides = []
    for _ in range(2):
        lengths = random.integers(1, 7, pairs)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("int64")
        sides += [random.integers(4, V, offsets[-1]).astype("uint16"), offsets]
    batches = ka.data.TokenBatches(EncodedCorpus(*sides, {}), batch_tokens=1, seed=2)
    assert batches.steps_per_epoch() == UPDATES
    assert {rows for rows, _ in batches.shapes} == {ROWS}
    return batches


class Watch(keras.callbacks.Callback):
    """Notes the rate of the next update after every batch."""

    def on_train_begin(self, logs=None):
        self.rates = []

    def on_train_batch_end(self, batch, logs=None):
        self.keys = list(logs)
        self.rates.append(float(value(self.model.optimizer.learning_rate)))


def value(variable):
    return variable.numpy() if hasattr(variable, "numpy") else variable


def train(model, strategy, door, batches):
    """Trains an epoch and evaluates it, with figures of both."""
    data = ka.data.make_dataset(batches)
    watch = Watch()
    if door == "fit":
        history = model.fit(data, shuffle=False, verbose=0, callbacks=[watch]).history
        trained = {name: values[0] for name, values in history.items()}
        tested = model.evaluate(data, verbose=0, return_dict=True)
        return {"trained": trained, "evaluated": tested, "rates": watch.rates}
    steps = Steps(model, strategy) if model.steps is None else model.steps
    model.steps, rates = steps, []
    model.reset_metrics()
    for batch in data:
        steps.train(*batch)
        rates.append(float(value(model.optimizer.learning_rate)))
    assert steps.first_bad_step() is None
    trained = metrics_of(model)
    model.reset_metrics()
    for batch in data:
        steps.test(*batch)
    return {"trained": trained, "evaluated": metrics_of(model), "rates": rates}


def metrics_of(model):
    return {metric.name: float(metric.result()) for metric in model.metrics}


def weights_of(model):
    return [variable.numpy() for variable in model.trainable_variables]


def table(combinations, strategies):
    """Every combination on every kind of last batch; a graph is traced once each."""
    results = {}
    for replicas, parts, door, rule in combinations:
        strategy = strategies[replicas - 1]
        model = make(strategy, rule, micro_batches=parts)
        model.steps = None
        weights, slots = weights_of(model), optimizer_values(model)
        for name, pairs in PAIRS.items():
            for variable, array in zip(model.trainable_variables, weights, strict=True):
                variable.assign(array)
            for variable, array in zip(model.optimizer.variables, slots, strict=True):
                variable.assign(array)
            outcome = train(model, strategy, door, batches_of(pairs))
            results[replicas, parts, door, rule, name] = {
                **outcome,
                "start": weights,
                "weights": weights_of(model),
                "updates": int(value(model.optimizer.iterations)),
            }
    return results


def optimizer_values(model):
    return [variable.numpy() for variable in model.optimizer.variables]


def own_arrays(strategy, rows, weights, **compiled):
    """A user's own arrays: uneven last batches, with and without a mask."""
    random = np.random.default_rng(3)
    source, target, label = random.integers(4, V, (3, rows, 5)).astype("int32")
    label[:, 3:] *= random.integers(0, 2, (rows, 2)).astype("int32")
    kinds = {
        "none": None,
        "mask": random.random((rows, 5)) < 0.7,
    }
    model = make(strategy, **compiled)
    inputs = {"source_ids": source, "target_ids": target}
    options = {"batch_size": ROWS, "sample_weight": kinds[weights], "verbose": 0}
    watch = Watch()
    fitted = model.fit(inputs, label, shuffle=False, callbacks=[watch], **options)
    return {
        "trained": {name: values[0] for name, values in fitted.history.items()},
        "evaluated": model.evaluate(inputs, label, return_dict=True, **options),
        "keys": watch.keys,
        "weights": weights_of(model),
        "updates": int(value(model.optimizer.iterations)),
    }


def line(strategy):
    """4 tokens of loss 1 on one replica, 1 token of loss 5 on the other, by hand."""
    with strategy.scope():
        model = Line()
        model.compile(SGD(1.0), Output())
        model.optimizer.build(model.trainable_variables)
    x = np.array([[1, 1, 1, 1], [5, 0, 0, 0]], "float32")
    data = ({"x": x}, np.array([[1, 1, 1, 1], [1, 0, 0, 0]], "int32"))
    model.fit(tf.data.Dataset.from_tensors(data), shuffle=False, verbose=0)
    return float(model.w.numpy()), metrics_of(model)["loss"]


def clipped(strategy, norm):
    """How far one update of SGD with rate 1 goes, and the norm that it tells."""
    model = make(strategy, "plain", gradient_clip_norm=norm)
    start, batch = weights_of(model), next(iter(ka.data.make_dataset(batches_of(34))))
    Steps(model, strategy).train(*batch)
    moves = [a - b for a, b in zip(start, weights_of(model), strict=True)]
    return moves, float(model.gradient_norm.numpy())


def overflow(strategy, row):
    """A float16 run: a batch, one that overflows in one row, one of PAD, the first.

    Told after each of them.
    """
    model = make(strategy, "adam", loss=Spiked(0.1), policy="mixed_float16")
    steps, seen = Steps(model, strategy), []
    inputs, labels = next(iter(ka.data.make_dataset(batches_of(40))))
    labels = tf.where(labels == V - 1, V - 2, labels)
    spiked = labels.numpy()
    spiked[row, 0] = V - 1
    for batch in (labels, tf.constant(spiked), tf.zeros_like(labels), labels):
        steps.train(inputs, batch)
        inner = model.optimizer.inner_optimizer
        seen.append(
            {
                "updates": int(value(model.optimizer.iterations)),
                "rate": float(value(model.optimizer.learning_rate)),
                "scale": float(model.optimizer.dynamic_scale.numpy()),
                "state": weights_of(model) + [v.numpy() for v in inner.variables],
            }
        )
    return seen, steps.first_bad_step()


def refused(act):
    try:
        act()
    except ValueError as error:
        return str(error)
    return None


def refusals(two):
    """What is told where an update could not be exact, or could not be."""
    return {
        "jit": refused(lambda: make(two, jit_compile=True)),
        "many": refused(lambda: make(two, steps_per_execution=2)),
        **{name: refused(lambda n=name: make(two, n)) for name in CLIPPING},
    }


def many_workers():
    """What Keras's `fit` and `evaluate` say under a strategy of many workers."""
    model = make(tf.distribute.MultiWorkerMirroredStrategy())
    data = tf.data.Dataset.from_tensors(0)
    methods = {"fit": model.fit, "evaluate": model.evaluate}
    return {name: refused(lambda m=m: m(data)) for name, m in methods.items()}


def main(size, path):
    device = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(device, logical)
    results = {}
    if size == "part":  # before any operation, or TensorFlow makes no such strategy
        results["refused"] = many_workers()
    one = tf.distribute.get_strategy()
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    results["table"] = table(PART if size == "part" else WHOLE, (one, two))
    if size == "part":
        results["refused"].update(refusals(two))
        results["line"] = [line(strategy) for strategy in (one, two)]
    else:
        results["clipped"], results["free"] = clipped(two, 0.1), clipped(one, None)
        results["overflow"] = [overflow(strategy, 7) for strategy in (one, two)]
        results["own"] = {
            (rows, kind): [own_arrays(strategy, rows, kind) for strategy in (one, two)]
            for rows, kind in ((21, "none"), (17, "mask"))
        }
    with open(path, "wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
