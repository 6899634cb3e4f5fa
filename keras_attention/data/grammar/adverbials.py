"""Adverbials: times, places, goals and manners as (English tree, German words)."""

import dataclasses

from keras_attention.data.grammar import nouns, phrases
from keras_attention.data.grammar.english import prepositional

DAYS = {"Monday": "Montag", "Tuesday": "Dienstag", "Wednesday": "Mittwoch",
         "Thursday": "Donnerstag", "Friday": "Freitag", "Saturday": "Samstag",
         "Sunday": "Sonntag"}  # fmt: skip
_UNITS = {"days": "Tagen", "weeks": "Wochen", "months": "Monaten", "years": "Jahren"}
_FEW = tuple(nouns.NUMBERS)[:6]


@dataclasses.dataclass(frozen=True)
class Phrase:
    """A goal: it stands where an argument does."""

    tree: str
    german: list


def _noun_time(determiner, noun, german):
    return f"(NP ({determiner}) (NN {noun}))", german.split()


TODAY = ("(NP (NN today))", ["heute"])
NOW = ("(ADVP (RB now))", ["jetzt"])
ON_DAYS = tuple(
    (f"(PP (IN on) (NP (NNP {english})))", ["am", german])
    for english, german in DAYS.items()
)
AGO = tuple(
    (
        f"(ADVP (NP (CD {count}) (NNS {unit})) (RB ago))",
        ["vor", nouns.NUMBERS[count], german],
    )
    for count in _FEW
    for unit, german in _UNITS.items()
)
IN_FUTURE = tuple(
    (
        f"(PP (IN in) (NP (CD {count}) (NNS {unit})))",
        ["in", nouns.NUMBERS[count], german],
    )
    for count in _FEW
    for unit, german in _UNITS.items()
)
IN_THE = tuple(
    (f"(PP (IN in) (NP (DT the) (NN {english})))", ["am", german])
    for english, german in (
        ("morning", "Morgen"), ("afternoon", "Nachmittag"), ("evening", "Abend"),
    )
)  # fmt: skip
EVERY = tuple(
    _noun_time("DT every", english, german)
    for english, german in (
        ("day", "jeden Tag"), ("week", "jede Woche"), ("morning", "jeden Morgen"),
        ("evening", "jeden Abend"),
    )
)  # fmt: skip
LAST = (
    ("(NP (NN yesterday))", ["gestern"]),
    _noun_time("JJ last", "week", "letzte Woche"),
    _noun_time("JJ last", "month", "letzten Monat"),
    _noun_time("JJ last", "year", "letztes Jahr"),
)
NEXT = (
    ("(NP (NN tomorrow))", ["morgen"]),
    ("(ADVP (RB soon))", ["bald"]),
    _noun_time("JJ next", "week", "nächste Woche"),
    _noun_time("JJ next", "month", "nächsten Monat"),
    _noun_time("JJ next", "year", "nächstes Jahr"),
)
THIS = (
    TODAY,
    _noun_time("DT this", "week", "diese Woche"),
    _noun_time("DT this", "year", "dieses Jahr"),
)

# The groups of times that go with a tense; a group is drawn first.
TIMES = {
    "present": ((TODAY,), (NOW,), EVERY, ON_DAYS, IN_THE),
    "state": ((TODAY,), (NOW,)),
    "past": (LAST, AGO, ON_DAYS, IN_THE),
    "perfect": (THIS,),
    "future": (NEXT, IN_FUTURE, ON_DAYS),
    "modal": ((TODAY,), (NOW,), NEXT[:1], ON_DAYS),
    "pluperfect": ((),),
}

ADVERBS = {"often": "oft", "always": "immer", "sometimes": "manchmal",
            "rarely": "selten", "never": "nie"}  # fmt: skip
FREQUENCIES = tuple((f"(ADVP (RB {en}))", [de]) for en, de in ADVERBS.items())
MANNER_ADVERBS = {
    "m": {"slowly": "langsam", "quickly": "schnell", "carefully": "vorsichtig"},
    "q": {"slowly": "langsam", "quickly": "schnell"},
    "l": {"loudly": "laut", "softly": "leise"},
}
MANNERS = {
    flag: tuple((f"(ADVP (RB {en}))", [de]) for en, de in words.items())
    for flag, words in MANNER_ADVERBS.items()
}

AT_HOME = ("(PP (IN at) (NP (NN home)))", ["zu", "Hause"])
HOME = Phrase("(ADVP (RB home))", ["nach", "Hause"])
_INSIDE = {
    "building": ("in", "in"), "room": ("in", "in"), "outdoors": ("in", "in"),
    "spot": ("at", "an"), "surface": ("on", "auf"),
}  # fmt: skip
_AROUND = (("behind", "hinter"), ("next to", "neben"), ("in front of", "vor"))
_UNDER = ("under", "unter")


def _english(preposition, tree):
    if preposition == "next to":
        return f"(PP (JJ next) {prepositional('to', tree)})"
    if preposition == "in front of":
        return f"(PP (IN in) (NP (NP (NN front)) (PP (IN of) {tree})))"
    return prepositional(preposition, tree)


def at_place(rng, phrase, only_on=False):
    """Where something is or happens: two-way prepositions with the dative."""
    english, german = _INSIDE[phrase.noun_class]
    if phrase.noun_class == "surface" and not only_on:
        english, german = rng.choice(((english, german),) * 2 + (_UNDER, *_AROUND))
    elif phrase.noun_class == "building" and rng.random() < 0.35:
        english, german = rng.choice(_AROUND)
    return _english(english, phrase.tree), phrases.with_preposition(german, "d", phrase)


def onto(rng, phrase, verb):
    """Where something is put: two-way prepositions with the accusative."""
    inside = ("onto" if verb.english == "jump" else "on", "auf")
    english, german = rng.choice((inside, inside, _UNDER, *_AROUND))
    if verb.english == "jump":  # jumps behind the table: a goal or a place?
        english, german = inside
    words = phrases.with_preposition(german, "a", phrase)
    return Phrase(_english(english, phrase.tree), words)


def into(phrase):
    """into the garden, in den Garten"""
    words = phrases.with_preposition("in", "a", phrase)
    return Phrase(prepositional("into", phrase.tree), words)


def to(phrase):
    """to the station, zum Bahnhof"""
    words = phrases.with_preposition("zu", "d", phrase)
    return Phrase(prepositional("to", phrase.object_tree or phrase.tree), words)


def to_city(city):
    """to Vienna, nach Wien"""
    tree = prepositional("to", f"(NP (NNP {city}))")
    return Phrase(tree, ["nach", nouns.CITIES[city]])


def in_city(city):
    """in Vienna, in Wien"""
    return f"(PP (IN in) (NP (NNP {city})))", ["in", nouns.CITIES[city]]
