"""How good translations are."""

from keras_attention.evaluation.corpus_bleu import BleuResult, corpus_bleu

__all__ = ["BleuResult", "corpus_bleu"]
