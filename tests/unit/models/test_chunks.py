"""Losses and gradients in chunks are those of all tokens at once."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models import chunks
from keras_attention.objectives import LabelSmoothedCrossEntropy
from tests.unit.models.tiny import (
    DATA,
    LABELS,
    SOURCE,
    TARGET,
    assert_same_weights,
    make,
    step,
    tensors,
    weights_of,
)

LAST = [
    {},
    {"norm_position": "pre"},
    {"share_embeddings": False},
    {"output_bias": True},
]


@pytest.fixture
def tokens_a_chunk(monkeypatch):
    def limit(tokens):
        monkeypatch.setattr(chunks, "LOGITS_A_CHUNK", 8 * tokens)  # 8 pieces

    return limit


def plain_gradients(model):
    """Gradients of the mean loss through the whole model, by the tape alone."""
    inputs, labels = tensors(DATA)
    real = tf.cast(labels != 0, tf.float32)
    with tf.GradientTape() as tape:
        losses = model._token_loss.call(labels, model(inputs, training=True))
        mean = tf.reduce_sum(losses * real) / tf.reduce_sum(real)
    gradients = tape.gradient(mean, model.trainable_variables)
    return float(mean), [tf.convert_to_tensor(g) for g in gradients]


@pytest.mark.parametrize("tokens", [1, 5, 6, 100])
@pytest.mark.parametrize("options", LAST, ids=str)
def test_an_update_is_that_of_the_whole_graph(tokens_a_chunk, tokens, options):
    tokens_a_chunk(tokens)
    model = make(**options)  # SGD of rate 1
    before = weights_of(model)
    mean, gradients = plain_gradients(model)
    assert step(model)["loss"] == pytest.approx(mean, abs=1e-6)
    for old, gradient, new in zip(before, gradients, weights_of(model), strict=True):
        np.testing.assert_allclose(old - gradient, new, atol=2e-6)


@pytest.mark.parametrize("tokens", [1, 5])
def test_metrics_do_not_depend_on_the_chunks(tokens_a_chunk, tokens):
    whole, parted = make(), make()
    expected = {k: float(v) for k, v in whole.test_step(tensors(DATA)).items()}
    tokens_a_chunk(tokens)
    found = {k: float(v) for k, v in parted.test_step(tensors(DATA)).items()}
    assert found == pytest.approx(expected, abs=1e-6)


def batch(rows):
    inputs = {"source_ids": SOURCE[:rows], "target_ids": TARGET[:rows]}
    return tensors((inputs, LABELS[:rows]))


def test_chunks_in_a_graph_for_any_shape(tokens_a_chunk):
    tokens_a_chunk(5)
    eager, graph = make(), make()
    update = tf.function(graph.train_step, autograph=False)
    for rows in (4, 3, 1):
        eager.train_step(batch(rows))
        update(batch(rows))
    assert_same_weights(eager, graph, atol=1e-5)


@pytest.mark.slow
def test_fit_with_xla_makes_the_same_updates(tokens_a_chunk):
    tokens_a_chunk(5)
    eager, compiled = make(), make(compile={"jit_compile": True})
    parts = [tf.data.Dataset.from_tensors(batch(rows)) for rows in (4, 1)]
    compiled.fit(parts[0].concatenate(parts[1]), verbose=0, shuffle=False)
    for rows in (4, 1):
        eager.train_step(batch(rows))
    assert_same_weights(eager, compiled, atol=1e-5)


class OfSentences(keras.losses.Loss):
    """Weighs tokens by their place and by the length of their sentence."""

    def call(self, labels, logits):
        losses = LabelSmoothedCrossEntropy(0.1).call(labels, logits)
        places = 1 + tf.range(tf.shape(labels)[1])[None]
        lengths = tf.reduce_sum(tf.cast(labels != 0, tf.float32), 1, keepdims=True)
        return losses * tf.cast(places, tf.float32) / tf.maximum(lengths, 1.0)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_a_loss_sees_whole_sentences(tokens_a_chunk, micro_batches):
    tokens_a_chunk(5)
    model = make()
    model.compile(keras.optimizers.SGD(1.0), OfSentences(), micro_batches=micro_batches)
    before = weights_of(model)
    mean, gradients = plain_gradients(model)
    assert step(model)["loss"] == pytest.approx(mean, abs=1e-6)
    for old, gradient, new in zip(before, gradients, weights_of(model), strict=True):
        np.testing.assert_allclose(old - gradient, new, atol=2e-6)


def test_a_frozen_output_gets_no_gradient(tokens_a_chunk):
    tokens_a_chunk(5)
    model = make()
    model._parts.output_embedding.trainable = False
    frozen = model._parts.output_embedding.embeddings.numpy()
    before = weights_of(model)
    step(model)
    pairs = zip(before, weights_of(model), strict=True)
    np.testing.assert_array_equal(model._parts.output_embedding.embeddings, frozen)
    assert any(np.abs(a - b).max() > 0 for a, b in pairs)


def test_no_tensor_holds_all_logits(tokens_a_chunk):
    tokens_a_chunk(5)
    model = make()
    graph = tf.function(model.train_step, autograph=False).get_concrete_function(
        tensors(DATA)
    )
    bodies = [f.graph for f in graph.graph._functions.values()]
    shapes = {
        tuple(output.shape)
        for body in bodies
        for operation in body.get_operations()
        if "token_embedding" in operation.name
        for output in operation.outputs
    }
    # 4 sentences of 3 tokens, 5 tokens a chunk: one sentence a chunk.
    assert (3, 8) in shapes and not {(12, 8), (4, 3, 8)} & shapes
