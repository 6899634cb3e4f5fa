"""Labelled bracket scores of trees, by the rules of the program EVALB."""

import collections
import dataclasses

from keras_attention.evaluation.corpus_bleu import check_strings
from keras_attention.evaluation.evalb_parameters import COLLINS, read_evalb_parameters
from keras_attention.evaluation.evalb_report import sentence_table, summary_text
from keras_attention.evaluation.evalb_sentences import Sentence, mend_quotes

VALID, ERROR, SKIPPED = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class SentenceBrackets:
    """The counts of one sentence: a row of EVALB's table.

    Attributes:
        number: the line, from 1.
        length: words of the gold tree, traces not counted.
        status: 0 valid, 1 error, 2 skipped (no predicted word); the last two are in
            no total.
        matched, gold, predicted: brackets found in both trees, in the gold tree and
            in the predicted one.
        crossing: predicted brackets that cross one of the gold tree.
        words, correct_tags: words compared, and those with the right tag.
        error: str, what is wrong; None if the sentence is valid.
        gold_in_all: brackets of the gold tree whatever the status.
        recall, precision, tagging_accuracy: 0 to 100, as in `BracketSummary`.
    """

    number: int
    length: int
    status: int = VALID
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    error: str | None = None
    gold_in_all: int = 0

    @property
    def complete(self):
        """Whether both trees have the same brackets."""
        return self.matched == self.gold == self.predicted

    @property
    def recall(self):
        """Percentage of gold brackets that are matched."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self):
        """Percentage of predicted brackets that are matched."""
        return percentage(self.matched, self.predicted)

    @property
    def tagging_accuracy(self):
        """Percentage of words with the right tag."""
        return percentage(self.correct_tags, self.words)


class BracketSummary:
    """The scores of some sentences; percentages are 0 to 100.

    Args:
        rows: tuple of `SentenceBrackets`.

    Attributes:
        sentences, error_sentences, skipped_sentences, valid_sentences: counts. All
            that follows is of valid sentences: a tree with other words than the
            gold tree costs nothing, so quote the error sentences with the scores.
        matched, gold, predicted, crossing, words, correct_tags: totals.
        recall, precision: matched brackets of those of the gold trees, and of the
            predicted ones.
        f1: their harmonic mean; 0 if nothing matches, where EVALB prints `nan`.
        complete_match: sentences with the brackets of their gold tree.
        average_crossing: predicted brackets a sentence that cross one of gold.
        no_crossing, two_or_less_crossing: sentences with so many of them.
        tagging_accuracy: words with the right tag.
        strict_recall, strict_f1: where a sentence that is no valid one counts as one
            without predicted brackets, so that its gold brackets are missed.
    """

    def __init__(self, rows):
        valid = [row for row in rows if row.status == VALID]
        self.sentences = len(rows)
        self.error_sentences = sum(row.status == ERROR for row in rows)
        self.skipped_sentences = sum(row.status == SKIPPED for row in rows)
        self.valid_sentences = len(valid)
        self.matched = sum(row.matched for row in valid)
        self.gold = sum(row.gold for row in valid)
        self.predicted = sum(row.predicted for row in valid)
        self.crossing = sum(row.crossing for row in valid)
        self.words = sum(row.words for row in valid)
        self.correct_tags = sum(row.correct_tags for row in valid)
        self.recall = percentage(self.matched, self.gold)
        self.precision = percentage(self.matched, self.predicted)
        self.f1 = _harmonic_mean(self.precision, self.recall)
        in_all = sum(row.gold_in_all for row in rows)
        self.strict_recall = percentage(self.matched, in_all)
        self.strict_f1 = _harmonic_mean(self.precision, self.strict_recall)
        self.complete_match = _share(valid, lambda row: row.complete)
        self.average_crossing = self.crossing / len(valid) if valid else 0.0
        self.no_crossing = _share(valid, lambda row: row.crossing == 0)
        self.two_or_less_crossing = _share(valid, lambda row: row.crossing <= 2)
        self.tagging_accuracy = percentage(self.correct_tags, self.words)


class BracketResult(BracketSummary):
    """The scores of all sentences, as attributes of `BracketSummary`, and the rows.

    Args:
        rows: tuple of `SentenceBrackets`.
        cutoff_length: int.

    Attributes:
        rows: tuple of `SentenceBrackets`, one a line.
        cutoff_length: int.
        short: `BracketSummary` of the sentences up to this length.
    """

    def __init__(self, rows, cutoff_length):
        super().__init__(rows)
        self.rows = rows
        self.cutoff_length = cutoff_length
        short = tuple(row for row in rows if row.length <= cutoff_length)
        self.short = BracketSummary(short)

    def __str__(self):
        """The two summaries as EVALB prints them."""
        return summary_text(self)

    def format(self):
        """Returns all that EVALB prints: a row for each sentence, the summaries."""
        return f"{sentence_table(self)}\n{summary_text(self)}"


def score_brackets(gold_lines, predicted_lines, parameter_file=None):
    """Compares predicted trees with gold trees, as the program EVALB does.

    A bracket is right if the other tree has one over the same words with the same
    label; each counts once. Function tags, punctuation, traces and the root are left
    out, and `PRT` counts as `ADVP`: the rules of `COLLINS.prm`, unless a file gives
    others. A sentence whose words differ from those of its gold tree, or whose
    brackets are broken, is an error and in no total; `strict_f1` counts it too.

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
        _score(
            number, Sentence(gold, parameters), Sentence(other, parameters), parameters
        )
        for number, (gold, other) in enumerate(pairs, start=1)
    )
    return BracketResult(rows, parameters.cutoff_length)


def _score(number, gold, predicted, parameters):
    """Returns the `SentenceBrackets` of two sentences."""
    in_all = 0 if gold.error else len(gold.spans())
    row = SentenceBrackets(number, gold.length, gold_in_all=in_all)
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


def percentage(part, whole):
    """Returns 100 x part / whole, 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def _harmonic_mean(one, other):
    return 2 * one * other / (one + other) if one + other else 0.0


def _share(rows, condition):
    """Returns the percentage of rows for which the condition holds."""
    return percentage(sum(map(condition, rows)), len(rows))
