"""Protocol buffers by hand, against the classes that TensorFlow brings."""

import pytest
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2

from keras_attention.export import wire


@pytest.mark.parametrize("timeout", [1, 127, 128, 200, 16_384, 3_600_000])
def test_run_options_are_those_of_tensorflow(timeout):
    message = config_pb2.RunOptions.FromString(wire.run_options(timeout))
    assert message == config_pb2.RunOptions(timeout_in_ms=timeout)


def meta_graph():
    result = meta_graph_pb2.MetaGraphDef()
    result.meta_info_def.stripped_default_attrs = True
    signature = result.signature_def["nbest"]
    for name, kind, shape in (
        ("text", tf.string, [None]),
        ("pieces", tf.int64, [2, None, 300]),
        ("single", tf.float32, []),
    ):
        info = signature.inputs[name]
        info.name, info.dtype = f"{name}_node:1", kind.as_datatype_enum
        info.tensor_shape.CopyFrom(tf.TensorShape(shape).as_proto())
    info = signature.outputs["any"]
    info.name, info.dtype = "any", tf.bool.as_datatype_enum
    info.tensor_shape.unknown_rank = True
    result.signature_def["__saved_model_init_op"].outputs["__op"].name = "init"
    return result


def test_signatures_are_read_with_their_types_and_shapes():
    read = wire.read_signatures(meta_graph().SerializeToString())
    inputs = {
        "text": ("text_node:1", 7, [-1]),
        "pieces": ("pieces_node:1", 9, [2, -1, 300]),
        "single": ("single_node:1", 1, []),
    }
    assert read == {"nbest": (inputs, {"any": ("any", 10, None)})}


def test_every_kind_of_field_is_passed_over():
    config = config_pb2.ConfigProto(allow_soft_placement=True)
    config.gpu_options.per_process_gpu_memory_fraction = 0.5  # 64 bits
    config.device_count["CPU"] = 300
    found = dict(wire.fields(config.SerializeToString()))
    assert found[7] == 1
    assert len(dict(wire.fields(found[6]))[1]) == 8
    assert dict(wire.fields(found[1])) == {1: b"CPU", 2: 300}


def test_a_damaged_message_is_refused():
    with pytest.raises(ValueError, match="serialised protocol buffer. Received: the t"):
        list(wire.fields(b"\x0f\x01"))
