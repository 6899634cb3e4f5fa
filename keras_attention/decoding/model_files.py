"""Whether a `.keras` file is whole, before Keras builds and fills what it describes.

Keras itself looks at no checksum of the weights: a flipped bit of the file would be a
flipped bit of the model. And it makes all variables before it reads the first, so a
damaged size would take all memory.
"""

import struct
import zipfile
import zlib

import keras
import numpy as np

from keras_attention.config import TransformerConfig
from keras_attention.files import parse_object
from keras_attention.models.transformer import Transformer

MEMBERS = ("config.json", "metadata.json", "model.weights.h5")
# What Python raises for a zip file that is cut short or changed.
DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
_LEAST_BYTES = 2  # of a weight in a file
_MOST_CONFIG_BYTES = 1 << 20


def read_model_config(path):
    """Returns what a `.keras` file says of its model, after a look at all of it.

    Args:
        path: of the file.

    Returns:
        A dictionary with "class_name", "registered_name" and "config".

    Raises:
        ValueError: the file is cut short or changed, it holds other members than
            Keras writes for a model, or too few weights for the model it describes.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive)
            record = parse_object(archive.read(MEMBERS[0]))
            size = archive.getinfo(MEMBERS[2]).file_size
    except DAMAGE as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if not isinstance(record.get("config"), dict):
        raise ValueError(f"{MEMBERS[0]} without the configuration of a model")
    if is_transformer(record):
        _check_size(record["config"], size)
    return record


def is_transformer(record):
    """Whether a file of this `read_model_config` is that of a `Transformer`."""
    name = record.get("registered_name")
    known = keras.saving.get_registered_object(name) if isinstance(name, str) else None
    return isinstance(known, type) and issubclass(known, Transformer)


def _check_members(archive):
    names = sorted(archive.namelist())
    if names != sorted(MEMBERS):
        raise ValueError(
            f"expected {', '.join(MEMBERS)}, received {', '.join(names)[:200]}"
        )
    if archive.getinfo(MEMBERS[0]).file_size > _MOST_CONFIG_BYTES:
        raise ValueError(f"{MEMBERS[0]} of more than {_MOST_CONFIG_BYTES} bytes")
    changed = archive.testzip()
    if changed is not None:
        raise ValueError(f"{changed} has another checksum than was written")


def _check_size(fields, size):
    fields = {k: v for k, v in fields.items() if k not in ("dtype", "name")}
    try:
        least = _LEAST_BYTES * least_weights(TransformerConfig.from_dict(fields))
    except TypeError as error:
        raise ValueError(f"no configuration of a Transformer ({error})") from error
    if least > size:
        raise ValueError(
            f"{size} bytes of weights for a model that has at least {least}"
        )


def least_weights(config):
    """Returns a number of weights that a model has for certain, without making it.

    Biases and norms are left out.

    Args:
        config: `TransformerConfig`.

    Example:

    >>> least_weights(TransformerConfig.from_preset("base", vocabulary_size=37_000))
    62984192
    """
    key_dim, value_dim = config.head_dims()
    attention = 2 * config.model_dim * config.num_heads * (key_dim + value_dim)
    feed_forward = 2 * config.model_dim * config.feed_forward_dim
    rows = config.vocabulary_size * (1 if config.share_embeddings else 3)
    rows += 2 * (config.max_length or 0)
    blocks = config.num_layers * (3 * attention + 2 * feed_forward)
    return rows * config.model_dim + blocks


def check_finite(model):
    """Raises ValueError if a weight of a model is no finite number."""
    for weight in model.weights:
        if not np.isfinite(keras.ops.convert_to_numpy(weight)).all():
            raise ValueError(f"{weight.path} is not finite everywhere")
