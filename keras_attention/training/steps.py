"""Updates and evaluations of a model as graphs, for any number of replicas."""

import keras
import tensorflow as tf


class Steps:
    """The updates and evaluations of a model under a strategy, as graphs.

    Each is traced once for all shapes. Every replica is handed the whole batch and
    takes its own rows, so a batch is the same for any number of replicas.

    Args:
        model: a compiled `Transformer`, built in the scope of `strategy`.
        strategy: a `tf.distribute.Strategy`.
        jit_compile: compile the update with XLA, once for every shape of a batch.
        shapes: the (rows, length) that batches will have, to tell how many compilations
            there will be.
        say: called with a line of text before each of them; it takes a while.
        weighted: whether batches to learn from come with the weights of their rows.

    Call `train(inputs, label_ids)`, with weights third if `weighted`, for an update and
    `test(inputs, label_ids)` to evaluate a batch; both only add to `model.metrics`.
    `first_bad_step()` is the number of the first update whose loss was not finite, or
    None.
    """

    def __init__(
        self, model, strategy, jit_compile=False, shapes=(), say=None, weighted=False
    ):
        self._strategy = strategy
        self._jit_compile = jit_compile
        self._shapes = set(shapes)
        self._compiled = set()
        self._say = say or (lambda line: None)
        self._first_bad = tf.Variable(-1, dtype=tf.int64, trainable=False)
        self._step = tf.Variable(0, dtype=tf.int64, trainable=False)
        ids = tf.TensorSpec((None, None), tf.int32)
        batch = [{"source_ids": ids, "target_ids": ids}, ids]
        weights = [tf.TensorSpec((None,), tf.float32)] * weighted
        train = self._replicated(model.train_step)

        def update(*batch):
            bad = train(*batch)
            step = self._step.assign_add(1)
            first = (self._first_bad < 0) & bad
            self._first_bad.assign(tf.where(first, step, self._first_bad))

        def evaluate(inputs, label_ids):
            self._replicated(model.test_step)(inputs, label_ids)

        self._update = tf.function(
            update,
            input_signature=[*batch, *weights],
            jit_compile=jit_compile or None,
            autograph=False,
        )
        self.test = tf.function(evaluate, input_signature=batch, autograph=False)

    def _replicated(self, step):
        # step -> function of a global batch that says whether the loss went bad.
        count = self._strategy.num_replicas_in_sync

        def replica(*batch):
            if count > 1:
                index = tf.distribute.get_replica_context().replica_id_in_sync_group
                batch = keras.tree.map_structure(lambda x: _rows(x, index), batch)
            loss = step(batch)["loss"]
            return tf.cast(~tf.math.is_finite(loss), tf.float32)

        def _rows(x, index):
            rows = tf.shape(x)[0] // count
            return x[index * rows : (index + 1) * rows]

        def run(*batch):
            bad = self._strategy.run(replica, args=batch)
            return self._strategy.reduce("SUM", bad, axis=None) > 0

        return run

    def train(self, inputs, label_ids, *weights):
        """Computes an update."""
        if self._jit_compile:
            self._count_compilation(tuple(label_ids.shape))
        self._update(inputs, label_ids, *weights)

    @property
    def compilations(self):
        """Number of shapes that the update was compiled for by XLA."""
        return len(self._compiled)

    def _count_compilation(self, shape):
        # XLA compiles for shapes alone, and keeps what it compiled.
        if shape in self._compiled:
            return
        self._compiled.add(shape)
        most = len(self._shapes | self._compiled)
        rows, length = shape
        self._say(
            f"compiling the update for {rows}x{length} ({self.compilations} of {most})"
        )

    def start_at(self, step):
        """Says which update comes next: number `step` + 1."""
        self._step.assign(step)
        self._first_bad.assign(-1)

    def first_bad_step(self):
        """Returns the number of the first update with a loss that is not finite."""
        first = int(self._first_bad.numpy())
        return None if first < 0 else first
