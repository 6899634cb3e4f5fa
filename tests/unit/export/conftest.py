"""A small translator whose weights are drawn so that it says something."""

import keras
import pytest

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.translator import Translator
from keras_attention.export.translation_module import TranslationModule
from keras_attention.models.build import build_transformer

LINES = ["to be or not to be", "that is the question"] * 4


@pytest.fixture(scope="session")
def translator():
    keras.utils.set_random_seed(1)
    tokenizer = SubwordTokenizer.learn_from_lines(LINES, 24)
    config = TransformerConfig(
        24, num_layers=1, model_dim=8, num_heads=2, feed_forward_dim=16
    )
    decoding = DecodingConfig(
        beam_size=2, max_extra_length=2, max_source_length=6, num_hypotheses=2
    )
    model = build_transformer(config)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)
    return Translator(model, tokenizer, decoding)


@pytest.fixture(scope="session")
def module(translator):
    """All signatures, beams of up to 5; traced once."""
    return TranslationModule(translator, max_beam_size=5)
