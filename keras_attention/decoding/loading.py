"""What translation needs of the directory of a run."""

import json
import pathlib

import keras

from keras_attention.config import DecodingConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.models.transformer import Transformer


def load_parts(workdir):
    """Returns (model, tokenizer, decoding configuration) of a finished run.

    Args:
        workdir: a directory with `config.json`, `tokenizer/` and `model.keras`.

    Raises:
        ValueError: one of them is missing or is not what it should be.
    """
    workdir = pathlib.Path(workdir)
    config = _read_decoding_config(workdir / "config.json")
    tokenizer = SubwordTokenizer.load(workdir / "tokenizer")
    path = workdir / "model.keras"
    if not path.is_file():
        raise ValueError(
            "A run to translate with must hold the averaged model. Received: "
            f"{path}, which is missing. Train first, or average its checkpoints."
        )
    model = keras.models.load_model(path, compile=False)
    if not isinstance(model, Transformer):
        raise ValueError(
            f"{path} must hold a Transformer. Received: {type(model).__name__}. "
            "Pass the workdir of a run of this package."
        )
    return model, tokenizer, config


def _read_decoding_config(path):
    try:
        values = json.loads(path.read_text(encoding="utf-8"))["decoding"]
        return DecodingConfig.from_dict(values)
    except OSError as error:
        raise ValueError(
            f"A run to translate with must hold a readable {path.name}. Received: "
            f"{path} ({error.strerror}). Pass the workdir of a run."
        ) from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} must be the configuration of a run, with a part `decoding`. "
            f"Received: {error!r}. Mend it or pass another workdir."
        ) from error
