"""One line of brackets as EVALB reads it: words, tags, spans, and what is wrong.

The reader is a separate one from that of `data/trees.py`, which reads whatever can be
understood and gives a tree. A scorer must do neither: a line may hold several trees or
a broken one, brackets come in the order of their opening, and a wrong line counts as a
sentence in error instead of being mended or raised.
"""

import dataclasses
import re

# ASCII white space only: a no-break space belongs to its word.
_SPACE = re.compile(r"\s*", re.ASCII)
_OPEN = re.compile(r"\(([^\s()]*)(?:\s+([^\s()]*))?", re.ASCII)
_FUNCTION = re.compile("[-=]")
_QUOTATION_MARKS = ("'", '"', "/")


@dataclasses.dataclass(eq=False)
class Quote:
    """A word that may be a mistaken quotation mark, and where it would be put back.

    Attributes:
        word, tag: str.
        place: index among the words kept.
        deleted: whether it is left out of the words.
        around: indices of the brackets that are open at this word.
        after: index of the first bracket that opens after it.
    """

    word: str
    tag: str
    place: int
    deleted: bool
    around: list[int]
    after: int


class Sentence:
    """The words of a line and the brackets over them, deleted words left out.

    Args:
        line: str, one line of a file of trees.
        parameters: `EvalbParameters`.

    Attributes:
        words, tags: lists of str.
        brackets: list of [start, end, label] in the order in which they open; they
            cover the words from `start` to before `end`, -1 if never closed.
        length: number of words, those left out by `deleted_for_length` not counted.
        quotes: list of `Quote`.
        error: str, what is wrong with the line; None if nothing is.
    """

    def __init__(self, line, parameters):
        self.words, self.tags, self.brackets, self.quotes = [], [], [], []
        self.length, self.error = 0, None
        self._parameters = parameters
        self._open = []
        position = _SPACE.match(line).end()
        while position < len(line):
            position = _SPACE.match(line, self._step(line, position)).end()
        if self._open and self.error is None:
            self.error = "a bracket is never closed"

    def _step(self, line, position):
        """Takes one bracket or word; returns where the next begins."""
        if line[position] == "(":
            return self._take_opening(line, position)
        if line[position] != ")":
            self.error = f"text outside of brackets: {line[position : position + 20]!r}"
            return len(line)
        if self._open:
            self.brackets[self._open.pop()][1] = len(self.words)
        else:
            self.error = "a bracket is closed that was never opened"
        return position + 1

    def _take_opening(self, line, position):
        found = _OPEN.match(line, position)
        label, word = found.groups()
        following = line[found.end() : found.end() + 1]
        if word is not None and following == ")":
            self._take_word(label, word)
            return found.end() + 1
        if word and following:
            self.error = f"more than two elements in a bracket: {found[0]!r}"
            return len(line)
        self._open.append(len(self.brackets))
        self.brackets.append([len(self.words), -1, label])
        return found.end()

    def _take_word(self, tag, word):
        parameters = self._parameters
        deleted = tag in parameters.deleted_labels
        self.length += tag not in parameters.deleted_for_length
        if tag in parameters.quote_labels and word in _QUOTATION_MARKS:
            place, around, after = len(self.words), [*self._open], len(self.brackets)
            self.quotes.append(Quote(word, tag, place, deleted, around, after))
        if not deleted:
            self.words.append(word)
            self.tags.append(tag)

    def put_back(self, quote):
        """Inserts a deleted quotation mark; moves what is around it and after it."""
        self.words.insert(quote.place, quote.word)
        self.tags.insert(quote.place, quote.tag)
        for bracket in self.brackets[quote.after :]:
            bracket[0] += 1
            bracket[1] += 1
        for index in quote.around:
            self.brackets[index][1] += 1
        for later in self.quotes[self.quotes.index(quote) :]:
            later.place += 1

    def spans(self):
        """Returns the brackets that count, a list of (start, end, label).

        Labels end before their first `-` or `=`. Brackets without a word are left
        out, and those whose label is deleted.
        """
        cut = [
            (start, end, _FUNCTION.split(label, maxsplit=1)[0])
            for start, end, label in self.brackets
            if start != end
        ]
        labels = {label for _, _, label in cut}
        kept = {each for each in labels if not self._parameters.deletes_bracket(each)}
        return [span for span in cut if span[2] in kept]


def mend_quotes(gold, predicted):
    """Puts back quotation marks that one sentence deletes and the other one keeps.

    Without it, a quotation mark tagged as a noun would make the lengths differ.

    Args:
        gold, predicted: `Sentence`, changed in place.
    """
    for quote in predicted.quotes:
        place = quote.place
        for other in gold.quotes:
            if other.place == place and other.deleted and not quote.deleted:
                gold.put_back(other)
            elif other.place == place and quote.deleted and not other.deleted:
                predicted.put_back(quote)


def balance_end(line):
    """Returns a line with closing brackets added, or taken off, at its end.

    Args:
        line: str.

    Returns:
        str. A line closed too often before its end comes back as it is.

    Example:

    >>> balance_end("(S (A a) (B b"), balance_end("(S (A a)) ) )")
    ('(S (A a) (B b))', '(S (A a)) ')
    """
    depth = 0
    for place, character in enumerate(line):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return line if line[place:].strip(") \t\r\n\f\v") else line[:place]
    return line + ")" * depth
