"""Search for the best translation: over any step function, and over texts."""

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import BeamSearchOutput, length_penalty
from keras_attention.decoding.translation import Translation
from keras_attention.decoding.translator import Translator

__all__ = [
    "BeamSearchOutput",
    "Translation",
    "Translator",
    "beam_search",
    "length_penalty",
]
