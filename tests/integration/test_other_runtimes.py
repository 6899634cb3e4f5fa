"""What LiteRT and ONNX can run of a model; docs/serving.md claims no more."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka

pytestmark = pytest.mark.slow
# Other sizes than those that a graph was traced with: lengths and rows are free.
SOURCE = np.array([[5, 6, 7, 8, 3, 0], [8, 9, 3, 0, 0, 0], [4, 3, 0, 0, 0, 0]], "int32")
TARGET = np.array([[2, 5, 6], [2, 9, 0], [2, 7, 8]], "int32")
IDS = tf.TensorSpec([None, None], tf.int32)


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)
    config = ka.TransformerConfig(
        24, num_layers=2, model_dim=16, num_heads=2, feed_forward_dim=32
    )
    return ka.build_transformer(config)


@pytest.fixture(scope="module")
def functions(model):
    """Functions, the specifications of their inputs, inputs, and what they give."""
    inputs = {"source_ids": SOURCE, "target_ids": TARGET}
    return {
        "logits": (
            tf.function(lambda s, t: model({"source_ids": s, "target_ids": t})),
            {"s": IDS, "t": IDS},
            [SOURCE, TARGET],
            np.asarray(model(inputs)),
        ),
        "encode": (
            tf.function(lambda s: model.encode(s)),
            {"s": IDS},
            [SOURCE],
            np.asarray(model.encode(SOURCE)),
        ),
    }


def to_lite(function, specs):
    named = [tf.TensorSpec(spec.shape, spec.dtype, n) for n, spec in specs.items()]
    concrete = function.get_concrete_function(*named)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    return converter.convert()


@pytest.mark.parametrize("name", ["logits", "encode"])
def test_lite_rt_runs_the_model_with_its_own_operations(functions, name):
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    function, specs, inputs, expected = functions[name]
    interpreter = litert.Interpreter(model_content=to_lite(function, specs))
    details = sorted(interpreter.get_input_details(), key=lambda x: x["name"])
    for detail, array in zip(details, inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    real = (TARGET if name == "logits" else SOURCE) != 0
    np.testing.assert_allclose(found[real], expected[real], atol=1e-4)


def test_onnx_runtime_runs_the_encoder(functions):
    tf2onnx = pytest.importorskip("tf2onnx")
    runtime = pytest.importorskip("onnxruntime")
    function, specs, [source], expected = functions["encode"]
    signature = [tf.TensorSpec([None, None], tf.int32, name) for name in specs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about what tf2onnx does
        proto, _ = tf2onnx.convert.from_function(
            function, input_signature=signature, opset=17
        )
    session = runtime.InferenceSession(proto.SerializeToString())
    [found] = session.run(None, {session.get_inputs()[0].name: source})
    np.testing.assert_allclose(found[source != 0], expected[source != 0], atol=1e-4)
