"""What translation needs of the directory of a run."""

import json
import pathlib
import zipfile
import zlib

import keras

from keras_attention.config import DecodingConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.ensemble import Ensemble
from keras_attention.models.transformer import Transformer

# What Keras raises for a model file that is cut short or changed.
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def load_parts(workdir):
    """Returns (model, tokenizer, decoding configuration) of a finished run.

    Args:
        workdir: a directory with `config.json`, `tokenizer/` and `model.keras`.

    Raises:
        ValueError: one of them is missing or is not what it should be, or the
            tokenizer is not the one that the model was trained with.
    """
    workdir = pathlib.Path(workdir)
    config, recorded = _read_config(workdir / "config.json")
    tokenizer = SubwordTokenizer.load(workdir / "tokenizer")
    if recorded not in (None, tokenizer.sha256):  # None: not recorded
        raise ValueError(
            f"{workdir / 'tokenizer'} must hold the tokenizer that the run was trained "
            f"with, of sha256 {recorded}. Received: {tokenizer.sha256}. Restore it."
        )
    path = workdir / "model.keras"
    if not path.is_file():
        raise ValueError(
            "A run to translate with must hold the averaged model. Received: "
            f"{path}, which is missing. Train first, or average its checkpoints."
        )
    return load_transformer(path), tokenizer, config


def load_ensemble(workdir, others, average):
    """Returns (model, tokenizer, decoding configuration) of several finished runs.

    Args:
        workdir: of the run whose tokenizer and configuration are returned.
        others: those of the other models.
        average: as for `Ensemble`.

    Raises:
        ValueError: as `load_parts`, or a run with another tokenizer.
    """
    first, tokenizer, config = load_parts(workdir)
    models = [first]
    for other in others:
        model, its_tokenizer, _ = load_parts(other)
        if its_tokenizer.sha256 != tokenizer.sha256:
            raise ValueError(
                "The runs of an ensemble need one tokenizer. Received: "
                f"{workdir} with that of sha256 {tokenizer.sha256} and {other} with "
                f"{its_tokenizer.sha256}. Leave one of them out."
            )
        models.append(model)
    return Ensemble(models, average), tokenizer, config


def load_transformer(path):
    """Returns the `Transformer` of a `model.keras`, not compiled.

    Args:
        path: of the file.

    Raises:
        ValueError: the file is damaged, or holds another kind of model.
    """
    try:
        model = keras.models.load_model(path, compile=False)
    except _DAMAGE as error:
        raise ValueError(
            f"{path} must be a model that Keras can read. Received: a damaged file "
            f"({type(error).__name__}: {error}). Average the checkpoints of its run "
            "again."
        ) from error
    if not isinstance(model, Transformer):
        raise ValueError(
            f"{path} must hold a Transformer. Received: {type(model).__name__}. "
            "Pass the workdir of a run of this package."
        )
    return model


def _read_config(path):
    # -> (how to search, sha256 of the tokenizer or None)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        decoding = DecodingConfig.from_dict(record["decoding"])
        return decoding, record.get("data", {}).get("tokenizer_sha256")
    except OSError as error:
        raise ValueError(
            f"A run to translate with must hold a readable {path.name}. Received: "
            f"{path} ({error.strerror}). Pass the workdir of a run."
        ) from error
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} must be the configuration of a run, with a part `decoding`. "
            f"Received: {error!r}. Mend it or pass another workdir."
        ) from error
