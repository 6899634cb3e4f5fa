"""keras_attention: "Attention Is All You Need" in Keras 3, from layers to serving.

Importing the package registers every layer, loss, schedule and model with Keras, so
`keras.saving.load_model` needs no `custom_objects`. The names that need the TensorFlow
backend (data, search, export) are imported when they are first used: the layers, the
model and the loss run on every backend of Keras.

Example:

>>> import keras_attention as ka
>>> config = ka.TransformerConfig.from_preset("base", vocabulary_size=37_000)
>>> config.num_layers
6
"""

import importlib

from keras_attention import layers, models, objectives, ops
from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.layers import (
    AddAndNorm,
    DecoderBlock,
    EncoderBlock,
    LearnedPositionalEmbedding,
    MultiHeadAttention,
    PositionwiseFeedForward,
    SinusoidalPositionalEncoding,
    TokenEmbedding,
)
from keras_attention.models import Transformer, build_transformer
from keras_attention.objectives import (
    LabelSmoothedCrossEntropy,
    NoamSchedule,
    make_optimizer,
)
from keras_attention.presets import PRESETS
from keras_attention.version import __version__
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID, UNK_ID

_NEEDS_TENSORFLOW = {
    "Ensemble": "keras_attention.decoding.ensemble",
    "SubwordTokenizer": "keras_attention.data.tokenizer",
    "Translator": "keras_attention.decoding.translator",
    "beam_search": "keras_attention.decoding.beam_search",
    "export_saved_model": "keras_attention.export.saved_model",
}
_ROOMS_NEEDING_TENSORFLOW = (
    "convert",
    "data",
    "decoding",
    "evaluation",
    "export",
    "training",
)

__all__ = [
    "END_ID",
    "PAD_ID",
    "PRESETS",
    "START_ID",
    "UNK_ID",
    "AddAndNorm",
    "DecoderBlock",
    "DecodingConfig",
    "EncoderBlock",
    "Ensemble",
    "LabelSmoothedCrossEntropy",
    "LearnedPositionalEmbedding",
    "MultiHeadAttention",
    "NoamSchedule",
    "PositionwiseFeedForward",
    "SinusoidalPositionalEncoding",
    "SubwordTokenizer",
    "TokenEmbedding",
    "TrainingConfig",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "__version__",
    "beam_search",
    "build_transformer",
    "convert",
    "data",
    "decoding",
    "evaluation",
    "export",
    "export_saved_model",
    "layers",
    "make_optimizer",
    "models",
    "objectives",
    "ops",
    "training",
]


def __getattr__(name):
    """Imports a name that needs the TensorFlow backend when it is first used."""
    if name in _NEEDS_TENSORFLOW:
        value = getattr(importlib.import_module(_NEEDS_TENSORFLOW[name]), name)
    elif name in _ROOMS_NEEDING_TENSORFLOW:
        return importlib.import_module(f"keras_attention.{name}")
    else:
        raise AttributeError(f"module 'keras_attention' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
