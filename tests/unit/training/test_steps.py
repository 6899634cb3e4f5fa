import os
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.config import TransformerConfig
from keras_attention.models.build import build_transformer
from keras_attention.objectives.losses import LabelSmoothedCrossEntropy
from keras_attention.training.steps import Steps


class Model:
    """Its loss is the number of its calls, and 1 / 0 at the call `bad`."""

    def __init__(self, bad=()):
        self.calls, self.traces, self.bad = tf.Variable(0.0), [], list(bad)

    def train_step(self, data):
        inputs, label_ids = data
        self.traces.append(label_ids.shape)
        calls = self.calls.assign_add(1.0)
        bad = tf.reduce_any([tf.equal(calls, float(b)) for b in self.bad or [-1]])
        return {"loss": tf.where(bad, np.inf, tf.cast(label_ids[0, 0], tf.float32))}

    test_step = train_step


def batch(rows, length):
    ids = tf.ones((rows, length), tf.int32)
    return {"source_ids": ids, "target_ids": ids}, ids


def test_one_trace_serves_all_shapes():
    model = Model()
    steps = Steps(model, tf.distribute.get_strategy())
    for shape in ((2, 3), (4, 5), (8, 2)):
        steps.train(*batch(*shape))
    assert [shape.as_list() for shape in model.traces] == [[None, None]]
    assert model.calls.numpy() == 3 and steps.first_bad_step() is None


def test_the_first_loss_that_is_not_finite_is_remembered():
    steps = Steps(Model(bad=[2, 4]), tf.distribute.get_strategy())
    steps.start_at(10)
    for _ in range(5):
        steps.train(*batch(2, 3))
    assert steps.first_bad_step() == 12
    steps.start_at(0)
    assert steps.first_bad_step() is None


def test_compilations_are_counted_and_told():
    told, shapes = [], [(2, 3), (4, 5)]
    steps = Steps(Model(), tf.distribute.get_strategy(), True, shapes, told.append)
    for shape in (*shapes, (2, 3), (4, 5), (8, 2)):
        steps.train(*batch(*shape))
    assert steps.compilations == 3
    assert told == [
        "compiling the update for 2x3 (1 of 2)",
        "compiling the update for 4x5 (2 of 2)",
        "compiling the update for 8x2 (3 of 3)",
    ]
    plain = Steps(Model(), tf.distribute.get_strategy(), say=told.append)
    plain.train(*batch(2, 3))
    assert plain.compilations == 0 and len(told) == 3


COMPILED = """
import numpy as np, tensorflow as tf
from keras_attention.training.steps import Steps
from tests.unit.models.tiny import DATA, make
steps, models = [], []
for jit_compile in (True, False):
    models.append(make(compile={"micro_batches": 2}))
    models[-1].optimizer.build(models[-1].trainable_variables)
    steps.append(Steps(models[-1], tf.distribute.get_strategy(), jit_compile))
longer = tf.nest.map_structure(lambda x: np.pad(x, ((0, 0), (0, 2))), DATA)
batches = [tf.nest.map_structure(tf.constant, data) for data in (DATA, longer)] * 2
for data in batches:
    for step in steps:
        step.train(*data)
for one, other in zip(*(model.get_weights() for model in models)):
    np.testing.assert_allclose(one, other, atol=1e-5)
print("counted", steps[0].compilations)
"""


@pytest.mark.slow
def test_xla_compiles_as_often_as_is_counted_and_computes_the_same(repository):
    process = subprocess.run(
        [sys.executable, "-c", COMPILED],
        cwd=repository,
        env={
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "0",
            "TF_CPP_VMODULE": "device_compilation_profiler=1",
        },
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-2_000:]
    assert process.stdout.split() == ["counted", "2"]
    compiled = re.findall(r"Compiled \S+ \d+ times", process.stderr)
    assert len(compiled) == 2, process.stderr[-2_000:]


TWO_REPLICAS = """
import sys
import numpy as np, tensorflow as tf
cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(
    cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
from keras_attention.training.steps import Steps
from keras_attention.training.strategy import make_strategy
from keras_attention.training.prepare import choose_config, compiled_model
from keras_attention.training.checkpoints import Checkpoints, RunState
from keras_attention.training.validation import kept_metrics, metric_values
mirrored = make_strategy()
assert mirrored.num_replicas_in_sync == 2, mirrored
small = {"num_layers": 1, "model_dim": 8, "num_heads": 2, "feed_forward_dim": 8,
    "dropout_rate": 0.0}
config = choose_config(None, "tiny", {"transformer": small, "training": {
    "optimizer_epsilon": 0.1}, "decoding": {}}, 20)
ids = tf.constant(np.random.default_rng(0).integers(4, 20, (4, 6)).astype("int32"))
# Checkpoints and the metrics kept over a validation work on mirrored variables.
model = compiled_model(config, mirrored)
steps, state = Steps(model, mirrored), RunState(step=1)
data = ({"source_ids": ids, "target_ids": ids}, ids)
steps.train(*data)
points = Checkpoints(sys.argv[1], model, state)
points.save()
values = metric_values(model)
with kept_metrics(model):
    steps.test(*data)
assert metric_values(model) == values
steps.train(*data)
weights = model.get_weights()
points.restore()
assert metric_values(model) == values
steps.train(*data)
for a, b in zip(weights, model.get_weights()):
    np.testing.assert_array_equal(a, b)
"""


@pytest.mark.slow
def test_two_replicas_are_saved_and_validated(repository, tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", TWO_REPLICAS, str(tmp_path)],
        cwd=repository,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-2_000:]


def weighted_update(rows, weights=None):
    """Weights and metrics of a small model after an update."""
    keras.utils.set_random_seed(1)
    config = TransformerConfig(
        vocabulary_size=9,
        num_layers=1,
        model_dim=8,
        num_heads=2,
        feed_forward_dim=8,
        dropout_rate=0.0,
    )
    model = build_transformer(config)
    model.compile(keras.optimizers.SGD(0.5), loss=LabelSmoothedCrossEntropy(0.1))
    steps = Steps(model, tf.distribute.get_strategy(), weighted=weights is not None)
    ids = tf.constant(rows)
    more = [] if weights is None else [tf.constant(weights)]
    steps.train({"source_ids": ids, "target_ids": ids}, ids, *more)
    return model.get_weights(), [metric.result().numpy() for metric in model.metrics]


def test_a_weight_of_two_is_the_row_twice():
    one, other, nothing = [5, 6, 3], [7, 3, 0], [0, 0, 0]
    twice, figures = weighted_update([one, other, other])
    weighted, others = weighted_update([one, other, nothing], [1.0, 2.0, 0.0])
    assert np.allclose(figures, others, atol=1e-6)
    for left, right in zip(twice, weighted, strict=True):
        assert np.allclose(left, right, atol=1e-6)
