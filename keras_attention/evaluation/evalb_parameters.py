"""The rules of a bracket scorer, and the parameter files that state them."""

import dataclasses
import pathlib

_LISTS = {
    "DELETE_LABEL": "deleted_labels",
    "DELETE_LABEL_FOR_LENGTH": "deleted_for_length",
    "QUOTE_LABEL": "quote_labels",
}
_PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
_NUMBERS = {"CUTOFF_LEN": "cutoff_length", "LABELED": "labelled"}
# Known to EVALB, without a meaning here: nothing stops at the n-th error.
_UNUSED = ("DEBUG", "MAX_ERROR")
_MOST_DIGITS = 18  # of a number; 64 bits hold it


@dataclasses.dataclass(frozen=True)
class EvalbParameters:
    """What EVALB reads from its parameter file; the defaults are those of no file.

    Attributes:
        deleted_labels: a word with such a tag is left out, of a bracket with such a
            label the bracket alone.
        deleted_for_length: tags that do not count towards the length of a sentence.
        quote_labels: tags by which a quotation mark may be mistaken for something
            else; where one side deletes it and the other does not, it is put back.
        equal_labels, equal_words: pairs that count as the same, in both directions.
        labelled: 1 compares labels and spans, 0 spans alone.
        cutoff_length: the second summary is that of sentences up to this length.
    """

    deleted_labels: tuple[str, ...] = ()
    deleted_for_length: tuple[str, ...] = ()
    quote_labels: tuple[str, ...] = ()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    labelled: int = 1
    cutoff_length: int = 40

    def same_label(self, one, other):
        """Whether two labels count as the same."""
        return one == other or _paired(one, other, self.equal_labels)

    def same_word(self, one, other):
        """Whether two words count as the same."""
        return one == other or _paired(one, other, self.equal_words)

    def deletes_bracket(self, label):
        """Whether a bracket is left out: by its label, or by one equal to it."""
        return any(self.same_label(label, deleted) for deleted in self.deleted_labels)


def _paired(one, other, pairs):
    return (one, other) in pairs or (other, one) in pairs


# The rules by which the Penn Treebank is scored since Collins 1997.
COLLINS = EvalbParameters(
    deleted_labels=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    deleted_for_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)


def read_evalb_parameters(path):
    """Reads a parameter file of EVALB.

    A line holds a keyword and its values; empty lines and those that start with `#`
    are left out. `DEBUG` and `MAX_ERROR` are checked, and without effect: sentences
    with errors are counted, and never stop the scoring.

    Args:
        path: str or path-like.

    Returns:
        `EvalbParameters`.

    Raises:
        ValueError: a file that is missing or no UTF-8 text, or a line with an unknown
            keyword, a wrong number of values or a value that is no such number; the
            file and the line are named.
    """
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            "Expected a readable parameter file of EVALB, UTF-8 text. Received: "
            f"{path} ({error})."
        ) from error
    found = {}
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            _set(found, fields[0], fields[1:], f"{path}, line {number}")
    return EvalbParameters(**found)


def _set(found, keyword, values, where):
    """Adds what one line says to the fields found so far."""
    if keyword in _LISTS:
        _expect(values, 1, keyword, where)
        field = _LISTS[keyword]
        found[field] = (*found.get(field, ()), values[0])
    elif keyword in _PAIRS:
        _expect(values, 2, keyword, where)
        field = _PAIRS[keyword]
        found[field] = (*found.get(field, ()), tuple(values))
    elif keyword in _NUMBERS or keyword in _UNUSED:
        _expect(values, 1, keyword, where)
        number = _number(values[0], keyword, where)
        if keyword in _NUMBERS:
            found[_NUMBERS[keyword]] = number
    else:
        known = ", ".join([*_LISTS, *_PAIRS, *_NUMBERS, *_UNUSED])
        raise ValueError(
            f"Expected one of the keywords {known}. Received: {keyword[:80]!r} "
            f"({where})."
        )


def _expect(values, count, keyword, where):
    if len(values) != count:
        raise ValueError(
            f"{keyword} takes {count} value{'s' if count > 1 else ''}. Received: "
            f"{' '.join(values)[:80] or 'none'} ({where})."
        )


def _number(value, keyword, where):
    allowed = (0, 1) if keyword == "LABELED" else None
    digits = value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS
    number = int(value) if digits else None
    if number is None or (allowed and number not in allowed):
        whole = f"a whole number of at least 0, up to {_MOST_DIGITS} digits"
        expected = "0 or 1" if allowed else whole
        raise ValueError(
            f"{keyword} takes {expected}. Received: {value[:80]} ({where})."
        )
    return number
