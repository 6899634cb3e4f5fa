"""How the cases of the table are made and called."""

import keras
import numpy as np
import tensorflow as tf

from tests.conformance import table


def make(case, **extra):
    """An object of the class, built and with weights that are all random."""
    made = case.cls(**case.arguments, **extra)
    if case in table.OBJECTIVES:
        return made
    call(case, made)
    for i, variable in enumerate(made.trainable_variables):
        value = np.random.default_rng(i).normal(0, 0.4, variable.shape)
        variable.assign(value)
    return made


def call(case, made, **inputs):
    inputs = {**case.inputs, **inputs}
    if case in table.MODELS:
        return made(inputs)
    if isinstance(made, keras.metrics.Metric):
        made.update_state(**inputs)
        return made.result()
    if case in table.OBJECTIVES:
        return made(**inputs)
    return made(*inputs.values(), **case.call)


def array(tensor):
    return np.asarray(tf.cast(tensor, "float32"))


def functional(case, layer):
    """A model around a layer, of unknown batch and length."""
    inputs = [
        keras.Input((None, *x.shape[2:]), dtype=x.dtype.name, name=name)
        for name, x in case.inputs.items()
    ]
    outputs = layer(*inputs, **case.call)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def run(case, model):
    inputs = case.inputs
    if case in table.LAYERS:
        inputs = list(inputs.values())
        inputs = inputs if len(inputs) > 1 else inputs[0]
    return array(model(inputs))
