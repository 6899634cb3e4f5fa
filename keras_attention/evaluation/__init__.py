"""How good translations and trees are."""

from keras_attention.evaluation.brackets import BracketResult, score_brackets
from keras_attention.evaluation.corpus_bleu import BleuResult, corpus_bleu
from keras_attention.evaluation.corpus_chrf import ChrfResult, corpus_chrf
from keras_attention.evaluation.minimum_bayes_risk import minimum_bayes_risk

__all__ = [
    "BleuResult",
    "BracketResult",
    "ChrfResult",
    "corpus_bleu",
    "corpus_chrf",
    "minimum_bayes_risk",
    "score_brackets",
]
