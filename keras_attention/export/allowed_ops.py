"""Which operations an exported graph may hold: a list, checked before it is loaded.

A SavedModel is a program: `ReadFile` and `WriteFile` are operations like any other, and
a server runs what the graph says. This reads `saved_model.pb` as data and refuses every
operation that is not listed, in the graph and in its library of functions: files,
Python callbacks, networks, and whatever nobody thought of.

It is no sandbox. What is listed can still use all memory or never end, and an error in
the implementation of an operation or of a subword model is not looked for. Serve only
what you or people you trust have exported.
"""

from keras_attention.export.guard import read_saved_model

# What exports of this package hold, and beside it operations of the same kind that
# compute their outputs from their inputs and from nothing else.
_CONSTANTS_AND_CALLS = """
Const Placeholder PlaceholderWithDefault Identity IdentityN NoOp StopGradient
EnsureShape PartitionedCall StatefulPartitionedCall If StatelessIf Case StatelessCase
While StatelessWhile Assert
"""
_VARIABLES = "VarHandleOp ReadVariableOp ResourceGather ResourceGatherNd"
_SHAPES = """
BroadcastArgs BroadcastTo ConcatV2 DynamicStitch DynamicPartition Empty ExpandDims Fill
GatherNd GatherV2 InplaceUpdate InvertPermutation LinSpace MatrixBandPart MirrorPad
OneHot OnesLike Pack Pad PadV2 ParallelConcat Range Rank Reshape ReverseSequence
ReverseV2 Roll ScatterNd Shape ShapeN Size Slice Split SplitV Squeeze StridedSlice
TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate
TensorStridedSliceUpdate Tile Transpose Unique UniqueV2 UniqueWithCounts Unpack Where
ZerosLike
"""
_MATHEMATICS = """
Abs AddN AddV2 All Any ApproximateEqual ArgMax ArgMin BatchMatMul BatchMatMulV2
BatchMatMulV3 BiasAdd Bincount Bitcast BitwiseAnd BitwiseOr BitwiseXor Bucketize Cast
Ceil ClipByValue Cos Cosh Cumprod Cumsum CumulativeLogsumexp DenseBincount Div DivNoNan
Einsum Elu Equal Erf Erfc Erfinv Exp Expm1 Floor FloorDiv FloorMod FusedBatchNormV3
Greater GreaterEqual InTopKV2 Inv Invert IsFinite IsInf IsNan L2Loss LeakyRelu LeftShift
Less LessEqual Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr LowerBound MatMul
Max Maximum Mean Min Minimum Mod Mul MulNoNan Neg NextAfter NotEqual Pow Prod RealDiv
Reciprocal Relu Relu6 RightShift Rint Round Rsqrt SegmentMax SegmentMean SegmentMin
SegmentSum Select SelectV2 Selu Sigmoid Sign Sin Sinh Softmax
SparseSoftmaxCrossEntropyWithLogits Softplus Softsign Sqrt Square SquaredDifference Sub
Sum Tan Tanh TopKV2 TruncateDiv TruncateMod UnsortedSegmentMax UnsortedSegmentMin
UnsortedSegmentProd UnsortedSegmentSum UpperBound Xdivy Xlog1py Xlogy
"""
_LISTS_AND_RAGGED = """
EmptyTensorList RaggedGather RaggedRange RaggedTensorToTensor TensorListConcatV2
TensorListElementShape TensorListFromTensor TensorListGather TensorListGetItem
TensorListLength TensorListPopBack TensorListPushBack TensorListReserve
TensorListResize TensorListSetItem TensorListStack
"""
_TEXT = """
AsString DecodeBase64 EncodeBase64 HashTableV2 LookupTableExportV2 LookupTableFindV2
LookupTableImportV2 LookupTableSizeV2 NormalizeUTF8 ReduceJoin RegexFullMatch
RegexReplace SentencepieceDetokenizeOp SentencepieceIdToStringOp SentencepieceOp
SentencepieceStringToIdOp SentencepieceTokenizeOp SentencepieceTokenizeWithOffsetsOp
SentencepieceVocabSizeOp StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin
StringLength StringLower StringSplit StringSplitV2 StringStrip StringToHashBucketFast
StringToNumber StringUpper Substr UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode
UnicodeScript UnicodeTranscode UnsortedSegmentJoin WordpieceTokenizeWithOffsets
"""
ALLOWED_OPS = frozenset(
    (
        _CONSTANTS_AND_CALLS
        + _VARIABLES
        + _SHAPES
        + _MATHEMATICS
        + _LISTS_AND_RAGGED
        + _TEXT
    ).split()
)
# Only below the two nodes that the saver names. A server runs the second when it
# loads a version, and the first never.
SAVE_OPS = frozenset(
    ("SaveV2", "MergeV2Checkpoints", "ShardedFilename", "DisableCopyOnRead")
)
RESTORE_OPS = frozenset(("RestoreV2", "AssignVariableOp"))
MAIN_OPS = ("saved_model_main_op", "legacy_init_op", "saved_model_train_op")


def check_ops(directory):
    """Refuses a SavedModel with operations that are not on the list.

    Args:
        directory: the folder of one version. Nothing of it is run.

    Raises:
        ValueError: an operation is not listed, or one of the saver lies where a
            request could reach it; the message names the operation and the node.

    Example:

    >>> import tempfile
    >>> import tensorflow as tf
    >>> module, folder = tf.Module(), tempfile.mkdtemp()
    >>> read = tf.function(lambda x: {"y": tf.io.read_file(x)})
    >>> concrete = read.get_concrete_function(tf.TensorSpec([], tf.string, name="x"))
    >>> tf.saved_model.save(module, folder, signatures=concrete)
    >>> check_ops(folder)
    Traceback (most recent call last):
      ...
    ValueError: Expected only listed operations in ... Received: 'ReadFile', ...
    """
    for meta_graph in read_saved_model(directory).meta_graphs:
        for op, node, place in _unlisted(meta_graph):
            raise ValueError(
                f"Expected only listed operations in {str(directory)!r}, none that "
                f"reads or writes files or runs Python. Received: {op!r}, the node "
                f"{node!r} in {place}. Do not load it unless you trust who made it."
            )


def _unlisted(meta_graph):
    """Yields (operation, node, where) of all that is not allowed where it is."""
    graph, saver = meta_graph.graph_def, meta_graph.saver_def
    bodies = {x.signature.name: x.node_def for x in graph.library.function}
    own = {_node(saver.save_tensor_name): SAVE_OPS}
    own[_node(saver.restore_op_name)] = RESTORE_OPS
    below = {
        name: ops
        for node in graph.node
        for name in _functions_below(node, bodies)
        if (ops := own.get(node.name))
    }
    places = [("", graph.node), *bodies.items()]
    for function, nodes in places:
        place = f"the function {function!r}" if function else "the graph"
        granted = below.get(function, frozenset())
        for node in nodes:
            calls = _called(node)
            is_call = node.op in bodies and node.op.startswith("__")
            if not is_call and node.op not in ALLOWED_OPS | granted:
                yield node.op, node.name, place
            # Nobody else may run the saver's functions, or wait for its nodes.
            is_saver = function in below or (not function and node.name in own)
            if not is_saver and below.keys() & {*calls, node.op}:
                yield "a call of the saver", node.name, place
            if not function and own.keys() & set(map(_node, node.input)):
                yield "an input from the saver", node.name, place
    for key, names in _entrances(meta_graph):
        if own.keys() & set(map(_node, names)):
            yield "a node of the saver", ", ".join(names), f"the signature {key!r}"


def _node(reference):
    """Returns the node of an input: "^name", "name:1" and "name" are one node."""
    return reference.removeprefix("^").partition(":")[0]


def _called(node):
    """Returns the names of the functions that a node's attributes hold."""
    values = node.attr.values()
    names = {value.func.name for value in values if value.HasField("func")}
    return names | {f.name for value in values for f in value.list.func}


def _functions_below(node, bodies):
    """Returns the functions that a node calls, directly or not."""
    found, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        for name in {*_called(node), node.op} & bodies.keys() - found:
            found.add(name)
            waiting.extend(bodies[name])
    return found


def _entrances(meta_graph):
    """Yields (key, references) of all that a loader or a request can run."""
    for key, signature in meta_graph.signature_def.items():
        sides = (signature.outputs, signature.inputs)
        yield key, [info.name for side in sides for info in side.values()]
    for key in MAIN_OPS:
        if key in meta_graph.collection_def:
            yield key, list(meta_graph.collection_def[key].node_list.value)
