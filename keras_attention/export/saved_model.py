"""Writes a translator as a SavedModel version that appears whole or not at all."""

import importlib.metadata
import json
import pathlib

import tensorflow as tf

from keras_attention.export.folders import (
    check_translator,
    flush_folder,
    unfinished_folder,
)
from keras_attention.export.guard import check_restored, check_self_contained
from keras_attention.export.translation_module import TranslationModule
from keras_attention.files import flush_to_disk

MANIFEST = "manifest.json"
_PACKAGES = ("keras_attention", "tensorflow", "tensorflow-text", "keras")


def export_saved_model(translator, directory):
    """Writes `<directory>/<n+1>`, a SavedModel for TensorFlow Serving.

    The signature `serving_default` takes `text` (B,) string and returns
    `translation` (B,) string, `score` (B,) float32 and `truncated` (B,) bool. The
    version holds all it needs; to load it takes TensorFlow and the ops of
    tensorflow-text, which stock TensorFlow Serving carries, and not this package.

    n is the highest version that is there, 0 if none. The folder is finished and
    checked under a name that no server takes for a version, then renamed: a version
    is whole or absent, also when the export is killed, and none is ever overwritten.

    Args:
        translator: a `Translator`.
        directory: folder of the model, made if it is missing.

    Returns:
        `pathlib.Path` of the new version.

    Raises:
        ValueError: `translator` is no `Translator`, `directory` is a file, or the
            finished model would not run in a server.

    Example:

    >>> import tempfile
    >>> import keras_attention as ka
    >>> tokenizer = ka.SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    >>> config = ka.TransformerConfig(16, num_layers=1, model_dim=8, num_heads=2)
    >>> translator = ka.Translator(ka.build_transformer(config), tokenizer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_saved_model(translator, folder).name
    '1'
    """
    check_translator(translator)
    directory = pathlib.Path(directory)
    if directory.exists() and not directory.is_dir():
        raise ValueError(
            f"`directory` must be a folder or not exist. Received: {str(directory)!r}, "
            f"which is a file. Name another folder."
        )
    directory.mkdir(parents=True, exist_ok=True)
    with unfinished_folder(directory) as folder:
        module = TranslationModule(translator)
        tf.saved_model.save(module, str(folder), signatures=module.signatures)
        _write_manifest(translator, module, folder / MANIFEST)
        check_restored(folder)
        check_self_contained(folder, _private_folders(directory, folder))
        flush_folder(folder)
        return _publish(folder, directory)


def _publish(folder, directory):
    """Renames the finished folder to the next free version, and returns that."""
    while True:
        target = directory / str(_last_version(directory) + 1)
        try:
            folder.rename(target)
        except OSError:
            if not target.exists():
                raise
            continue  # another export took this number in the meantime
        flush_to_disk(directory)
        return target


def _last_version(directory):
    """Returns the highest number among the names in a folder, or 0."""
    names = (path.name for path in directory.iterdir())
    return max((int(x) for x in names if x.isascii() and x.isdigit()), default=0)


def _write_manifest(translator, module, path):
    """Says what the version was made of, beside the graph."""
    tokenizer = translator.tokenizer
    manifest = {
        "signatures": sorted(module.signatures),
        "transformer": translator.model.transformer_config.to_dict(),
        "decoding": translator.decoding_config.to_dict(),
        "tokenizer": {
            "kind": tokenizer.kind,
            "vocabulary_size": tokenizer.vocabulary_size,
            "sha256": tokenizer.sha256,
        },
        "versions": {name: _installed_version(name) for name in _PACKAGES},
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _installed_version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None  # run from a checkout that was never installed


def _private_folders(directory, folder):
    """Folders of this machine that a version must not name."""
    package = pathlib.Path(__file__).resolve().parents[2]
    paths = (pathlib.Path.cwd(), directory.resolve(), folder.resolve(), package)
    return {path.absolute() for path in paths}
