"""The static checks: what a server would leave empty, and what it would miss."""

import keras
import pytest
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2

from keras_attention.export import guard

SPEC = [tf.TensorSpec([None], tf.float32, name="x")]


def save(module, function, folder):
    concrete = tf.function(function, input_signature=SPEC).get_concrete_function()
    if module is None:
        module = tf.Module()
        module.weights = list(concrete.graph.variables)
    tf.saved_model.save(module, str(folder), signatures=concrete)
    return folder


@pytest.fixture
def network():
    model = keras.Sequential(
        [keras.Input((1,)), keras.layers.Dense(3), keras.layers.Dense(1)]
    )
    return model, lambda x: {"y": model(x[:, None])[:, 0]}


def test_the_obvious_export_is_caught(network, tmp_path):
    model, function = network
    module = tf.Module()
    module.model = model
    save(module, function, tmp_path)
    # Python sees nothing wrong, which is why the guard reads the graph.
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant([1.0, 2.0])
    y = loaded.signatures["serving_default"](x=x)["y"]
    assert (y.numpy() == function(x)["y"].numpy()).all()
    missing = guard.unfilled_resources(guard.load_meta_graph(tmp_path))
    assert len(missing) == len(model.weights) == 4
    with pytest.raises(ValueError, match="Received: 4 unfilled.*dense.*Track the var"):
        guard.check_restored(tmp_path)


def test_tracking_the_captured_variables_passes(network, tmp_path):
    _, function = network
    save(None, function, tmp_path)
    assert guard.unfilled_resources(guard.load_meta_graph(tmp_path)) == []
    guard.check_restored(tmp_path)


def test_one_forgotten_variable_is_named(network, tmp_path):
    model, function = network
    module = tf.Module()
    module.weights = [x.value for x in model.weights]
    module.hidden = keras.layers.Dense(1, name="forgotten")
    module.hidden.build((None, 1))
    forgotten = module.hidden.kernel.value
    save(module, lambda x: {"y": function(x)["y"] * forgotten[0, 0]}, tmp_path)
    with pytest.raises(ValueError, match="1 unfilled.*forgotten/kernel"):
        guard.check_restored(tmp_path)


def test_a_tracked_table_is_filled(tmp_path):
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a"], [1.0]), default_value=0.0
    )
    table = module.table
    save(module, lambda x: {"y": x + table.lookup(tf.constant("a"))}, tmp_path)
    meta_graph = guard.load_meta_graph(tmp_path)
    assert guard.unfilled_resources(meta_graph) == []
    del meta_graph.signature_def["__saved_model_init_op"]
    assert len(guard.unfilled_resources(meta_graph)) == 1


def meta_graph_with(function_node, restored):
    """A signature that reads a variable only inside a function of a function."""
    graph = graph_pb2.GraphDef()
    inner = graph.library.function.add()
    inner.signature.name = "inner"
    inner.node_def.append(function_node)
    outer = graph.library.function.add()
    outer.signature.name = "outer"
    branch = outer.node_def.add(name="branch", op="Case")
    branch.attr["branches"].list.func.add().name = "inner"
    branch.attr["branches"].list.func.add().name = "outer"  # calls itself
    graph.node.add(name="call", op="PartitionedCall").attr["f"].func.name = "outer"
    handle = graph.node.add(name="handle", op="VarHandleOp")
    handle.attr["shared_name"].s = restored.encode()
    graph.node.add(name="restore", op="PartitionedCall", input=["handle"])
    result = meta_graph_pb2.MetaGraphDef(graph_def=graph)
    result.saver_def.restore_op_name = "restore"
    signature = result.signature_def["serving_default"]
    signature.outputs["y"].name = "call:0"
    return result


@pytest.mark.parametrize("restored, missing", [("w", []), ("other", ["w"])])
def test_variables_inside_the_function_library_count(restored, missing):
    node = graph_pb2.GraphDef().node.add(name="read", op="VarHandleOp")
    node.attr["shared_name"].s = b"w"
    meta_graph = meta_graph_with(node, restored)
    assert guard.unfilled_resources(meta_graph) == missing


def test_without_a_restore_call_everything_is_missing():
    node = graph_pb2.GraphDef().node.add(name="read", op="VarHandleOp")
    meta_graph = meta_graph_with(node, "read")  # no shared name: the node's counts
    assert guard.unfilled_resources(meta_graph) == []
    meta_graph.saver_def.Clear()
    assert guard.unfilled_resources(meta_graph) == ["read"]


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"`saved_model.pb`. Received: .*export_sav"):
        guard.load_meta_graph(tmp_path)


def test_a_path_in_a_file_is_refused(tmp_path):
    version, private = tmp_path / "version", tmp_path / "workdir"
    (version / "assets").mkdir(parents=True)
    (version / "assets" / "words").write_text(f"x {private}/words\n")
    with pytest.raises(ValueError, match="'words' naming .*workdir"):
        guard.check_self_contained(version, [private])
    guard.check_self_contained(version, [tmp_path / "elsewhere"])
    guard.check_self_contained(version, ["/", "/tmp"])  # too short to mean anything


def test_weights_are_not_searched_for_paths(tmp_path):
    (tmp_path / "variables.data-00000-of-00001").write_text(str(tmp_path))
    guard.check_self_contained(tmp_path, [tmp_path])
