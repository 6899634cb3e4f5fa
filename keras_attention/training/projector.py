"""The embedding matrices of a model for TensorBoard's projector, labelled by piece."""

import pathlib

import tensorflow as tf
from google.protobuf import text_format
from tensorboard.plugins.projector import ProjectorConfig

from keras_attention.files import write_atomically

CONFIG = "projector_config.pbtxt"  # these two names are those TensorBoard looks for
LATEST = "checkpoint"
PIECES = "pieces.tsv"
_MATRICES = "embeddings-"
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def write_projector(directory, step, matrices, pieces):
    """Writes matrices as they are now; then those of an earlier update are deleted.

    A reader finds the old ones or the new ones, whole. All paths are relative: the
    directory may be moved.

    Args:
        directory: of the event files.
        step: updates done.
        matrices: name -> tensor of shape (V, D).
        pieces: V str, in the order of the rows.
    """
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    name = f"{_MATRICES}{step}"
    # Not tf.train.Checkpoint: the projector would show its keys instead of names.
    tf.raw_ops.SaveV2(
        prefix=str(directory / name),
        tensor_names=list(matrices),
        shape_and_slices=[""] * len(matrices),
        tensors=list(matrices.values()),
    )
    write_atomically(directory / PIECES, metadata(pieces))
    config = ProjectorConfig()
    for key in matrices:
        config.embeddings.add(tensor_name=key, metadata_path=PIECES)
    write_atomically(directory / CONFIG, text_format.MessageToString(config))
    write_atomically(directory / LATEST, f'model_checkpoint_path: "{name}"\n')
    for old in directory.glob(f"{_MATRICES}*"):
        if old.stem != name:
            old.unlink()


def delete_projector(directory):
    """Deletes what `write_projector` wrote, if it did."""
    directory = pathlib.Path(directory)
    for name in (LATEST, CONFIG, PIECES):
        (directory / name).unlink(missing_ok=True)
    for path in directory.glob(f"{_MATRICES}*"):
        path.unlink()


def metadata(pieces):
    r"""Returns the labels of rows as text, one a line; it has one column, so no header.

    Example:

    >>> metadata(["[PAD]", "a\tb", "c\n"])
    '[PAD]\na\\tb\nc\\n\n'
    """
    return "".join(f"{piece.translate(_ESCAPES)}\n" for piece in pieces)
