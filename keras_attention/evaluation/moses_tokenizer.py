"""The words of a text as the Moses tokenizer separates them, for tokenised BLEU."""

import functools
import itertools
import re
import sys
import unicodedata

from keras_attention.checks import check_choice
from keras_attention.evaluation.moses_prefixes import PREFIXES, PREFIXES_OF_NUMBERS

LANGUAGES = tuple(PREFIXES)
# Stands for a dot of a run of dots; control characters of the text are dropped.
_DOT = "\x01"
# Python counts the separators of ASCII as white space, Perl does not.
_SPACE = re.compile(r"[^\S\x1c-\x1f]+")
_CONTROL = re.compile(r"[\x00-\x1f]")
_DOTS = re.compile(r"\.{2,}")


def moses_tokenize(text, language="de"):
    """Returns the tokens of a text, as `tokenizer.perl -no-escape -l LANGUAGE`.

    Letters and digits are those of Unicode's categories; marks that are letters in
    the scripts of India are not, unlike in Perl.

    Args:
        text: str, one sentence.
        language: "de", "en" or "fr", for apostrophes and abbreviations.

    Returns:
        list of str.

    Raises:
        ValueError: another language.

    Example:

    >>> moses_tokenize('Er sagte: "Das ist z.B. ein Test-Satz."')
    ['Er', 'sagte', ':', '"', 'Das', 'ist', 'z.B.', 'ein', 'Test-Satz', '.', '"']
    """
    check_choice("language", language, LANGUAGES)
    patterns = _patterns()
    text = _CONTROL.sub("", _SPACE.sub(" ", text)).strip(" ")
    text = patterns["symbol"].sub(r" \1 ", text)
    text = _DOTS.sub(lambda run: f" {_DOT * len(run[0])} ", text)
    for name, replacement in (
        ("comma_after", r"\1 , "),
        ("comma_before", r" , \1"),
        ("comma_last", r"\1 ,"),
    ):
        text = patterns[name].sub(replacement, text)
    for pattern, replacement in patterns[language]:
        text = pattern.sub(replacement, text)
    words = [word for word in text.split(" ") if word]
    text = " ".join(_split_stops(words, language))
    text = re.sub(r"\.'\Z", " . '", text)
    return text.replace(_DOT, ".").split(" ") if text else []


def _split_stops(words, language):
    """Yields the words; a full stop at the end of one is a word unless it abbreviates.

    So it is at the end of the sentence too, as in the tokenizer of 2017. Later ones
    split the last full stop always, which gives newstest2014 eight tokens more.

    In Moses two spaces have an empty word between them. They are next to symbols
    only, and what follows a symbol decides nothing here.
    """
    for word, following in itertools.zip_longest(words, words[1:]):
        before = word[:-1]
        if not word.endswith(".") or not before:
            yield word
        elif _abbreviates(before, following or " ", language):
            yield word
        else:
            yield from (before, ".")


def _abbreviates(word, following, language):
    if "." in word and any(map(_is_letter, word)):
        return True
    if word in PREFIXES[language] or following[0].islower():
        return True
    return word in PREFIXES_OF_NUMBERS[language] and "0" <= following[0] <= "9"


def _is_letter(character):
    category = unicodedata.category(character)
    return category[0] == "L" or category == "Nl"


@functools.cache
def _patterns():
    """Returns the rules by name, and the list of rules for apostrophes of a language.

    Built when first needed: a pass over all characters takes a fifth of a second.
    """
    classes = _character_classes()
    letter, number = classes["letter"], classes["number"]
    other = re.compile(f"([^{letter}])'([^{letter}])")
    end = re.compile(f"([{letter}])'([^{letter}])")
    within = re.compile(f"([{letter}])'([{letter}])")
    start = re.compile(f"([^{letter}])'([{letter}])")
    contraction = re.compile(f"([^{letter}{number}])'([{letter}])")
    decade = re.compile(f"([{number}])'(s)")
    apart = r"\1 ' \2"
    return {
        "symbol": re.compile(rf"([^{letter}{classes['digit']}\s.'`,\-{_DOT}])"),
        "comma_after": re.compile(f"([^{number}]),"),
        "comma_before": re.compile(f",([^{number}])"),
        "comma_last": re.compile(rf"([{number}]),\Z"),
        "de": [(re.compile("'"), " ' ")],
        "en": [
            *((pattern, apart) for pattern in (other, contraction, end)),
            *((pattern, r"\1 '\2") for pattern in (within, decade)),
        ],
        "fr": [
            *((pattern, apart) for pattern in (other, start, end)),
            (within, r"\1' \2"),
        ],
    }


def _character_classes():
    """Returns the ranges of letters, digits and numbers for character classes."""
    found = {"letter": [], "digit": [], "number": []}
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category[0] == "L" or category == "Nl":
            found["letter"].append(code)
        if category == "Nd":
            found["digit"].append(code)
        if category[0] == "N":
            found["number"].append(code)
    return {name: _ranges(codes) for name, codes in found.items()}


def _ranges(codes):
    parts = []
    for _, run in itertools.groupby(enumerate(codes), lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        parts.append(f"\\U{members[0]:08x}-\\U{members[-1]:08x}")
    return "".join(parts)
