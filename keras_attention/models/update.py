"""The exact update: the only place where gradients become new weights.

One update is the gradient of (sum of token losses) / (real target tokens of the
global batch), for any number of replicas and micro-batches. `Model.fit` and the
package's own loop both call `train_step`, in replica context.
"""

import tensorflow as tf
from keras import ops

from keras_attention.models.chunks import chunked_losses
from keras_attention.objectives.losses import token_weights


def train_step(model, data):
    """Computes one update of a compiled `Transformer`.

    Args:
        model: `Transformer`.
        data: tuple of the inputs, {"source_ids": (B, S), "target_ids": (B, T)}, the
            labels (B, T) and optionally weights (B, T); this replica's rows.

    Returns:
        Dictionary of the metrics so far: loss, nll, perplexity, token_accuracy.

    Raises:
        ValueError: the model is not compiled, or the loss is not per token.
    """
    inputs, labels, weights = _unpack(model, data)
    context = tf.distribute.get_replica_context()
    replicas = context.num_replicas_in_sync
    tokens = tf.reduce_sum(weights)
    if replicas > 1:
        tokens = context.all_reduce(tf.distribute.ReduceOp.SUM, tokens)
    variables = model.trainable_variables
    gradients = _sum_of_gradients(model, inputs, labels, weights, tokens)
    if replicas > 1:
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
    gradients = _measure_and_clip_norm(model, gradients)
    if replicas > 1:
        # Keras's optimizer sums the gradients of the replicas once more.
        gradients = [gradient / replicas for gradient in gradients]
        # Whether to apply is decided once, for all replicas: Keras's optimizer merges
        # them itself, which TensorFlow refuses inside a condition of one replica.
        context.merge_call(_apply_on_all, args=(model, tokens, gradients, variables))
    else:
        _apply_if(tokens > 0, lambda: model.optimizer.apply(gradients, variables))
    return _results(model)


def test_step(model, data):
    """Measures one batch without dropout; arguments and result as `train_step`."""
    inputs, labels, weights = _unpack(model, data)
    states = model._parts.states(**inputs, training=False)
    sums, _, _ = chunked_losses(model, states, labels, weights)
    _measure(model, sums, weights)
    return _results(model)


def check_workers(model, method):
    """Refuses `fit` and `evaluate` of Keras under many workers.

    Args:
        model: `Transformer`.
        method: name of the method that was called.

    Raises:
        ValueError: the model was built under a `MultiWorkerMirroredStrategy`.
    """
    strategy = model.distribute_strategy
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise ValueError(
            f"`{method}` of Keras does not work with many workers: it reduces what a "
            "step returns over an axis that scalars lack, and cannot resume. Expected "
            "a model built under one process's strategy. Received: "
            "MultiWorkerMirroredStrategy. Run `python -m trainers.train_translation`, "
            "or `keras_attention.training.run.train`, in every worker with TF_CONFIG."
        )


def _unpack(model, data):
    if model._token_loss is None:
        raise ValueError(
            "The model has no loss. Call `model.compile(optimizer=..., "
            "loss=keras_attention.LabelSmoothedCrossEntropy())` first."
        )
    if len(data) not in (2, 3):
        raise ValueError(
            "Data must yield (inputs, label_ids) or (inputs, label_ids, weights). "
            f"Received: a tuple of {len(data)}."
        )
    inputs, labels = data[0], tf.convert_to_tensor(data[1])
    if model.losses:
        raise ValueError(
            "An update is the gradient of the token losses alone. Expected a model "
            f"without losses of its layers. Received: {len(model.losses)} of them "
            "(regularizers, `add_loss`). Remove them; the optimizer's `weight_decay` "
            "is exact."
        )
    targets = inputs.get("target_ids", labels)
    labels = _check_shape("label_ids", labels, targets)
    weights = data[2] if len(data) == 3 else None
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank == 2 and weights.shape[1] != 1:
            weights = _check_shape("weights", weights, targets)
    return inputs, labels, token_weights(labels, weights)


def _check_shape(name, tensor, targets):
    """Returns the tensor (B, T), refusing another shape than that of the targets."""
    expected, received = targets.shape, tensor.shape
    if not received.is_compatible_with(expected):
        raise ValueError(
            f"`{name}` must have the shape (B, T) of `target_ids`. Expected: "
            f"{tuple(expected)}. Received: {tuple(received)}. Each label is the piece "
            "after the one at its place in `target_ids`."
        )
    # What a graph knows only when it runs.
    same = tf.debugging.assert_equal(
        tf.shape(tensor),
        tf.shape(targets),
        f"`{name}` must have the shape (B, T) of `target_ids`.",
    )
    with tf.control_dependencies([] if same is None else [same]):
        return tf.ensure_shape(tensor, [None, None])


def _micro_batch_gradients(model, inputs, labels, weights, tokens):
    """Returns this part's share of the gradient of the global mean loss."""
    # Divided before the backward pass: a sum over thousands of tokens would not fit
    # float16.
    scale = model.optimizer.scale_loss(tf.math.divide_no_nan(1.0, tokens))
    with tf.GradientTape() as tape:
        states = model._parts.states(**inputs, training=True)
    sums, state_gradient, output_gradients = chunked_losses(
        model, states, labels, weights, scale
    )
    _measure(model, sums, weights)
    variables = model.trainable_variables
    gradients = tape.gradient(states, variables, output_gradients=state_gradient)
    found = {id(v): g for v, g in zip(variables, gradients, strict=True)}
    for variable, gradient in output_gradients:
        found[id(variable)] = _add(gradient, found[id(variable)])
    return [tf.convert_to_tensor(found[id(v)]) for v in variables]


def _add(total, gradient):
    if gradient is None:
        return total
    if isinstance(gradient, tf.IndexedSlices):
        # That of a look-up names a few rows of a large matrix; made dense it would
        # cost as much as the whole matrix.
        index = gradient.indices[:, None]
        return tf.tensor_scatter_nd_add(total, index, gradient.values)
    return total + gradient


def _sum_of_gradients(model, inputs, labels, weights, tokens):
    """Sums the gradients of the micro-batches, one after the other."""
    parts = model._micro_batches
    if parts == 1:
        return _micro_batch_gradients(model, inputs, labels, weights, tokens)
    batch = tf.nest.map_structure(
        lambda tensor: _fold(tensor, parts), (inputs, labels, weights)
    )
    sums = [tf.zeros(v.shape, v.dtype) for v in model.trainable_variables]

    def body(part, sums):
        rows = tf.nest.map_structure(lambda tensor: tf.gather(tensor, part), batch)
        gradients = _micro_batch_gradients(model, *rows, tokens)
        return part + 1, [
            total + new for total, new in zip(sums, gradients, strict=True)
        ]

    # One part at a time: unrolled, they would hold their activations together.
    _, sums = tf.while_loop(
        lambda part, _: part < parts, body, (0, sums), parallel_iterations=1
    )
    return sums


def _fold(tensor, parts):
    """Folds (B, ...) into (parts, B / parts, ...), B filled up with rows of PAD.

    Such rows change nothing, so any number of rows will do. (A check would not: XLA
    drops assertions.)
    """
    rows, *others = ops.shape(tensor)
    missing = -rows % parts
    tensor = tf.pad(tensor, [[0, missing], *([0, 0] for _ in others)])
    return tf.reshape(tensor, [parts, (rows + missing) // parts, *others])


def _measure_and_clip_norm(model, gradients):
    # With loss scaling the gradients are still scaled here; so is the threshold.
    scale = model.optimizer.scale_loss(tf.constant(1.0))
    norm = tf.linalg.global_norm(gradients)
    model.gradient_norm.assign(norm / scale)
    limit = model._gradient_clip_norm
    if limit is None:
        return gradients
    return tf.clip_by_global_norm(gradients, limit * scale, use_norm=norm)[0]


def _apply_on_all(strategy, model, tokens, gradients, variables):
    tokens = strategy.experimental_local_results(tokens)[0]
    _apply_if(
        tokens > 0,
        lambda: strategy.extended.call_for_each_replica(
            model.optimizer.apply, args=(gradients, variables)
        ),
    )


def _apply_if(condition, apply):
    """Applies the gradients; a step without a real token changes nothing."""

    def then():
        apply()
        return True

    tf.cond(condition, then, lambda: False)


def _measure(model, sums, weights):
    loss, nll, right = sums
    tokens = tf.reduce_sum(weights)
    metrics = model._token_metrics
    metrics.loss.update_state(loss, tokens)
    metrics.nll.update_state(nll, tokens)
    metrics.perplexity.update_state(nll, tokens)
    metrics.token_accuracy.update_state(right, tokens)


def _results(model):
    return {metric.name: metric.result() for metric in model.metrics}
