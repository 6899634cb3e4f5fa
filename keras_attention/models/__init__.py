"""The Transformer as one flat Functional Keras model."""

from keras_attention.models.build import build_transformer as build_transformer
from keras_attention.models.transformer import Transformer as Transformer
