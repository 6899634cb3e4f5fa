"""Whether the files of a version are those that its manifest speaks of."""

import hashlib
import pathlib

import tensorflow as tf

from keras_attention.data.tokenizer_base import joint_sha256
from keras_attention.decoding_config import DecodingConfig
from keras_attention.export.guard import read_saved_model
from keras_attention.files import parse_object

MANIFEST, VARIABLES = "manifest.json", "variables"
TOKENIZER_OP = "SentencepieceOp"


def weights_sha256(directory):
    """Returns the sha256 of a version's weights, in hexadecimal.

    It is that of the files in `variables/`, one behind the other in the order of
    their names: `cat variables/* | sha256sum` gives the same.

    Args:
        directory: the folder of one version.

    Raises:
        ValueError: the folder has no weights.

    Example:

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "variables").mkdir()
    >>> _ = (folder / "variables" / "a").write_bytes(b"weights")
    >>> weights_sha256(folder)[:8]
    '9a129038'
    """
    files = sorted((pathlib.Path(directory) / VARIABLES).glob("*"))
    if not files:
        raise ValueError(
            f"Expected weights in `{VARIABLES}/`. Received: {str(directory)!r}, which "
            f"has none. Export it again."
        )
    found = hashlib.sha256()
    for path in filter(pathlib.Path.is_file, files):
        with open(path, "rb") as stream:
            while part := stream.read(1 << 20):
                found.update(part)
    return found.hexdigest()


def files_sha256(directory):
    """Returns {path: sha256} of a version's other files, hexadecimal.

    Args:
        directory: the folder of one version. Its manifest and the files in `variables/`
            are left out.

    Raises:
        ValueError: something that is neither a file nor a folder, such as a link.
    """
    directory = pathlib.Path(directory)
    names = []
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        inside = name.startswith(f"{VARIABLES}/")
        if path.is_symlink() or not (path.is_file() or path.is_dir() and not inside):
            raise ValueError(
                f"Expected files and folders in {str(directory)!r}. Received: "
                f"{name!r}, a link, a device or a folder of weights. Copy the version "
                "anew."
            )
        if path.is_file():
            names.append(name)
    return {
        name: hashlib.sha256((directory / name).read_bytes()).hexdigest()
        for name in names
        if name != MANIFEST and not name.startswith(f"{VARIABLES}/")
    }


def read_manifest(directory):
    """Returns `manifest.json` of a version as a dictionary, {} where it has none.

    Raises:
        ValueError: it is no JSON object of objects.
    """
    path = pathlib.Path(directory) / MANIFEST
    if not path.is_file():
        return {}
    try:
        manifest = parse_object(path.read_bytes())
        for part in ("files", "decoding", *_FOUND):
            manifest.get(part, {}).items()
    except (ValueError, AttributeError) as error:
        raise ValueError(
            f"Expected a JSON object of objects. Received: {str(path)!r} ({error}). "
            f"The file is damaged; export the version again."
        ) from error
    return manifest


def exported_settings(directory):
    """Returns the fields of the `DecodingConfig` that a version was exported with.

    Raises:
        ValueError: the manifest holds no such fields.
    """
    fields = read_manifest(directory).get("decoding", {})
    try:
        DecodingConfig.from_dict(fields)
    except TypeError as error:  # of a value that is no field's, such as null for a list
        raise ValueError(
            f"Expected fields of a search in {MANIFEST} of {str(directory)!r}. "
            f"Received: {fields!r} ({error}). Export the version again."
        ) from error
    return fields


def check_manifest(directory):
    """Compares weights, subword model and files with the sums in `manifest.json`.

    Args:
        directory: the folder of one version. What the manifest says beside sums, such
            as BLEU, has none.

    Raises:
        ValueError: the manifest cannot be read, a sum is another, or a file is
            missing or not named.
    """
    manifest = read_manifest(directory)
    expected = {part: manifest.get(part, {}).get("sha256") for part in _FOUND}
    if not manifest.get("files") or None in expected.values():
        raise ValueError(
            f"Expected {MANIFEST} with the sums of files, {', '.join(_FOUND)} in "
            f"{str(directory)!r}. Received: {sorted(manifest) or 'none'}. Copy the "
            "version anew, or export it again."
        )
    for part, sha256 in expected.items():
        if (found := _FOUND[part](directory, sha256)) != sha256:
            raise ValueError(
                f"Expected the {part} of {str(directory)!r} to have the sha256 of the "
                f"manifest, {sha256}. Received: {found}. The version is damaged or was "
                f"changed; export it again."
            )
    found = files_sha256(directory)
    if unnamed := sorted(set(found) - set(manifest["files"])):
        raise ValueError(
            f"Expected only files that the manifest of {str(directory)!r} names. "
            f"Received: {', '.join(unnamed[:5])} beside them. Copy the version anew."
        )
    for name, sha256 in manifest["files"].items():
        if found.get(name) != sha256:
            raise ValueError(
                f"Expected {name!r} in {str(directory)!r} with the sha256 of the "
                f"manifest, {sha256}. Received: {found.get(name, 'no such file')}. The "
                f"version is damaged or was changed; export it again."
            )


def _tokenizer_sha256(directory, expected):
    """Returns the sha256 of the subword model in the graph: `expected` if that fits.

    SentencePiece models lie in their operations. A WordPiece vocabulary is a vector
    of strings, and the graph may hold others; so is that which several models share.
    """
    models, vectors = set(), set()
    for meta_graph in read_saved_model(directory).meta_graphs:
        graph = meta_graph.graph_def
        bodies = (function.node_def for function in graph.library.function)
        for nodes in (graph.node, *bodies):
            for node in nodes:
                if node.op == TOKENIZER_OP and node.attr["model"].s:
                    models.add(node.attr["model"].s)
                elif _is_text(node):
                    values = tf.make_ndarray(node.attr["value"].tensor).ravel()
                    vectors.add(b"".join(bytes(x) + b"\n" for x in values))
    sums = [sorted(hashlib.sha256(x).hexdigest() for x in y) for y in (models, vectors)]
    if models and expected in [joint_sha256(sums[0], pieces) for pieces in sums[1]]:
        return expected
    found = sums[0] or sums[1]
    if expected in found and (len(found) == 1 or not models):
        return expected
    return next((sha256 for sha256 in found if sha256 != expected), "no subword model")


def _is_text(node):
    return node.op == "Const" and node.attr["dtype"].type == tf.string.as_datatype_enum


_FOUND = {
    "tokenizer": _tokenizer_sha256,
    "weights": lambda directory, _: weights_sha256(directory),
}
