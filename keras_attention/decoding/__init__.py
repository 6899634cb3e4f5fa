"""Search for the best translation: over any step function, and over texts."""

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import BeamSearchOutput, length_penalty

__all__ = ["BeamSearchOutput", "beam_search", "length_penalty"]
