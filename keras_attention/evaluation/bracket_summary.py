"""Counts of brackets in a sentence, and the scores of many sentences."""

import dataclasses

from keras_attention.evaluation.evalb_report import sentence_table, summary_text

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
        strict: (matched, gold, predicted) where a predicted tree that misses brackets
            at its end, or has too many there, is mended, and one that is of no use has
            no bracket.
        repaired: whether it was mended so.
        unusable: whether it is of no use: no tree over the words of the gold tree.
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
    strict: tuple = (0, 0, 0)
    repaired: bool = False
    unusable: bool = False

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
        strict_recall, strict_precision, strict_f1: of all sentences with a sound gold
            tree. Predicted trees are mended by brackets at the end of the line; what is
            no tree over the gold tree's words even then has no predicted bracket, and
            all of its gold brackets are missed.
        repaired_sentences, unusable_sentences: those so mended, and beyond it.
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
        self._add_strict(rows)
        self.complete_match = _share(valid, lambda row: row.complete)
        self.average_crossing = self.crossing / len(valid) if valid else 0.0
        self.no_crossing = _share(valid, lambda row: row.crossing == 0)
        self.two_or_less_crossing = _share(valid, lambda row: row.crossing <= 2)
        self.tagging_accuracy = percentage(self.correct_tags, self.words)

    def _add_strict(self, rows):
        matched, gold, predicted = (
            sum(row.strict[place] for row in rows) for place in range(3)
        )
        self.strict_recall = percentage(matched, gold)
        self.strict_precision = percentage(matched, predicted)
        self.strict_f1 = _harmonic_mean(self.strict_precision, self.strict_recall)
        self.repaired_sentences = sum(row.repaired for row in rows)
        self.unusable_sentences = sum(row.unusable for row in rows)


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


def percentage(part, whole):
    """Returns 100 x part / whole, 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def _harmonic_mean(one, other):
    return 2 * one * other / (one + other) if one + other else 0.0


def _share(rows, condition):
    """Returns the percentage of rows for which the condition holds."""
    return percentage(sum(map(condition, rows)), len(rows))
