"""BLEU of tokens with compounds split: how the paper's Table 2 was scored."""

import re

from keras_attention.evaluation.corpus_bleu import BleuResult, check_beside
from keras_attention.evaluation.moses_tokenizer import moses_tokenize

# Scores of English-German are of split compounds "for historical reasons" (GNMT,
# ConvS2S and the paper); those of other pairs are not.
SPLIT_COMPOUNDS = ("de",)
_HYPHEN = re.compile(r"(\S)-(\S)")


def tokenized_bleu(hypotheses, references, language="de"):
    """Returns the BLEU of Moses tokens, compounds of German split at their hyphens.

    The recipe of `get_ende_bleu.sh` (tensor2tensor), from detokenised translations
    and raw references: `tokenizer.perl -l LANGUAGE`, `rich-text` becomes
    `rich ##AT##-##AT## text`, then `multi-bleu.perl`: mixed case, up to 4-grams, no
    smoothing. It is for comparing with Table 2 and papers of that time; quote
    `corpus_bleu` otherwise. On newstest2014 it has 64 496 reference tokens, `13a`
    62 688, and more tokens that are right by themselves make it the higher one.

    Deviation: that script also replaces some Unicode punctuation in the translations,
    because its reference file has none; here both sides stay as they are.

    Args:
        hypotheses: list of str, one translation a sentence.
        references: list of str, the one reference of each sentence.
        language: of both, "de", "en" or "fr".

    Returns:
        `BleuResult`; the signature names the tokenisation.

    Raises:
        ValueError: something that is no list of str, empty lists, lists of different
            lengths, or another language.

    Example:

    >>> result = tokenized_bleu(["ein Rich-Text-Format"], ["ein Rich-Text-Format"])
    >>> result.reference_length, result.signature.split("|")[3]
    (6, 'tok:moses-de+compounds')

    Reference:
        Section 6.1, Table 2.
    """
    hypotheses, references = check_beside("BLEU", hypotheses, references)
    sides = [
        [_tokens(text, language) for text in texts]
        for texts in (hypotheses, references)
    ]
    from sacrebleu.metrics import BLEU

    # `force`: that the text is tokenised already is meant.
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    found = metric.corpus_score(sides[0], [sides[1]])
    name = f"moses-{language}" + "+compounds" * (language in SPLIT_COMPOUNDS)
    return BleuResult(
        score=found.score,
        signature=str(metric.get_signature()).replace("tok:none", f"tok:{name}"),
        precisions=tuple(found.precisions),
        brevity_penalty=found.bp,
        hypothesis_length=found.sys_len,
        reference_length=found.ref_len,
    )


def _tokens(text, language):
    """Returns a text as its tokens with spaces between them."""
    tokens = " ".join(moses_tokenize(text, language))
    if language in SPLIT_COMPOUNDS:
        # What follows a hyphen is used up: `A-B-C` is split once.
        return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", tokens)
    return tokens
