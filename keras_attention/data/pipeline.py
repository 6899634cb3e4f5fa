"""Batches as `tf.data`: for the package's own loop and for `fit`."""

import itertools

import tensorflow as tf

from keras_attention.checks import check_integer

PREFETCHED_BATCHES = 4


def epoch_dataset(batches, epoch, start=0, shuffle=True):
    """Returns the batches of one epoch from batch `start` on.

    Args:
        batches: a `TokenBatches`.
        epoch: from 0.
        start: batches to leave out at the front, at no cost.
        shuffle: False = the fixed order for validation.

    Returns:
        Finite `tf.data.Dataset` of `({"source_ids", "target_ids"}, label_ids)`, all
        int32 (B, T), prefetching, of known cardinality.

    Raises:
        ValueError: `start` is not a batch of the epoch, nor its end.
    """
    plan = batches.plan(epoch, shuffle)
    if not 0 <= start <= len(plan):
        raise ValueError(
            f"`start` must be from 0 to {len(plan)}, the batches of the epoch. "
            f"Received: {start}."
        )
    plan = plan[start:]
    return _dataset(batches.encoded, lambda: iter(plan), len(plan))


def make_dataset(batches, epochs=1, first_epoch=0, shuffle=True):
    """Returns the batches of several epochs for `model.fit`, each in its own order.

    With `epochs=None` it never ends; then pass `steps_per_epoch=
    batches.steps_per_epoch()` to `fit`. Under a `tf.distribute` strategy `fit`
    splits each batch over the replicas, whose number must divide `rows_multiple`.

    Args:
        batches: a `TokenBatches`.
        epochs: number of epochs, None = without end.
        first_epoch: the epoch to begin with.
        shuffle: False = the same fixed order in every epoch.

    Returns:
        `tf.data.Dataset` of `({"source_ids", "target_ids"}, label_ids)`, all int32
        (B, T), prefetching.

    Raises:
        ValueError: `epochs` is not a positive integer.
    """
    check_integer("epochs", epochs, optional=True)
    steps = tf.data.INFINITE_CARDINALITY
    if epochs is not None:
        steps = batches.steps_per_epoch() * epochs

    def plans():
        numbers = itertools.count() if epochs is None else range(epochs)
        for number in numbers:
            yield from batches.plan(first_epoch + number, shuffle)

    return _dataset(batches.encoded, plans, steps)


def _dataset(encoded, plans, cardinality):
    def arrays():
        for rows, shape in plans():
            source, target, label = encoded.padded(rows, shape)
            yield {"source_ids": source, "target_ids": target}, label

    ids = tf.TensorSpec((None, None), tf.int32)
    signature = ({"source_ids": ids, "target_ids": ids}, ids)
    dataset = tf.data.Dataset.from_generator(arrays, output_signature=signature)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(cardinality))
    options = tf.data.Options()
    # There is nothing to tune, and an iterator is not gone before its tuner's thread
    # has slept out, which takes up to a minute at the end of every epoch.
    options.autotune.enabled = False
    return dataset.prefetch(PREFETCHED_BATCHES).with_options(options)
