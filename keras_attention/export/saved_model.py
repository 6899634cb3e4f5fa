"""Writes a translator as a SavedModel version that appears whole or not at all."""

import contextlib
import logging
import pathlib

import tensorflow as tf

from keras_attention.export.folders import (
    check_translator,
    flush_folder,
    unfinished_folder,
)
from keras_attention.export.guard import check_self_contained, load_meta_graph
from keras_attention.export.manifest import write_manifest
from keras_attention.export.translation_module import MAX_BEAM_SIZE, TranslationModule
from keras_attention.export.verify import verify_saved_model
from keras_attention.export.warmup import (
    signature_inputs,
    warmup_requests,
    write_warmup,
)
from keras_attention.files import flush_to_disk

_LOGGER = logging.getLogger(__name__)
_DIGITS = 18  # of a version
# --enable_batching --enable_per_model_batching_parameters of a server read this file.
BATCHING = "batching_params.pbtxt"
BATCHING_PARAMETERS = """\
max_batch_size { value: 32 }
batch_timeout_micros { value: 5000 }
max_enqueued_batches { value: 100 }
num_batch_threads { value: 2 }
# Rows of ids differ in length; what stands behind their lengths is ignored.
pad_variable_length_inputs: true
# The parts of a split request would have outputs of different widths.
enable_large_batch_splitting { value: false }
"""


def export_saved_model(
    translator, directory, workdir=None, max_beam_size=None, texts=None
):
    """Writes `<directory>/<n+1>`, a SavedModel for TensorFlow Serving.

    The signature `serving_default` takes `text` (B,) string and returns
    `translation` (B,) string, `score` (B,) float32 and `truncated` (B,) bool; `nbest`,
    `score`, `explain`, `translate_ids` and `encode` are in the README of
    `saved_models/`. The version holds all it needs; to load it takes TensorFlow and
    the ops of tensorflow-text, which stock TensorFlow Serving carries, and not this
    package. Beside the graph lie requests that warm a server up, its batching
    parameters, and `manifest.json`.

    n is the highest version that is there, 0 if none. The folder is finished and
    checked, also against what `translator` says of 1 000 texts, under a name that no
    server takes for a version, then renamed: a version is whole or absent, also when
    the export is killed, and none is ever overwritten.

    Args:
        translator: a `Translator`.
        directory: folder of the model, made if it is missing.
        workdir: of the run, whose BLEU and averaged steps the manifest then tells.
        max_beam_size: of a request to `nbest`; None = 16, or the translator's own beam
            where that is wider, as a parser's is.
        texts: list of str or bytes that are translated by both and compared, of which
            the first 1 000 count; None = 1 000 made up of the tokenizer's pieces.

    Returns:
        `pathlib.Path` of the new version.

    Raises:
        ValueError: `translator` is no `Translator` or samples, `max_beam_size` is
            below its beam, `directory` is a file, or the finished model would not
            run in a server or not say there what `translator` says.
        OSError: it cannot be written.

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
    _check_name(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if max_beam_size is None:
        max_beam_size = max(MAX_BEAM_SIZE, translator.decoding_config.beam_size)
    with unfinished_folder(directory) as folder:
        module = TranslationModule(translator, max_beam_size)
        with _without_remarks(), _telling_of_the_disk(directory):
            tf.saved_model.save(module, str(folder), signatures=module.signatures)
        inputs = signature_inputs(load_meta_graph(folder))
        requests = warmup_requests(inputs, translator, max_beam_size=max_beam_size)
        write_warmup(folder, requests, directory.resolve().name)
        (folder / BATCHING).write_text(BATCHING_PARAMETERS, encoding="utf-8")
        write_manifest(translator, inputs, folder, workdir)
        check_self_contained(folder, _private_folders(directory, folder))
        _LOGGER.info("written; the C++ engine loads it and is compared")
        verify_saved_model(folder, translator, texts)
        flush_folder(folder)
        return _publish(folder, directory)


def _check_name(directory):
    try:
        str(directory.resolve()).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"`directory` must have a name in UTF-8, which the warm-up requests hold. "
            f"Received: {str(directory)!r}. Name another folder."
        ) from error


@contextlib.contextmanager
def _without_remarks():
    """TensorFlow spells the inputs of every function that a function captures."""
    # It says so through absl as well, whose verbosity a binary has set.
    loggers = [logging.getLogger(name) for name in ("tensorflow", "absl")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _telling_of_the_disk(directory):
    """Turns TensorFlow's errors of a disk that takes no more into an OSError."""
    try:
        yield
    except (tf.errors.ResourceExhaustedError, tf.errors.OutOfRangeError) as error:
        reason = (error.message or str(error)).strip().splitlines()[0]
        raise OSError(
            f"Cannot write to {directory}: {reason}. Nothing was exported; make room."
        ) from error


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
    """Returns the highest number among the names in a folder, or 0.

    A server reads 64 bits: longer numbers are no versions to it.
    """
    names = (path.name for path in directory.iterdir())
    digits = (x for x in names if x.isascii() and x.isdigit() and len(x) <= _DIGITS)
    return max(map(int, digits), default=0)


def _private_folders(directory, folder):
    """Folders of this machine that a version must not name."""
    package = pathlib.Path(__file__).resolve().parents[2]
    paths = (pathlib.Path.cwd(), directory.resolve(), folder.resolve(), package)
    return {path.absolute() for path in paths}
