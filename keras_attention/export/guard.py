"""Static checks of a finished SavedModel: what it reads, and what it refers to.

TensorFlow's Python loader rebuilds the objects of a SavedModel and connects each to
its checkpoint entry. The C++ loader that TensorFlow Serving uses does neither: it
runs the one restore call of the graph, and a variable that this call does not name
stays uninitialised. So a model can be right in Python and fail on the first request
of a server. Both checks read the stored graph and need no engine.
"""

import collections
import pathlib

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

VARIABLE_OP = "VarHandleOp"
TABLE_OP = "HashTableV2"
INITIALIZER = "__saved_model_init_op"


def read_saved_model(directory):
    """Returns the `SavedModel` message of a folder.

    Raises:
        ValueError: there is none, it is damaged or empty, or another graph lies
            beside it that a loader could take instead.
    """
    path = pathlib.Path(directory) / "saved_model.pb"
    if not path.is_file():
        raise ValueError(
            f"Expected a SavedModel folder with a `saved_model.pb`. Received: "
            f"{str(directory)!r}. Pass the path that `export_saved_model` returned."
        )
    for other in ("saved_model.pbtxt", "saved_model.cpb"):
        if path.with_name(other).exists():
            raise ValueError(
                f"Expected one graph in a version. Received: {other!r} beside "
                f"'saved_model.pb' in {str(directory)!r}. Export it again."
            )
    try:
        saved_model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
        reason = "" if saved_model.meta_graphs else "no graph in it"
    except DecodeError as error:
        reason = str(error)
    if reason:
        raise ValueError(
            f"Expected a whole `saved_model.pb`. Received: {str(path)!r}, of which "
            f"nothing can be read ({reason}). The file is damaged; export it again."
        )
    return saved_model


def load_meta_graph(directory):
    """Returns the MetaGraphDef of a SavedModel folder.

    Raises:
        ValueError: there is none that can be read, see `read_saved_model`.
    """
    return read_saved_model(directory).meta_graphs[0]


class _Graph:
    """The nodes of a graph and of its functions, and who reads whom."""

    def __init__(self, graph_def):
        self.nodes = {node.name: node for node in graph_def.node}
        self._functions = {f.signature.name: f for f in graph_def.library.function}

    def reads(self, names):
        """Returns all nodes that `names` depend on, functions included."""
        found, seen = [], set()
        waiting = collections.deque(_node_name(name) for name in names)
        while waiting:
            name = waiting.popleft()
            if name in seen or name not in self.nodes:
                continue
            seen.add(name)
            node = self.nodes[name]
            found.append(node)
            found.extend(self._called(node))
            waiting.extend(_node_name(source) for source in node.input)
        return found

    def _called(self, node):
        """Returns the nodes of all functions that a node calls, directly or not."""
        found, seen, waiting = [], set(), [node]
        while waiting:
            for name in _function_names(waiting.pop()):
                if name in seen or name not in self._functions:
                    continue
                seen.add(name)
                body = self._functions[name].node_def
                found.extend(body)
                waiting.extend(body)
        return found


def _node_name(reference):
    """Returns the node of an input: "^name", "name:1" and "name" are one node."""
    return reference.removeprefix("^").partition(":")[0]


def _function_names(node):
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            yield attribute.func.name
        yield from (function.name for function in attribute.list.func)


def _resource_name(node):
    """Returns the name under which the runtime finds the resource of a handle."""
    return node.attr["shared_name"].s.decode() or node.name


def unfilled_resources(meta_graph):
    """Returns what a signature reads and loading in a server does not fill.

    A variable is filled by the restore call of the saver, a lookup table by the
    initialisation op. (A SentencePiece model is an attribute of its own op.)

    Args:
        meta_graph: a `MetaGraphDef`, see `load_meta_graph`.

    Returns:
        A sorted list of resource names, empty when a server can run every signature.
    """
    graph = _Graph(meta_graph.graph_def)
    restore = graph.nodes.get(_node_name(meta_graph.saver_def.restore_op_name))
    filled = {
        _resource_name(graph.nodes[source])
        for source in map(_node_name, restore.input if restore else ())
        if source in graph.nodes
    }
    read = set()
    for key, signature in meta_graph.signature_def.items():
        # The initialisation op itself names no tensor but the op that runs it.
        nodes = graph.reads(info.name for info in signature.outputs.values())
        if key == INITIALIZER:
            filled |= {_resource_name(node) for node in nodes if node.op == TABLE_OP}
        else:
            read |= {
                _resource_name(node)
                for node in nodes
                if node.op in (VARIABLE_OP, TABLE_OP)
            }
    return sorted(read - filled)


def check_restored(directory):
    """Refuses a SavedModel that a server could load and not run.

    Args:
        directory: the folder of one version, with `saved_model.pb`.

    Raises:
        ValueError: a signature reads a variable or table that loading leaves empty.

    Example:

    >>> import tempfile
    >>> import tensorflow as tf
    >>> folder = tempfile.mkdtemp()
    >>> module = tf.Module()
    >>> module.scale = tf.Variable(2.0)
    >>> double = tf.function(lambda x: {"y": x * module.scale})
    >>> concrete = double.get_concrete_function(tf.TensorSpec([None], name="x"))
    >>> tf.saved_model.save(module, folder, signatures=concrete)
    >>> check_restored(folder)
    """
    missing = unfilled_resources(load_meta_graph(directory))
    if missing:
        raise ValueError(
            f"Expected a SavedModel whose loading fills every variable and table that "
            f"its signatures read; a server would fail on the first request. Received: "
            f"{len(missing)} unfilled in {str(directory)!r}: {', '.join(missing[:5])}. "
            f"Track the variables that the concrete functions captured, not the Keras "
            f"objects that hold them."
        )


def check_self_contained(directory, folders):
    """Refuses a SavedModel that names a folder of the machine that made it.

    Args:
        directory: the folder of one version.
        folders: absolute paths that no file in it may contain. The root folder and
            its children ("/tmp") are passed over: a piece of text may spell them.

    Raises:
        ValueError: a file contains such a path.
    """
    folders = [pathlib.Path(folder) for folder in folders]
    wanted = {str(folder).encode() for folder in folders if len(folder.parts) > 2}
    for path in sorted(pathlib.Path(directory).rglob("*")):
        # The weights are numbers: looking for text in them would only cost time.
        if path.is_dir() or path.name.startswith("variables.data"):
            continue
        content = path.read_bytes()
        for folder in sorted(wanted):
            if folder in content:
                raise ValueError(
                    f"Expected a SavedModel that needs no file of this machine. "
                    f"Received: {path.name!r} naming {folder.decode()!r}. Store what "
                    f"is read from there in the graph or as an asset."
                )
