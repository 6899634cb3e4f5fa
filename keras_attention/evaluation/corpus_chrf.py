"""chrF of a corpus by sacreBLEU: overlaps of characters instead of words."""

import dataclasses

from keras_attention.evaluation.corpus_bleu import check_beside


@dataclasses.dataclass(frozen=True)
class ChrfResult:
    """The chrF of a corpus.

    Attributes:
        score: 0 to 100.
        signature: how it was computed, as sacreBLEU writes it; quote both.
    """

    score: float
    signature: str


def corpus_chrf(hypotheses, references):
    """Returns the chrF2 of detokenised translations against raw references.

    Character 1-grams to 6-grams without spaces, recall weighed twice, mixed case: the
    defaults of sacreBLEU.

    Args:
        hypotheses: list of str, one translation a sentence.
        references: list of str, the one reference of each sentence.

    Returns:
        `ChrfResult`.

    Raises:
        ValueError: something that is no list of str, empty lists, or lists of
            different lengths.

    Example:

    >>> result = corpus_chrf(["Two dogs run home ."], ["Two dogs run home ."])
    >>> round(result.score, 1), result.signature.split("|")[1]
    (100.0, 'case:mixed')

    Reference:
        Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".
    """
    hypotheses, references = check_beside("chrF", hypotheses, references)
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    score = metric.corpus_score(hypotheses, [references]).score
    return ChrfResult(score=score, signature=str(metric.get_signature()))
