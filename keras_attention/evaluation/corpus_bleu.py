"""sacreBLEU of a corpus, with the counts and the shape of its inputs checked."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class BleuResult:
    """The BLEU of a corpus.

    Attributes:
        score: 0 to 100.
        signature: how it was computed, as sacreBLEU writes it; quote both.
        precisions: of 1-grams to 4-grams, 0 to 100.
        brevity_penalty: the factor for translations that are too short, at most 1.
        hypothesis_length, reference_length: tokens of both sides.
    """

    score: float
    signature: str
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int


def corpus_bleu(hypotheses, references, lowercase=False):
    """Returns the BLEU of detokenised translations against raw references.

    Tokenised by sacreBLEU's `13a`, mixed case, up to 4-grams, smoothing `exp`.

    Args:
        hypotheses: list of str, one translation a sentence.
        references: list of str, the one reference of each sentence.
        lowercase: compare without regard to case.

    Returns:
        `BleuResult`.

    Raises:
        ValueError: something that is no list of str, empty lists, or lists of
            different lengths.

    Example:

    >>> result = corpus_bleu(["Two dogs run home ."], ["Two dogs run home ."])
    >>> round(result.score, 1), result.signature.split("|")[1]
    (100.0, 'case:mixed')

    Reference:
        Post 2018, "A Call for Clarity in Reporting BLEU Scores".
    """
    hypotheses, references = check_beside("BLEU", hypotheses, references)
    from sacrebleu.metrics import BLEU

    metric = BLEU(lowercase=lowercase, tokenize="13a")
    found = metric.corpus_score(hypotheses, [references])
    return BleuResult(
        score=found.score,
        signature=str(metric.get_signature()),
        precisions=tuple(found.precisions),
        brevity_penalty=found.bp,
        hypothesis_length=found.sys_len,
        reference_length=found.ref_len,
    )


def check_beside(score, hypotheses, references):
    """Returns both sides as lists of str, of which each has its counterpart.

    Args:
        score: name of what is computed, for the message.
        hypotheses, references: iterables of str.

    Raises:
        ValueError: something that is no list of str, empty lists, or lists of
            different lengths.
    """
    hypotheses = check_strings("hypotheses", hypotheses)
    references = check_strings("references", references)
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{score} needs one reference for each hypothesis. Received: "
            f"{len(hypotheses)} hypotheses and {len(references)} references."
        )
    return hypotheses, references


def check_strings(name, values):
    """Returns a list of str, one a sentence.

    Raises:
        ValueError: something that is no list of str, or an empty list.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"`{name}` must be a list of str, one a sentence. Received: {values!r}. "
            "Put a single sentence into a list."
        )
    values = list(values)
    for row, value in enumerate(values):
        if not isinstance(value, str):
            raise ValueError(
                f"`{name}` must hold nothing but str, one a sentence. Received: "
                f"{type(value).__name__} at index {row}. Several references a "
                "sentence are not supported; decode bytes first."
            )
    if not values:
        raise ValueError(
            f"`{name}` must hold at least one sentence. Received: an empty list. "
            "The score of nothing is not defined."
        )
    return values
