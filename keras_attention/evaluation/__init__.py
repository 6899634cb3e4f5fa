"""How good translations and trees are, and what heads attend to."""

from keras_attention.evaluation import attention_maps
from keras_attention.evaluation.attended_sentences import (
    AttendedSentence,
    attended_sentences,
)
from keras_attention.evaluation.attention_figure import draw_lines
from keras_attention.evaluation.attention_page import attention_page
from keras_attention.evaluation.brackets import BracketResult, score_brackets
from keras_attention.evaluation.corpus_bleu import BleuResult, corpus_bleu
from keras_attention.evaluation.corpus_chrf import ChrfResult, corpus_chrf
from keras_attention.evaluation.head_profiles import HeadReport
from keras_attention.evaluation.head_report import head_report
from keras_attention.evaluation.minimum_bayes_risk import minimum_bayes_risk
from keras_attention.evaluation.tokenized_bleu import tokenized_bleu

__all__ = [
    "AttendedSentence",
    "BleuResult",
    "BracketResult",
    "ChrfResult",
    "HeadReport",
    "attended_sentences",
    "attention_maps",
    "attention_page",
    "corpus_bleu",
    "corpus_chrf",
    "draw_lines",
    "head_report",
    "minimum_bayes_risk",
    "score_brackets",
    "tokenized_bleu",
]
