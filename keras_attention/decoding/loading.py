"""What translation needs of the directory of a run."""

import pathlib

import keras

from keras_attention.config import DecodingConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.ensemble import Ensemble
from keras_attention.decoding.model_files import (
    DAMAGE,
    check_finite,
    is_transformer,
    read_model_config,
)
from keras_attention.files import parse_object

# What Keras raises for a model file that is cut short or changed.
_DAMAGE = (*DAMAGE, LookupError, TypeError, AttributeError)
_MOST_SAID = 300  # Keras spells whole configurations


def load_parts(workdir):
    """Returns (model, tokenizer, decoding configuration) of a finished run.

    Args:
        workdir: a directory with `config.json`, `tokenizer/` and `model.keras`.

    Raises:
        ValueError: one of them is missing or is not what it should be, or the
            tokenizer is not the one that the model was trained with.
    """
    workdir = pathlib.Path(workdir)
    config, recorded = _read_config(workdir)
    tokenizer = SubwordTokenizer.load(workdir / "tokenizer", recorded)
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
        record = read_model_config(path)
        if not is_transformer(record):
            raise _OtherModel(record.get("class_name"))
        model = keras.models.load_model(path, compile=False)
        check_finite(model)
    except _OtherModel as error:
        raise ValueError(
            f"{path} must hold a Transformer. Received: {error}. "
            "Pass the workdir of a run of this package."
        ) from error
    except _DAMAGE as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"{path} must be a model that Keras can read. Received: a damaged file "
            f"({reason[:_MOST_SAID]}). Average the checkpoints of its run again."
        ) from error
    return model


class _OtherModel(Exception):
    """A whole file, of something else than a `Transformer`."""


def read_record(workdir):
    """Returns what `config.json` of a run says, as a dictionary.

    Its parts "decoding" and "data", and in that "sources" if there are some, are
    dictionaries; what they hold is not checked.

    Raises:
        ValueError: the file is missing, unreadable or damaged.
    """
    path = pathlib.Path(workdir) / "config.json"
    try:
        record = parse_object(path.read_bytes())
    except OSError as error:
        raise ValueError(
            f"A run to translate with must hold a readable {path.name}. Received: "
            f"{path} ({error.strerror}). Pass the workdir of a run."
        ) from error
    except ValueError as error:
        raise _no_config(path, error) from error
    parts = [record.get("decoding"), record.get("data", {})]
    if all(isinstance(part, dict) for part in parts):
        parts.append(parts[1].get("sources") or {})
    if not all(isinstance(part, dict) for part in parts):
        raise _no_config(path, f"parts {', '.join(sorted(record)) or 'of no name'}")
    return record


def _read_config(workdir):
    # -> (how to search, sha256 of the tokenizer or None)
    record = read_record(workdir)
    try:
        decoding = DecodingConfig.from_dict(record["decoding"])
    except TypeError as error:  # of a value that is no field's, such as a null
        raise _no_config(pathlib.Path(workdir) / "config.json", error) from error
    return decoding, record.get("data", {}).get("tokenizer_sha256")


def _no_config(path, received):
    return ValueError(
        f"{path} must be the configuration of a run, with objects `decoding` and "
        f"`data`. Received: {received}. Mend it or pass another workdir."
    )
