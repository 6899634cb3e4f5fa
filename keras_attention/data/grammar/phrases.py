"""Noun phrases: English constituency trees and German words for every case."""

import dataclasses
from collections.abc import Callable

from keras_attention.data.grammar import nouns

# Rows n, a, d, g; columns m, f, n, plural.
_ARTICLES = {
    "the": {"n": "der die das die", "a": "den die das die",
            "d": "dem der dem den", "g": "des der des der"},
    "this": {"n": "dieser diese dieses diese", "a": "diesen diese dieses diese",
             "d": "diesem dieser diesem diesen", "g": "dieses dieser dieses dieser"},
    "every": {"n": "jeder jede jedes -", "a": "jeden jede jedes -",
              "d": "jedem jeder jedem -", "g": "jedes jeder jedes -"},
    "all": {"n": "- - - alle", "a": "- - - alle", "d": "- - - allen",
            "g": "- - - aller"},
    "which": {"n": "welcher welche welches welche",
              "a": "welchen welche welches welche",
              "d": "welchem welcher welchem welchen", "g": "- - - -"},
}  # fmt: skip
_MIXED_ENDINGS = {"n": "_ e _ e", "a": "en e _ e", "d": "em er em en",
                  "g": "es er es er"}  # fmt: skip
_STRONG = {"n": "er e es e", "a": "en e es e", "d": "em er em en", "g": "en er en er"}
_WEAK = {"n": "e e e en", "a": "en e e en", "d": "en en en en", "g": "en en en en"}
_MIXED = {"n": "er e es en", "a": "en e es en", "d": "en en en en", "g": "en en en en"}
_COLUMNS = "mfn"
POSSESSIVES = {
    "my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser",
    "their": "ihr",
}  # fmt: skip
_QUANTITIES = {"some": "einige", "many": "viele"}
_CONTRACTIONS = {
    ("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum",
    ("zu", "der"): "zur", ("von", "dem"): "vom", ("bei", "dem"): "beim",
    ("in", "das"): "ins",
}  # fmt: skip
RELATIVES = {"n": "der die das die", "a": "den die das die",
             "d": "dem der dem denen", "g": "dessen deren dessen deren"}  # fmt: skip

# subject and object forms, person, plural, German n a d, reflexive
PRONOUNS = {
    "I": ("I", "me", 1, False, "ich mich mir mich"),
    "you": ("you", "you", 2, False, "du dich dir dich"),
    "he": ("he", "him", 3, False, "er ihn ihm sich"),
    "she": ("she", "her", 3, False, "sie sie ihr sich"),
    "we": ("we", "us", 1, True, "wir uns uns uns"),
    "they": ("they", "them", 3, True, "sie sie ihnen sich"),
}


def cell(table, case, gender, is_plural):
    """The entry of a declension table, "" for an underscore."""
    column = 3 if is_plural else _COLUMNS.index(gender)
    return table[case].split()[column].replace("_", "")


@dataclasses.dataclass
class NounPhrase:
    """A noun phrase in both languages.

    `german(case)` gives the words; `kind` is pronoun, name, noun, group or question.
    `relative` is the German clause of a restrictive relative clause, which the clause
    places. `kein` gives the negated form of an indefinite phrase.
    """

    tree: str
    german: Callable[[str], list]
    person: int = 3
    is_plural: bool = False
    gender: str = "m"
    kind: str = "noun"
    determiner: str = ""
    object_tree: str = ""
    reflexive: str = "sich"
    is_human: bool = False
    relative: list = dataclasses.field(default_factory=list)
    kein: Callable[[str], list] | None = None
    lexemes: tuple = ()
    noun_class: str = "person"

    @property
    def agreement(self):
        return self.person, self.is_plural

    @property
    def is_definite(self):
        return self.kind in ("pronoun", "name") or self.determiner in (
            "the", "this", "name", *POSSESSIVES,
        )  # fmt: skip

    @property
    def is_quantified(self):
        return self.determiner in ("every", "all", "some", "many", "number", "bare")

    def german_with(self, case):
        """The words with the relative clause, between commas."""
        words = self.german(case)
        return [*words, ",", *self.relative, ","] if self.relative else words


def pronoun(key):
    """The personal pronoun of an English subject form."""
    subject, obj, person, is_plural, german = PRONOUNS[key]
    forms = dict(zip("nad", german.split()[:3], strict=True))
    return NounPhrase(
        f"(NP (PRP {subject}))",
        lambda case: [forms[case]],
        person,
        is_plural,
        kind="pronoun",
        object_tree=f"(NP (PRP {obj}))",
        reflexive=german.split()[3],
        is_human=True,
        gender="f" if key == "she" else "m",
    )


def name(word):
    """A first name."""
    return NounPhrase(
        f"(NP (NNP {word}))",
        lambda case: [word + "s" if case == "g" else word],
        kind="name",
        gender=nouns.NAMES[word],
        is_human=True,
        lexemes=(word,),
    )


def group(first, second):
    """`first and second`, a plural."""
    return NounPhrase(
        f"(NP {first.tree} (CC and) {second.tree})",
        lambda case: [*first.german(case), "und", *second.german(case)],
        is_plural=True,
        kind="group",
        determiner="the" if first.is_definite and second.is_definite else "a",
        is_human=first.is_human,
        lexemes=first.lexemes + second.lexemes,
    )


def _determiner_words(determiner, case, gender, is_plural, number):
    """German determiner, and the table of endings that the adjective takes."""
    if determiner == "this" or determiner in _ARTICLES:
        return [cell(_ARTICLES[determiner], case, gender, is_plural)], _WEAK
    if determiner in ("a", "kein"):
        stem = "ein" if determiner == "a" else "kein"
        return [stem + cell(_MIXED_ENDINGS, case, gender, is_plural)], _MIXED
    if determiner in POSSESSIVES:
        stem, ending = (
            POSSESSIVES[determiner],
            cell(_MIXED_ENDINGS, case, gender, is_plural),
        )
        if stem == "unser" and ending:
            return ["unser" + ending], _MIXED
        return [stem + ending], _MIXED
    if determiner in _QUANTITIES:
        ending = {"n": "e", "a": "e", "d": "en", "g": "er"}[case]
        return [_QUANTITIES[determiner][:-1] + ending], _STRONG
    if determiner == "number":
        return [nouns.NUMBERS[number]], _STRONG
    return [], _STRONG


def _english_determiner(determiner, is_plural, number):
    if determiner in ("bare", "name"):
        return ""
    if determiner == "number":
        return f"(CD {number})"
    if determiner in POSSESSIVES:
        return f"(PRP$ {determiner})"
    if determiner == "many":
        return "(JJ many)"
    if determiner == "which":
        return "(WDT which)"
    word = {"this": "these"}.get(determiner, determiner) if is_plural else determiner
    return f"(DT {word})"


def _adjective(adjective, degree):
    """English tree and German stem of an attributive adjective."""
    if degree == "":
        return f"(JJ {adjective.english})", adjective.stem
    tag = "JJR" if degree == "comparative" else "JJS"
    english = nouns.english_degrees(adjective.english)
    if english is None:
        raise ValueError(
            "expected an adjective with -er and -est. "
            f"Received: {adjective.english!r}; compare it with more and most."
        )
    if degree == "comparative":
        return f"({tag} {english[0]})", adjective.comparative
    return f"({tag} {english[1]})", adjective.superlative


def noun_phrase(
    noun,
    determiner,
    is_plural=False,
    adjectives=(),
    number=None,
    owner=None,
    complement=None,
):
    """A phrase around a noun.

    Args:
        noun: a `Noun`.
        determiner: an English determiner, `number`, `bare` or `name` (with `owner`).
        is_plural: whether the noun is plural.
        adjectives: pairs (`Adjective`, degree "", "comparative" or "superlative").
        number: an English number word for the determiner `number`.
        owner: a name or another phrase: Anna's dog, the dog of the man.
        complement: (English tree, German words) of a prepositional attribute.
    """
    adjectives = [_adjective(*item) for item in adjectives]
    head = f"(NNS {noun.plural})" if is_plural else f"(NN {noun.english})"
    parts = [tree for tree, _ in adjectives] + [head]
    if determiner == "name":
        parts.insert(0, owner.tree[:-1] + " (POS 's))")
    elif determiner == "a":
        first = parts[0].split()[1]
        parts.insert(0, "(DT an)" if first[0] in "aeiou" else "(DT a)")
    elif determiner != "bare":
        parts.insert(0, _english_determiner(determiner, is_plural, number))
    tree = f"(NP {' '.join(parts)})"
    if owner is not None and determiner != "name":
        tree = f"(NP {tree} (PP (IN of) {owner.tree}))"
    if complement is not None:
        tree = f"(NP {tree} {complement[0]})"

    def words(case, determiner=determiner):
        if determiner == "name":
            prefix, endings = owner.german("g"), _STRONG
        else:
            prefix, endings = _determiner_words(
                determiner, case, noun.gender, is_plural, number
            )
        ending = cell(endings, case, noun.gender, is_plural)
        result = [*prefix, *(stem + ending for _, stem in adjectives)]
        result.append(noun.german(case, is_plural))
        if owner is not None and determiner != "name":
            result += owner.german("g")
        return result + (complement[1] if complement else [])

    negated = determiner in ("a", "bare")
    return NounPhrase(
        tree,
        words,
        is_plural=is_plural,
        gender=noun.gender,
        determiner=determiner,
        is_human=noun.noun_class in ("person", "kin"),
        kein=(lambda case: words(case, "kein")) if negated else None,
        noun_class=noun.noun_class,
        lexemes=(noun.english, *(owner.lexemes if owner else ())),
    )


def with_preposition(preposition, case, phrase, words=None):
    """German prepositional phrase, contracted (im, zur) without a relative clause."""
    words = phrase.german(case) if words is None else words
    contracted = _CONTRACTIONS.get((preposition, words[0]))
    if contracted and phrase.determiner == "the" and phrase.kind == "noun":
        if phrase.relative:  # von dem Mann, der ...
            return [preposition, *words]
        return [contracted, *words[1:]]
    return [preposition, *words]
