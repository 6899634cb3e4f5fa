"""What every public class owes to Keras and to the reader."""

import dataclasses
import inspect
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.objectives import Adam
from tests.conformance import table
from tests.conformance.harness import array, call, functional, make, run

POLICIES = ("mixed_float16", "mixed_bfloat16")
NAMED = dict(name="x1", dtype="mixed_float16")
GRAPH_CASES = [*table.LAYERS, *table.MODELS]
by_id = lambda case: case.id  # noqa: E731


def plain(config):
    return json.loads(json.dumps(config, sort_keys=True))


def test_no_public_class_is_missing_from_the_table():
    kinds = (
        keras.layers.Layer,
        keras.losses.Loss,
        keras.metrics.Metric,
        keras.optimizers.schedules.LearningRateSchedule,
    )
    public = {
        value
        for module in (ka, ka.layers, ka.objectives, ka.models)
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, kinds)
    }
    registered = {
        value
        for name, value in keras.saving.get_custom_objects().items()
        if name.startswith("keras_attention>")
    }
    covered = {case.cls for case in table.CASES}
    assert public <= covered, f"add to tests/conformance/table.py: {public - covered}"
    # An optimizer updates variables: it has its own tests.
    assert registered == covered | {Adam}


@pytest.mark.parametrize("case", table.CASES, ids=by_id)
def test_every_argument_in_the_table_differs_from_its_default(case):
    if case in table.MODELS:
        fields = dataclasses.fields(ka.TransformerConfig)
        defaults = {field.name: field.default for field in fields}
    else:
        parameters = inspect.signature(case.cls.__init__).parameters.values()
        defaults = {
            p.name: p.default
            for p in parameters
            if p.name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD
        }
    # What excludes an argument of this case is in another case of the class.
    others = [x.arguments for x in table.CASES if x.cls is case.cls]
    assert set(case.arguments) <= set(defaults) == set().union(*others)
    same = [name for name, value in case.arguments.items() if value == defaults[name]]
    assert not same, f"these have their default: {same}"


@pytest.mark.parametrize("case", table.CASES, ids=by_id)
def test_the_config_holds_every_argument_and_rebuilds(case):
    extra = {} if case in table.OBJECTIVES else NAMED
    made = make(case, **extra)
    config = plain(made.get_config())
    for name, value in case.arguments.items():
        assert config[name] == value or config[name] is not None
        if isinstance(value, (int, float, bool)):
            assert config[name] == value
    again = case.cls.from_config(config)
    assert plain(again.get_config()) == config
    if not isinstance(made, keras.optimizers.schedules.LearningRateSchedule):
        assert again.name == "x1"
    if extra:
        assert again.dtype_policy.name == "mixed_float16"


@pytest.mark.parametrize("case", table.CASES, ids=by_id)
def test_the_docstring_has_an_example_and_a_reference(case):
    text = inspect.getdoc(case.cls)
    assert "Args:" in text and "Example:" in text and ">>>" in text
    if case in GRAPH_CASES:
        for part in (
            "Call arguments:",
            "Returns:",
            "Raises:",
            "Masking:",
            "Reference:",
        ):
            assert part in text, f"{case.id} has no {part}"


@pytest.mark.parametrize("case", GRAPH_CASES, ids=by_id)
def test_symbolic_and_eager_shapes_agree(case):
    made = make(case)
    assert tuple(call(case, made).shape) == case.output
    model = made if case in table.MODELS else functional(case, made)
    assert tuple(model.output.shape) == (None, None, case.output[-1])
    eager = call(case, made)
    assert keras.backend.standardize_dtype(eager.dtype) == model.output.dtype
    # Other rows and lengths through the same symbolic model.
    longer = {k: np.concatenate([x, x], 0)[:, :3] for k, x in case.inputs.items()}
    changed = dataclasses.replace(case, inputs=longer)
    inputs = longer
    if case in table.LAYERS:
        inputs = list(longer.values())
        inputs = inputs if len(inputs) > 1 else inputs[0]
    assert model(inputs).shape == (4, 3, case.output[-1])
    assert changed.id == case.id


@pytest.mark.parametrize("case", table.LAYERS, ids=by_id)
def test_the_declared_output_shape_is_the_real_one(case):
    layer = make(case)
    spec = layer.compute_output_spec(
        *[keras.KerasTensor(x.shape, x.dtype.name) for x in case.inputs.values()]
    )
    assert tuple(spec.shape) == case.output


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", GRAPH_CASES, ids=by_id)
def test_half_precision_is_finite_and_close(case, policy):
    full, half = make(case), make(case, dtype=policy)
    half.set_weights(full.get_weights())
    assert all(v.dtype == "float32" for v in half.trainable_variables)
    output = call(case, half)
    wanted = "float32" if case in table.MODELS else policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(output.dtype) == wanted
    expected = array(call(case, full))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(array(output), expected, atol=6e-2 * scale)


@pytest.mark.parametrize("case", table.LAYERS, ids=by_id)
def test_masks_are_passed_on(case):
    layer = make(case)
    assert layer.supports_masking
    inputs = {}
    for i, (name, values) in enumerate(case.inputs.items()):
        if case.cls is ka.TokenEmbedding:
            inputs[name] = values
            continue
        tensor = tf.constant(values)
        real = np.arange(values.shape[1]) < np.array([[1 + i], [values.shape[1]]])
        tensor._keras_mask = tf.constant(real)
        inputs[name] = tensor
    output = call(case, layer, **inputs)
    first = next(iter(inputs.values()))
    expected = first != 0 if case.cls is ka.TokenEmbedding else first._keras_mask
    np.testing.assert_array_equal(output._keras_mask, expected)


@pytest.mark.parametrize("case", GRAPH_CASES, ids=by_id)
def test_weights_file_into_another_object(case, tmp_path):
    first, second = make(case), make(case)
    models = [
        m if case in table.MODELS else functional(case, m) for m in (first, second)
    ]
    for variable in second.trainable_variables:
        variable.assign(variable.numpy() + 1.0)
    models[0].save_weights(tmp_path / "x.weights.h5")
    models[1].load_weights(tmp_path / "x.weights.h5")
    np.testing.assert_allclose(run(case, models[1]), run(case, models[0]), atol=1e-6)
    assert len(first.trainable_variables) == len(second.trainable_variables)
