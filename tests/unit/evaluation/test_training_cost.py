"""What training costs: the paper's figures, and products counted in the graph."""

import math

import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.evaluation.training_cost import (
    SUSTAINED_FLOPS,
    estimated_flops,
    forward_multiply_adds,
    training_cost,
    update_flops,
)

DAY = 24 * 3600


def test_the_figures_of_the_paper():
    base = estimated_flops(DAY / 2, 8, SUSTAINED_FLOPS["P100"])
    big = estimated_flops(3.5 * DAY, 8, SUSTAINED_FLOPS["P100"])
    assert (f"{base:.1e}", f"{big:.1e}") == ("3.3e+18", "2.3e+19")


@pytest.mark.parametrize("values", [(0, 8, 1.0), (1, 0, 1.0), (1, 8, -1.0)])
def test_an_estimate_of_nothing_is_refused(values):
    name = ("seconds", "devices", "sustained_flops")[
        [v <= 0 for v in values].index(True)
    ]
    with pytest.raises(ValueError, match=f"`{name}` must be positive"):
        estimated_flops(*values)


def products(graph):
    """Multiply-adds of all products of matrices in a graph."""
    total = 0
    for operation in graph.get_operations():
        if operation.type == "Einsum":
            total += _einsum(operation)
        elif operation.type in ("MatMul", "BatchMatMul", "BatchMatMulV2"):
            left = operation.inputs[0].shape
            name = "transpose_a" if operation.type == "MatMul" else "adj_x"
            inner = left[-2] if operation.get_attr(name) else left[-1]
            if operation.outputs[0].shape[-1] != 1:  # a mean, as layer_norm has it
                total += math.prod(operation.outputs[0].shape) * inner
    return total


def _einsum(operation):
    if len(operation.inputs) != 2:
        return 0
    equation = operation.get_attr("equation").decode()
    sizes = {}
    terms = equation.split("->")[0].split(",")
    for term, tensor in zip(terms, operation.inputs, strict=True):
        sizes.update(zip(term, tensor.shape, strict=True))
    return math.prod(sizes.values())


def test_counted_is_what_the_graph_multiplies():
    # Prime sizes: a wrong factor cannot be another one.
    config = ka.TransformerConfig(
        vocabulary_size=101,
        num_layers=1,
        model_dim=26,
        num_heads=2,
        key_dim=17,
        value_dim=19,
        feed_forward_dim=37,
        dropout_rate=0.0,
    )
    model, rows, lengths = ka.build_transformer(config), 3, (5, 11)

    def forward(source_ids, target_ids):
        return model({"source_ids": source_ids, "target_ids": target_ids})

    def update(source_ids, target_ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(forward(source_ids, target_ids) ** 2)
        return tape.gradient(loss, model.trainable_variables)

    specs = [tf.TensorSpec((rows, length), tf.int32) for length in lengths]
    graphs = [
        tf.function(step).get_concrete_function(*specs).graph
        for step in (forward, update)
    ]
    counted = forward_multiply_adds(config, rows, *lengths)
    assert products(graphs[0]) == counted
    assert products(graphs[1]) == 3 * counted


def test_a_window_bounds_what_self_attention_looks_at():
    plain = ka.TransformerConfig(vocabulary_size=50, num_layers=1)
    windowed = plain.replace(attention_window=2)
    cells, per_pair = 40, 8 * (64 + 64)
    saved = forward_multiply_adds(plain, 1, cells, cells) - forward_multiply_adds(
        windowed, 1, cells, cells
    )
    assert saved == 2 * cells * (cells - 5) * per_pair  # not of the memory
    short = [forward_multiply_adds(each, 1, 4, 4) for each in (plain, windowed)]
    assert short[0] == short[1]


def test_the_mean_update_weighs_shapes_by_their_batches():
    config = ka.TransformerConfig(vocabulary_size=50, num_layers=1)
    one, other = ((8, 5), 1), ((4, 9), 3)
    parts = [update_flops(config, [each]) for each in (one, other)]
    assert update_flops(config, [one, other]) == (parts[0] + 3 * parts[1]) / 4
    assert parts[0] == 6 * forward_multiply_adds(config, 8, 5, 5)
    with pytest.raises(ValueError, match=r"at least one batch\. Received: \[\]"):
        update_flops(config, [])


def test_the_cost_of_a_run():
    config = {"devices": 2, "data": {"update_flops": 5.0}}
    record = {"kind": "train", "step": 30, "minutes": 2.0}
    cost = {"seconds": 120.0, "devices": 2, "updates": 30, "counted_flops": 150.0}
    assert training_cost(config, record) == cost
    estimated = {"sustained_flops": 1e3, "estimated_flops": 240e3}
    assert training_cost(config, record, 1e3) == {**cost, **estimated}
