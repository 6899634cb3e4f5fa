"""Models of other toolkits as models of this package."""

from keras_attention.convert.hugging_face import load_marian
from keras_attention.convert.marian_tokenizer import MarianTokenizer

__all__ = ["MarianTokenizer", "load_marian"]
