"""The list of operations: what lies where, and what is hidden."""

import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_attention.export import allowed_ops, guard

HARMFUL = """
ReadFile WriteFile MatchingFiles Print PrintV2 PyFunc PyFuncStateless EagerPyFunc Save
SaveV2 SaveSlices Restore RestoreV2 MergeV2Checkpoints AssignVariableOp RemoteCall
InitializeTableFromTextFileV2 WholeFileReaderV2 TFRecordDataset TextLineDatasetV2
ReaderReadV2 DebugIdentityV2 GenerateVocabRemapping LoadAndRemapMatrix Send Recv
CollectiveReduceV2 XlaLaunch SymbolicGradient TPUExecute FastSentencepieceTokenize
""".split()


class Doubler(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a"], [1.0]), default_value=0.0
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="x")])
    def run(self, x):
        return {"y": self.scale * self.table.lookup(x)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    module = Doubler()
    tf.saved_model.save(module, str(folder), signatures=module.run)
    return folder


@pytest.fixture
def message(saved):
    """A message to spoil: (saved model, its only graph)."""
    result = guard.read_saved_model(saved)
    return result, result.meta_graphs[0]


def refused(message, folder, text):
    (folder / "saved_model.pb").write_bytes(message[0].SerializeToString())
    with pytest.raises(ValueError, match=text) as error:
        allowed_ops.check_ops(folder)
    assert "\n" not in str(error.value)


def test_what_tensorflow_writes_for_variables_and_tables_passes(saved):
    allowed_ops.check_ops(saved)
    held = {
        node.op
        for function in guard.load_meta_graph(saved).graph_def.library.function
        for node in function.node_def
    }
    assert {"SaveV2", "RestoreV2", "LookupTableImportV2"} <= held  # worth passing


def test_the_list_holds_operations_that_exist():
    known = set(dir(tf.raw_ops))
    import tensorflow_text  # noqa: F401  (registers the operations of the tokenizers)

    unknown = allowed_ops.ALLOWED_OPS - known
    text = ("Sentencepiece", "Wordpiece", "NormalizeUTF8")
    assert [op for op in sorted(unknown) if not op.startswith(text)] == []
    assert not allowed_ops.ALLOWED_OPS & set(HARMFUL)


@pytest.mark.parametrize("op", HARMFUL)
def test_harmful_operations_are_refused_in_the_graph(message, tmp_path, op):
    message[1].graph_def.node.add(name="harm", op=op)
    refused(message, tmp_path, f"Received: '{op}', the node 'harm' in the graph. Do no")


@pytest.mark.parametrize("op", ["WriteFile", "EagerPyFunc", "RestoreV2", "Unheard"])
def test_nothing_is_hidden_in_a_function(message, tmp_path, op):
    function = message[1].graph_def.library.function.add()
    function.signature.name = "__inference_hidden"
    function.node_def.add(name="harm", op=op)
    refused(message, tmp_path, f"'{op}', the node 'harm' in the function '__inference_")


def test_nothing_is_hidden_in_a_second_graph(message, tmp_path):
    message[0].meta_graphs.add().graph_def.node.add(name="harm", op="ReadFile")
    refused(message, tmp_path, "'ReadFile', the node 'harm'")


def test_a_function_with_the_name_of_an_operation_is_no_excuse(message, tmp_path):
    message[1].graph_def.library.function.add().signature.name = "ReadFile"
    message[1].graph_def.node.add(name="harm", op="ReadFile")
    refused(message, tmp_path, "'ReadFile', the node 'harm'")


def functions_with(meta_graph, op):
    library = meta_graph.graph_def.library.function
    return [f for f in library if any(node.op == op for node in f.node_def)]


@pytest.mark.parametrize("op", ["SaveV2", "RestoreV2"])
def test_nobody_else_calls_the_functions_of_the_saver(message, tmp_path, op):
    [function] = functions_with(message[1], op)
    node = message[1].graph_def.node.add(name="harm", op="StatefulPartitionedCall")
    node.attr["f"].func.name = function.signature.name
    refused(message, tmp_path, "'a call of the saver', the node 'harm' in the graph")


def test_loading_writes_nothing(message, tmp_path):
    [function] = functions_with(message[1], "RestoreV2")
    function.node_def.add(name="harm", op="SaveV2")
    refused(message, tmp_path, "'SaveV2', the node 'harm' in the function")


@pytest.mark.parametrize("part", ["outputs", "inputs"])
def test_no_request_runs_the_saver(message, tmp_path, part):
    meta_graph = message[1]
    signature = meta_graph.signature_def["serving_default"]
    getattr(signature, part)["x"].name = meta_graph.saver_def.save_tensor_name
    refused(message, tmp_path, "'a node of the saver'.*signature 'serving_default'")


def test_no_node_waits_for_the_saver(message, tmp_path):
    meta_graph = message[1]
    node = meta_graph.graph_def.node.add(name="harm", op="NoOp")
    node.input.append("^" + meta_graph.saver_def.save_tensor_name.partition(":")[0])
    refused(message, tmp_path, "'an input from the saver', the node 'harm'")


def test_the_main_operation_is_not_the_saver(message, tmp_path):
    meta_graph = message[1]
    names = meta_graph.collection_def["legacy_init_op"].node_list.value
    names.append(meta_graph.saver_def.save_tensor_name)
    refused(message, tmp_path, "'a node of the saver'.*'legacy_init_op'")


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "no graph in it"),
        (b"\x08\x01\x12\x05\x0a", "of which nothing can be read"),
    ],
)
def test_a_damaged_graph_is_refused(tmp_path, content, text):
    (tmp_path / "saved_model.pb").write_bytes(content)
    with pytest.raises(ValueError, match=f"whole `saved_model.pb`. Received.*{text}"):
        allowed_ops.check_ops(tmp_path)


def test_a_truncated_graph_is_refused(saved, tmp_path):
    content = (saved / "saved_model.pb").read_bytes()
    for end in (1, len(content) // 2, len(content) - 1):
        (tmp_path / "saved_model.pb").write_bytes(content[:end])
        with pytest.raises(ValueError, match="damaged; export it again"):
            allowed_ops.check_ops(tmp_path)


@pytest.mark.parametrize("name", ["saved_model.pbtxt", "saved_model.cpb"])
def test_a_second_graph_beside_it_is_refused(tmp_path, name):
    empty = saved_model_pb2.SavedModel()
    empty.meta_graphs.add()
    (tmp_path / "saved_model.pb").write_bytes(empty.SerializeToString())
    allowed_ops.check_ops(tmp_path)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=f"one graph in a version. Received: '{name}'"):
        allowed_ops.check_ops(tmp_path)
