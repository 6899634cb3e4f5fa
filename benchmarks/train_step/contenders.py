"""The contenders, one a process: `python -m benchmarks.train_step.contenders fit tiny`.

Each line on standard input is a number of updates; the answer is a line of JSON with
the seconds they took, the last loss, and the peak of the process's memory.
"""

import json
import os
import resource
import sys
import time

from benchmarks.train_step.work import DROPOUT, LEARNING_RATE, SMOOTHING, WORK

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def _tensorflow_data(work):
    import tensorflow as tf

    source, target, label = map(tf.constant, work.batch())
    return {"source_ids": source, "target_ids": target}, label


def _fitted(model, data):
    """Returns a function that fits a number of updates and returns the loss."""
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensors(data).repeat()

    def train(steps):
        history = model.fit(
            dataset.take(steps), epochs=1, verbose=0, shuffle=False
        ).history
        return history["loss"][-1]

    return train


def _own_model(work):
    import keras_attention as ka

    config = ka.TransformerConfig(
        vocabulary_size=work.vocabulary_size,
        num_layers=work.num_layers,
        model_dim=work.model_dim,
        num_heads=work.num_heads,
        feed_forward_dim=work.feed_forward_dim,
        dropout_rate=DROPOUT,
    )
    model = ka.build_transformer(config)
    model.compile(
        optimizer=ka.objectives.Adam(LEARNING_RATE, 0.9, 0.98, 1e-9),
        loss=ka.LabelSmoothedCrossEntropy(SMOOTHING),
    )
    return model


def fit(work):
    """This package through `model.fit`."""
    return _fitted(_own_model(work), _tensorflow_data(work))


def loop(work):
    """This package through the updates of its own loop."""
    import tensorflow as tf

    from keras_attention.training.steps import Steps

    model = _own_model(work)
    model.optimizer.build(model.trainable_variables)
    steps = Steps(model, tf.distribute.get_strategy())
    data = _tensorflow_data(work)

    def train(count):
        for _ in range(count):
            steps.train(*data)
        return float(model.metrics[0].result())

    return train


def keras_hub(work):
    """A Functional model of KerasHub's layers through `model.fit`."""
    import keras
    from keras_hub.layers import (
        ReversibleEmbedding,
        SinePositionEncoding,
        TransformerDecoder,
        TransformerEncoder,
    )

    embedding = ReversibleEmbedding(
        work.vocabulary_size, work.model_dim, tie_weights=True
    )
    source_ids = keras.Input((None,), dtype="int32", name="source_ids")
    target_ids = keras.Input((None,), dtype="int32", name="target_ids")

    def embed(ids):
        x = embedding(ids) * work.model_dim**0.5
        return keras.layers.Dropout(DROPOUT)(x + SinePositionEncoding()(x))

    sizes = {
        "intermediate_dim": work.feed_forward_dim,
        "num_heads": work.num_heads,
        "dropout": DROPOUT,
    }
    memory, x = embed(source_ids), embed(target_ids)
    for _ in range(work.num_layers):
        memory = TransformerEncoder(**sizes)(memory)
    for _ in range(work.num_layers):
        x = TransformerDecoder(**sizes)(x, memory)
    model = keras.Model([source_ids, target_ids], embedding(x, reverse=True))

    def loss(labels, logits):
        # Keras's sparse cross entropy knows no smoothing.
        target = keras.ops.one_hot(labels, work.vocabulary_size)
        return keras.losses.categorical_crossentropy(
            target, logits, from_logits=True, label_smoothing=SMOOTHING
        )

    model.compile(
        keras.optimizers.Adam(LEARNING_RATE, 0.9, 0.98, 1e-9),
        loss=loss,
        jit_compile=False,
    )
    inputs, label = _tensorflow_data(work)
    return _fitted(model, ((inputs["source_ids"], inputs["target_ids"]), label))


def torch(work):
    """`torch.nn.Transformer`, eager, on all cores."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(work.vocabulary_size, work.model_dim)
            nn.init.normal_(self.embedding.weight, std=work.model_dim**-0.5)
            self.dropout = nn.Dropout(DROPOUT)
            self.transformer = nn.Transformer(
                work.model_dim,
                work.num_heads,
                work.num_layers,
                work.num_layers,
                work.feed_forward_dim,
                DROPOUT,
                batch_first=True,
            )
            rates = torch.arange(0, work.model_dim, 2) / work.model_dim
            angles = torch.arange(work.length)[:, None] / 10_000**rates
            table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
            self.register_buffer("positions", table)

        def embed(self, ids):
            x = self.embedding(ids) * work.model_dim**0.5
            return self.dropout(x + self.positions)

        def forward(self, source, target, mask):
            sides = self.embed(source), self.embed(target)
            x = self.transformer(*sides, tgt_mask=mask, tgt_is_causal=True)
            return x @ self.embedding.weight.T

    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.Adam(
        model.parameters(), LEARNING_RATE, betas=(0.9, 0.98), eps=1e-9
    )
    loss_function = nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    source, target, label = (torch.from_numpy(x).long() for x in work.batch())
    mask = nn.Transformer.generate_square_subsequent_mask(work.length)

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            logits = model(source, target, mask)
            loss = loss_function(logits.flatten(0, 1), label.flatten())
            loss.backward()
            optimizer.step()
        return float(loss.detach())

    return train


def matrix_product(_):
    """The machine's own rate: float32 products of 2048 x 2048 by TensorFlow."""
    import tensorflow as tf

    factor = tf.random.normal((2048, 2048), seed=1)

    def multiply(count):
        for _ in range(count):
            result = tf.matmul(factor, factor)
        return float(result[0, 0])

    return multiply


CONTENDERS = {
    "fit": fit,
    "loop": loop,
    "keras_hub": keras_hub,
    "torch": torch,
    "matrix_product": matrix_product,
}


def serve(name, shape):
    """Answers every line of standard input until it ends."""
    train = CONTENDERS[name](WORK[shape])
    for line in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        loss = train(int(line))
        answer = {
            "seconds": time.perf_counter() - start,
            "processor_seconds": time.process_time() - processor,
            "loss": loss,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:3])
