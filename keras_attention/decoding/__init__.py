"""Search for the best translation: over any step function, and over texts."""

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import BeamSearchOutput, length_penalty
from keras_attention.decoding.ensemble import Ensemble
from keras_attention.decoding.sampling import sample
from keras_attention.decoding.translation import Hypothesis, Translation
from keras_attention.decoding.translator import Translator

__all__ = [
    "BeamSearchOutput",
    "Ensemble",
    "Hypothesis",
    "Translation",
    "Translator",
    "beam_search",
    "length_penalty",
    "sample",
]
