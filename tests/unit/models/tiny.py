"""A model small enough for numerical gradients, and a batch for it."""

import types

import keras
import numpy as np
import tensorflow as tf

import keras_attention as ka
from keras_attention.models.training import TokenExactTraining

SOURCE = np.array([[5, 6, 3, 0], [4, 3, 0, 0], [6, 4, 5, 3], [5, 3, 0, 0]], "int32")
TARGET = np.array([[2, 5, 4], [2, 6, 0], [2, 4, 6], [2, 0, 0]], "int32")
LABELS = np.array([[5, 4, 3], [6, 3, 0], [4, 6, 3], [3, 0, 0]], "int32")
DATA = ({"source_ids": SOURCE, "target_ids": TARGET}, LABELS)


def make(optimizer=None, policy=None, smoothing=0.1, compile=None, **options):
    keras.utils.set_random_seed(5)
    sizes = dict(num_layers=1, model_dim=4, num_heads=2, feed_forward_dim=4)
    config = ka.TransformerConfig(8, **{**sizes, "dropout_rate": 0.0, **options})
    model = ka.build_transformer(config, dtype_policy=policy)
    model.compile(
        optimizer=optimizer or keras.optimizers.SGD(1.0),
        loss=ka.LabelSmoothedCrossEntropy(smoothing),
        **(compile or {}),
    )
    return model


def tensors(data):
    return tf.nest.map_structure(tf.constant, data)


def step(model, data=DATA):
    return {k: float(v) for k, v in model.train_step(tensors(data)).items()}


def weights_of(model):
    return [v.numpy() for v in model.trainable_variables]


def assert_same_weights(first, second, atol=1e-6):
    for a, b in zip(weights_of(first), weights_of(second), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


class Line(TokenExactTraining, keras.Model):
    """y = w x, so that one update can be done by hand."""

    def __init__(self):
        super().__init__()
        self.w = self.add_weight(shape=(), initializer="ones", name="w")
        self._prepare_token_metrics()
        self.transformer_config = types.SimpleNamespace(vocabulary_size=2)
        self._parts = types.SimpleNamespace(
            states=lambda x, training: self.w * x[..., None],
            to_logits=lambda states: states * tf.ones(2),
            output_variables=[],
        )


class Output(keras.losses.Loss):
    """The prediction itself is the loss."""

    def call(self, labels, logits):
        return logits[..., 0]
