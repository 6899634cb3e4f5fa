"""The verbs of `verb_entries`, with their German forms."""

import dataclasses
import functools

from keras_attention.data.grammar.nouns import english_plural
from keras_attention.data.grammar.verb_entries import ENTRIES, MATRIX_ENTRIES


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a verb: prepositions, German case and noun classes."""

    english: str
    german: str
    case: str
    classes: tuple

    @property
    def is_bare(self):
        """Whether it is an object without a preposition in German."""
        return not self.german and not self.is_goal

    @property
    def is_goal(self):
        return self.case == "@"


@dataclasses.dataclass(frozen=True)
class Verb:
    """A verb: forms in both languages, arguments and selection."""

    english: str
    english_past: str
    english_participle: str
    particle: str
    infinitive: str
    prefix: str
    reflexive: bool
    third: str
    past: str
    participle: str
    auxiliary: str
    subjects: tuple
    arguments: tuple
    flags: str

    @property
    def is_deliberate(self):
        return "i" in self.flags

    @functools.cached_property
    def english_third(self):
        return english_plural(self.english)

    @functools.cached_property
    def zu_infinitive(self):
        if self.prefix:
            return [self.prefix + "zu" + self.infinitive]
        return ["zu", self.infinitive]

    @functools.cached_property
    def stem(self):
        return self.infinitive[:-1] if self.ends_in_n else self.infinitive[:-2]

    @property
    def ends_in_n(self):  # lächeln, füttern, erinnern
        return self.infinitive.endswith(("eln", "ern"))

    @functools.cached_property
    def present(self):
        """{(person, is_plural): form}, the prefix left out."""
        first = self.stem + "e"
        if self.third == "weiß":
            first = self.third
        elif self.infinitive.endswith("eln"):
            first = self.infinitive[:-3] + "le"
        return {
            (1, False): first,
            (2, False): self._second(),
            (3, False): self.third,
            (1, True): self.infinitive,
            (3, True): self.infinitive,
        }

    def _second(self):
        base = self.third.removesuffix("t")
        if self.third == "lädt":
            return "lädst"
        return base + ("t" if base[-1] in "sßz" else "st")

    @functools.cached_property
    def preterite(self):
        plural = self.past + ("n" if self.past.endswith("e") else "en")
        return {
            (1, False): self.past,
            (3, False): self.past,
            (1, True): plural,
            (3, True): plural,
        }

    @functools.cached_property
    def imperative(self):
        base = self.third.removesuffix("t")
        if "e" in self.stem and "i" in base and "ie" not in self.stem:
            if base != self.stem and not self.stem.startswith("beg"):
                return base  # Gib! Lies!
        endings = (
            "t",
            "d",
            "ffn",
            "ier",
            "dank",
            "folg",
            "grüß",
            "reis",
        )  # Warte! Danke!
        if self.infinitive.endswith("eln"):
            return self.infinitive[:-3] + "le"
        if self.stem.endswith(endings) or self.ends_in_n:
            return self.stem + "e"
        return self.stem


def _parse_argument(text):
    if text.startswith("@"):
        return Argument("", "", "@", (text[1:],))
    head, classes = text.split(":")
    head, _, case = head.rpartition("+") if "+" in head else (head[:-1], "", head[-1])
    english, arrow, german = head.partition(">")
    if not arrow:
        english, german = "", head
    return Argument(english, german, case, tuple(classes.split()))


def _parse_verb(line):
    line = line.replace("H", "person kin")
    english, german, subjects, arguments, flags = line.split("|")
    english, _, particle = english.partition(" +")
    base, past, participle = english.split()
    reflexive = german.startswith("sich ")
    infinitive, third, german_past, german_participle, auxiliary = german.removeprefix(
        "sich "
    ).split()
    prefix, _, infinitive = infinitive.rpartition("-")
    return Verb(
        english=base,
        english_past=past,
        english_participle=participle,
        particle=particle,
        infinitive=infinitive,
        prefix=prefix,
        reflexive=reflexive,
        third=third,
        past=german_past,
        participle=german_participle,
        auxiliary="haben" if auxiliary == "h" else "sein",
        subjects=tuple(subjects.split()),
        arguments=tuple(
            _parse_argument(argument) for argument in arguments.split(";") if argument
        ),
        flags=flags,
    )


def _lines(text):
    """Entries; an indented line continues the one before."""
    return text.strip().replace("\n    |", "|").splitlines()


VERBS = tuple(_parse_verb(line) for line in _lines(ENTRIES))
MATRIX_VERBS = {
    key: tuple(_parse_verb(line) for line in _lines(text))
    for key, text in MATRIX_ENTRIES.items()
}


@functools.cache
def takes_gap(noun_class):
    """A test of verbs: a class is the only thing that the verb takes."""

    def test(verb):
        arguments = verb.arguments
        return len(arguments) == 1 and noun_class in arguments[0].classes

    return test


@functools.cache
def suitable_verbs(kind, noun_class, test):
    """The verbs for a kind of clause with subjects of a class that pass a test."""

    def suits(verb):
        if kind == "passive":
            possible = "v" in verb.flags
            subjects = verb.arguments[0].classes if possible else ()
        else:
            subjects, possible = verb.subjects, kind == "plain" or "s" not in verb.flags
        return (
            possible
            and (noun_class is None or noun_class in subjects)
            and (test is None or test(verb))
        )

    return tuple(verb for verb in VERBS if suits(verb))


def _forms(first, second, third, plural):
    return {
        (1, False): first,
        (2, False): second,
        (3, False): third,
        (1, True): plural,
        (3, True): plural,
    }


# German auxiliaries and modals: (present, preterite).
AUXILIARIES = {
    "haben": (
        _forms("habe", "hast", "hat", "haben"),
        _forms("hatte", "hattest", "hatte", "hatten"),
    ),
    "sein": (
        _forms("bin", "bist", "ist", "sind"),
        _forms("war", "warst", "war", "waren"),
    ),
    "werden": (
        _forms("werde", "wirst", "wird", "werden"),
        _forms("wurde", "wurdest", "wurde", "wurden"),
    ),
    "können": (
        _forms("kann", "kannst", "kann", "können"),
        _forms("konnte", "konntest", "konnte", "konnten"),
    ),
    "müssen": (
        _forms("muss", "musst", "muss", "müssen"),
        _forms("musste", "musstest", "musste", "mussten"),
    ),
    "wollen": (
        _forms("will", "willst", "will", "wollen"),
        _forms("wollte", "wolltest", "wollte", "wollten"),
    ),
    "dürfen": (
        _forms("darf", "darfst", "darf", "dürfen"),
        _forms("durfte", "durftest", "durfte", "durften"),
    ),
    "sollen": (
        _forms("sollte", "solltest", "sollte", "sollten"),
        _forms("sollte", "solltest", "sollte", "sollten"),
    ),
}
