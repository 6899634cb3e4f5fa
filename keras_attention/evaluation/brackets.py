"""Labelled bracket scores of trees, by the rules of the program EVALB."""

import collections
import dataclasses

from keras_attention.evaluation.bracket_summary import (
    ERROR,
    SKIPPED,
    VALID,
    BracketResult,
    SentenceBrackets,
)
from keras_attention.evaluation.corpus_bleu import check_strings
from keras_attention.evaluation.evalb_parameters import COLLINS, read_evalb_parameters
from keras_attention.evaluation.evalb_sentences import (
    Sentence,
    balance_end,
    mend_quotes,
)


def score_brackets(gold_lines, predicted_lines, parameter_file=None):
    """Compares predicted trees with gold trees, as the program EVALB does.

    A bracket is right if the other tree has one over the same words with the same
    label; each counts once. Function tags, punctuation, traces and the root are left
    out, and `PRT` counts as `ADVP`: the rules of `COLLINS.prm`, unless a file gives
    others. A sentence whose words differ from those of its gold tree, or whose
    brackets are broken, is an error and in no total; `strict_f1` counts it too, as
    `BracketSummary` tells.

    Deviations from EVALB: where the program stops or reads beyond its memory (text
    outside of brackets, three elements in a bracket, one closed too often, more
    errors than `MAX_ERROR`, lines of 5000 bytes), the sentence is an error and the
    others are scored.

    Args:
        gold_lines, predicted_lines: lists of str, one tree a line, as
            `(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))`.
        parameter_file: path of a parameter file of EVALB; None = `COLLINS.prm`.

    Returns:
        `BracketResult`.

    Raises:
        ValueError: something that is no list of str, empty lists, lists of different
            lengths, or a parameter file that is missing or wrong.

    Example:

    >>> gold = ["(S (NP (PRP It)) (VP (VBZ works) (ADVP (RB well))))"]
    >>> result = score_brackets(gold, ["(S (NP (PRP It)) (VP (VBZ works) (RB well)))"])
    >>> result.precision, result.recall, round(result.f1, 2), result.matched
    (100.0, 75.0, 85.71, 3)

    Reference:
        Section 6.3 (F1 of section 23); Collins 1997, "Three Generative, Lexicalised
        Models for Statistical Parsing".
    """
    gold_lines = check_strings("gold_lines", gold_lines)
    predicted_lines = check_strings("predicted_lines", predicted_lines)
    if len(gold_lines) != len(predicted_lines):
        raise ValueError(
            "Expected one predicted tree for each gold tree. Received: "
            f"{len(gold_lines)} gold and {len(predicted_lines)} predicted lines."
        )
    parameters = COLLINS
    if parameter_file is not None:
        parameters = read_evalb_parameters(parameter_file)
    pairs = zip(gold_lines, predicted_lines, strict=True)
    rows = tuple(
        _with_strict(_score(number, *pair, parameters), *pair, parameters)
        for number, pair in enumerate(pairs, start=1)
    )
    return BracketResult(rows, parameters.cutoff_length)


def _with_strict(row, gold_line, predicted_line, parameters):
    """Returns the row of two lines with what is strictly counted of them."""
    if row.status == VALID:
        return dataclasses.replace(row, strict=(row.matched, row.gold, row.predicted))
    gold = Sentence(gold_line, parameters)
    if gold.error or not (gold.words or row.status == ERROR):
        return row  # nothing to compare with, or nothing to find
    mended = _score(row.number, gold_line, balance_end(predicted_line), parameters)
    if mended.status == VALID:
        strict = mended.matched, mended.gold, mended.predicted
        return dataclasses.replace(row, strict=strict, repaired=True)
    return dataclasses.replace(row, strict=(0, len(gold.spans()), 0), unusable=True)


def _score(number, gold_line, predicted_line, parameters):
    """Returns the `SentenceBrackets` of two lines, nothing strict in it."""
    gold = Sentence(gold_line, parameters)
    predicted = Sentence(predicted_line, parameters)
    row = SentenceBrackets(number, gold.length)
    error = _broken(gold, predicted)
    if not predicted.words:
        error = error or "the predicted tree has no words"
        return dataclasses.replace(row, status=SKIPPED, error=error)
    if len(gold.words) != len(predicted.words):
        mend_quotes(gold, predicted)
    differing = _differing(gold.words, predicted.words, parameters)
    if differing:
        return dataclasses.replace(row, status=ERROR, error=error or differing)
    ours, theirs = gold.spans(), predicted.spans()
    tags = zip(gold.tags, predicted.tags, strict=True)
    return dataclasses.replace(
        row,
        status=ERROR if error else VALID,
        matched=_matched(ours, theirs, parameters),
        gold=len(ours),
        predicted=len(theirs),
        crossing=_crossing(ours, theirs),
        words=len(gold.words),
        correct_tags=sum(parameters.same_label(*pair) for pair in tags),
        error=error,
    )


def _broken(gold, predicted):
    """Says what is wrong with the brackets of one of the two, or None."""
    if gold.error:
        return f"gold tree: {gold.error}"
    return f"predicted tree: {predicted.error}" if predicted.error else None


def _differing(gold, predicted, parameters):
    """Says in what two lists of words differ, or None."""
    if len(gold) != len(predicted):
        return f"{len(gold)} words in the gold tree, {len(predicted)} in the predicted"
    for one, other in zip(gold, predicted, strict=True):
        if not parameters.same_word(one, other):
            return f"{one!r} in the gold tree, {other!r} in the predicted one"
    return None


def _matched(gold, predicted, parameters):
    """Counts the brackets of `gold` that have a counterpart, each taken once.

    The first bracket that fits is taken, as EVALB does: labels need not be equal in a
    transitive way, so another one could leave more for the rest.
    """
    left = collections.defaultdict(list)
    for start, end, label in predicted:
        left[start, end].append(label)
    matched = 0
    for start, end, label in gold:
        labels = left[start, end]
        for index, other in enumerate(labels):
            if not parameters.labelled or parameters.same_label(label, other):
                del labels[index]
                matched += 1
                break
    return matched


def _crossing(gold, predicted):
    """Counts the brackets of `predicted` that cross one of `gold`."""
    spans = {(start, end) for start, end, _ in gold}
    return sum(
        any(
            first < start < last < end or start < first < end < last
            for first, last in spans
        )
        for start, end, _ in predicted
    )
