"""Draws noun phrases and clauses that agree, select and make sense."""

import dataclasses
import functools

from keras_attention.data.grammar import adverbials, nouns, phrases
from keras_attention.data.grammar.verbs import VERBS

PERSONS = ("person", "kin")
_KINDS = {  # weights of the clause kinds by time
    "present": {"plain": 4, "perfect": 3, "future": 2, "modal": 3, "passive": 1.5,
                "copula": 2},
    "past": {"plain": 6, "modal": 1.5, "passive": 1.5, "copula": 1.5},
}  # fmt: skip
_PRESENT_MODALS = ("können", "müssen", "wollen", "dürfen", "sollen")
_PAST_MODALS = ("können", "müssen", "wollen")
_PASSING = frozenset(  # adjectives for what was so yesterday
    ("müde", "krank", "traurig", "glücklich", "hungrig", "wütend", "einsam", "ruhig")
)
_COPULA_SUBJECTS = (
    "person", "person", "person", "kin", "animal", "text", "thing", "clothes",
    "vehicle", "building", "room", "food",
)  # fmt: skip


@dataclasses.dataclass
class Clause:
    """One clause, said by `english` and `german`."""

    subject: phrases.NounPhrase
    verb: object = None  # None: to be
    arguments: list = dataclasses.field(default_factory=list)
    tense: str = "simple"
    modal: str = ""
    is_past: bool = False
    passive: bool = False
    negated: bool = False
    time: tuple | None = None
    time_first: bool = False
    frequency: tuple | None = None
    manner: tuple | None = None
    place: tuple | None = None
    agent: tuple | None = None
    predicate: tuple | None = None
    after: tuple | None = None

    @property
    def agreement(self):
        return self.subject.agreement


def kinds(group):
    """The clause kinds of a time group, with weights."""
    return _KINDS[group]


class NoSentenceError(Exception):
    """The draw cannot be completed; the next one may."""


class Sampler:
    """Draws the parts of one sentence; no noun or name occurs twice."""

    def __init__(self, rng):
        self.rng = rng
        self.used = set()
        self.subjects = []

    def chance(self, probability):
        return self.rng.random() < probability

    def noun(self, classes):
        """A noun of one of the classes that the sentence has not used."""
        for _ in range(20):
            noun = self.rng.choice(nouns.NOUNS[self.rng.choice(classes)])
            if noun.english not in self.used:
                self.used.add(noun.english)
                return noun
        raise NoSentenceError

    def name(self):
        names = [word for word in nouns.NAMES if word not in self.used]
        word = self.rng.choice(names)
        self.used.add(word)
        return phrases.name(word)

    def pronoun(self, is_subject):
        """A pronoun; an object is never the person of the subject."""
        choices = ("I", "you", "he", "she", "we", "they")
        taken = {phrases.PRONOUNS[key][2] for key in self.subjects}
        choices = [
            key
            for key in choices
            if phrases.PRONOUNS[key][2] == 3 or phrases.PRONOUNS[key][2] not in taken
        ]
        if is_subject:
            choices = [key for key in ("I", "you", "he", "she", "we", "they")]
        key = self.rng.choice(choices)
        if is_subject:
            self.subjects.append(key)
        return phrases.pronoun(key)

    def _adjectives(self, noun, determiner):
        adjectives = nouns.ADJECTIVES[noun.noun_class]
        if not self.chance(0.24):
            return ()
        adjective = self.rng.choice(adjectives)
        if determiner == "the" and adjective.comparative and self.chance(0.25):
            if nouns.english_degrees(adjective.english):
                degree = "superlative" if self.chance(0.7) else "comparative"
                return ((adjective, degree),)
        return ((adjective, ""),)

    def _determiner(self, noun, is_subject):
        """(determiner, is_plural)"""
        rng = self.rng
        if noun.is_mass:
            return rng.choice(("the", "bare", "bare", "my", "her")), False
        if noun.noun_class == "kin":
            plural = noun.english in ("brother", "sister", "friend", "son", "daughter")
            return rng.choice(tuple(phrases.POSSESSIVES)), plural and self.chance(0.25)
        if noun.noun_class in ("text", "flat", "thing", "clothes", "vehicle", "animal"):
            if self.chance(0.15):
                return rng.choice(tuple(phrases.POSSESSIVES)), self.chance(0.2)
        if not self.chance(0.27):
            choices = ("the", "the", "the", "the", "a", "a", "this")
            if is_subject and self.chance(0.1):
                return "every", False
            return rng.choice(choices), False
        choices = ("the", "the", "the", "number", "number", "these", "many", "some", "all")
        choice = rng.choice(choices + (() if is_subject else ("bare", "bare")))
        return choice.replace("these", "this"), True

    def around(self, noun, is_subject=False, plain=False):
        """A phrase around a noun: determiner, adjectives, number, owner."""
        determiner, is_plural = self._determiner(noun, is_subject)
        while plain and determiner not in ("the", "a", "this", *phrases.POSSESSIVES):
            determiner, is_plural = self._determiner(noun, is_subject)
        number = owner = complement = None
        if determiner == "number":
            number = self.rng.choice(tuple(nouns.NUMBERS))
        owned = noun.noun_class in (
            "kin", "text", "flat", "thing", "clothes", "vehicle", "animal", "building",
        )  # fmt: skip
        if owned and not plain and determiner == "the" and self.chance(0.12):
            owner = self.around(self.noun(("person",)), plain=True)
        elif owned and determiner in ("the", *phrases.POSSESSIVES) and self.chance(0.1):
            determiner, owner = "name", self.name()
        elif noun.noun_class == "person" and not plain:
            complement = self._complement(determiner)
        return phrases.noun_phrase(
            noun,
            determiner,
            is_plural,
            self._adjectives(noun, determiner),
            number,
            owner,
            complement,
        )

    def _complement(self, determiner):
        """from Vienna, or with the red hat"""
        draw = self.rng.random()
        if determiner not in ("the", "a") or draw > 0.07:
            return None
        if draw < 0.035:
            city = self.rng.choice(tuple(nouns.CITIES))
            return (
                f"(PP (IN from) (NP (NNP {city})))",
                ["aus", nouns.CITIES[city]],
            )
        noun = self.noun(("clothes",))
        adjective = self.rng.choice(nouns.ADJECTIVES["clothes"])
        phrase = phrases.noun_phrase(noun, "the", False, ((adjective, ""),))
        return f"(PP (IN with) {phrase.tree})", ["mit", *phrase.german("d")]

    def phrase(self, classes, is_subject=False, plain=False):
        """A noun phrase, name, pronoun or group of the classes."""
        draw = self.rng.random()
        if "person" in classes or classes == PERSONS:
            if draw < (0.25 if is_subject else 0.15):
                return self.pronoun(is_subject)
            if draw < (0.38 if is_subject else 0.28):
                return self.name()
            if draw > 0.96 and not plain:
                first = self.around(self.noun(("person",)), plain=True)
                second = self.around(self.noun(("person",)), plain=True)
                return phrases.group(first, second)
        return self.around(self.noun(classes), is_subject, plain)

    def place(self, verb, subject):
        """A place adverbial that suits the verb and its subject."""
        word = verb.english
        if word == "live":
            classes = ("building", "outdoors", "city")
        elif word in ("lie", "stand", "sit") and subject.noun_class != "animal":
            classes = ("surface",)
        elif not subject.is_human:
            classes = ("outdoors",)
        else:
            classes = ("outdoors", "building", "room", "spot", "city", "home")
        chosen = self.rng.choice(classes)
        if chosen == "city":
            return adverbials.in_city(self.rng.choice(tuple(nouns.CITIES)))
        if chosen == "home":
            return adverbials.AT_HOME
        only_on = chosen == "surface" and subject.is_human
        return adverbials.at_place(self.rng, self.location((chosen,)), only_on)

    def location(self, classes):
        noun = self.noun(classes)
        determiner = "a" if self.chance(0.15) else "the"
        return phrases.noun_phrase(
            noun, determiner, False, self._adjectives(noun, determiner)
        )

    def goal(self, verb, kind):
        if kind == "city":
            return adverbials.to_city(self.rng.choice(tuple(nouns.CITIES)))
        if kind == "on":
            return adverbials.onto(self.rng, self.location(("surface",)), verb)
        if kind == "in":
            return adverbials.into(self.location(("building", "room", "outdoors")))
        if self.chance(0.2):
            return adverbials.HOME
        if self.chance(0.3):
            return adverbials.to(self.around(self.noun(PERSONS), plain=True))
        return adverbials.to(self.location(("building", "spot", "outdoors")))

    def fill(self, verb, skip=()):
        """The arguments of a verb as (argument, phrase); skipped ones are gaps."""
        filled = []
        ditransitive = len(verb.arguments) > 1
        for argument in verb.arguments:
            if argument in skip:
                filled.append((argument, None))
            elif argument.is_goal:
                filled.append((argument, self.goal(verb, argument.classes[0])))
            else:
                plain = ditransitive and argument.case == "d"
                while True:
                    phrase = self.phrase(argument.classes, plain=plain)
                    if not plain or phrase.is_definite:
                        break
                filled.append((argument, phrase))
        return filled

    def verb(self, kind, noun_class=None, test=None):
        """A verb for a kind of clause whose subjects include a class."""
        verbs = suitable_verbs(kind, noun_class, test)
        if not verbs:
            raise NoSentenceError
        return self.rng.choice(verbs)

    def subject(self, classes, kind, group):
        """A subject; not you with a preterite (du kauftest: nobody says it)."""
        subject = self.phrase(classes, is_subject=True)
        if subject.person == 2 and group == "past" and kind == "plain":
            return self.around(self.noun(("person",)), is_subject=True)
        return subject

    def with_verb(self, verb, kind, group, subject=None):
        """A clause around a given verb with its objects and no adverbial."""
        if subject is None:
            subject = self.subject(verb.subjects, kind, group)
        clause = Clause(subject, verb, is_past=group == "past")
        _set_kind(self, clause, kind)
        clause.arguments = self.fill(verb)
        check_tense(clause)
        return clause

    def clause(self, kind, group, subject=None, gap=None, adverbs=True):
        """A clause of a kind.

        Args:
            kind: plain, perfect, pluperfect, future, modal, passive or copula.
            group: "present" or "past".
            subject: its subject, drawn when None.
            gap: a class of nouns whose phrase is missing from the objects.
            adverbs: whether it may have a time.
        """
        noun_class = subject.noun_class if subject is not None else None
        test = None
        if gap is not None:
            test = takes_gap(gap)
        verb = None if kind == "copula" else self.verb(kind, noun_class, test)
        if kind == "copula":
            classes = (self.rng.choice(_COPULA_SUBJECTS),)
        elif kind == "passive":
            classes = verb.arguments[0].classes
        else:
            classes = verb.subjects
        if subject is None:
            subject = self.subject(classes, kind, group)
        clause = Clause(subject, verb, is_past=group == "past")
        _set_kind(self, clause, kind)
        if verb is None:
            clause.predicate = self.predicate(subject)
        elif kind == "passive":
            clause.arguments = self.fill(verb)[1:] if len(verb.arguments) > 1 else []
            if self.chance(0.4):
                phrase = self.around(self.noun(PERSONS), plain=True)
                words = phrases.with_preposition("von", "d", phrase)
                clause.agent = (f"(PP (IN by) {phrase.tree})", words)
        else:
            clause.arguments = self.fill(verb, verb.arguments[:1] if gap else ())
        self._adverbials(clause, kind, group, adverbs)
        return clause

    def _adverbials(self, clause, kind, group, adverbs):
        verb = clause.verb
        flags = verb.flags if verb is not None else ""
        if verb is not None and ("P" in flags or "p" in flags and self.chance(0.35)):
            if kind != "passive":
                clause.place = self.place(verb, clause.subject)
        passing = clause.predicate is None or any(
            word in _PASSING for word in clause.predicate[1]
        )
        if "s" not in flags and adverbs and passing and self.chance(0.3):
            key = {"plain": group, "copula": group, "passive": group}.get(kind, kind)
            if kind == "modal" and group == "past":
                key = "past"
            if clause.tense in ("perfect", "future"):
                key = clause.tense
            elif clause.modal and group == "present":
                key = "modal"
            clause.time = self.rng.choice(self.rng.choice(adverbials.TIMES[key]))
        for flag in "ml":
            if flag in flags and self.chance(0.12):
                clause.manner = self.rng.choice(adverbials.MANNERS[flag])
        if self.chance(0.17) and can_negate(clause):
            clause.negated = True
        elif (
            kind in ("plain", "perfect", "copula")
            and "s" not in flags
            and clause.time is None
            and passing
            and self.chance(0.12)
        ):
            clause.frequency = self.rng.choice(adverbials.FREQUENCIES)
        check_tense(clause)

    def predicate(self, subject):
        """An adjective: tired, very old, older than, as old as, proud of."""
        noun_class = subject.noun_class
        adjective = self.rng.choice(
            [
                adjective
                for adjective in nouns.ADJECTIVES[noun_class]
                if f" {adjective.english})" not in subject.tree
            ]
        )
        tree, german = f"(JJ {adjective.english})", adjective.german
        draw = self.rng.random()
        if adjective.english == "proud":
            other = self.around(self.noun(("kin", "vehicle", "animal")), plain=True)
            words = phrases.with_preposition("auf", "a", other)
            return f"(ADJP {tree} (PP (IN of) {other.tree}))", [german, *words], ()
        if adjective.comparative and draw < 0.5:
            return self._comparison(adjective, noun_class, draw < 0.35)
        if draw > 0.8:
            english, extra = self.rng.choice((("very", "sehr"), ("too", "zu")))
            return f"(ADJP (RB {english}) {tree})", [extra, german], ()
        return f"(ADJP {tree})", [german], ()

    def _comparison(self, adjective, noun_class, is_comparative):
        other = self.around(self.noun((noun_class,)), plain=True)
        words = other.german("n")
        if not is_comparative:
            inner = f"(PP (IN as) {other.tree})"
            tree = f"(ADJP (RB as) (JJ {adjective.english}) {inner})"
            return tree, ["so", adjective.german], ["wie", *words]
        degrees = nouns.english_degrees(adjective.english)
        word = f"(JJR {degrees[0]})" if degrees else f"(RBR more) (JJ {adjective.english})"
        tree = f"(ADJP {word} (PP (IN than) {other.tree}))"
        return tree, [adjective.comparative], ["als", *words]


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


def _set_kind(sampler, clause, kind):
    rng, group = sampler.rng, "past" if clause.is_past else "present"
    if kind in ("perfect", "pluperfect", "future"):
        clause.tense = kind
    elif kind == "modal":
        modals = _PAST_MODALS if group == "past" else _PRESENT_MODALS
        if not clause.subject.is_human:
            modals = ("können", "müssen")
        clause.modal = rng.choice(modals)
    elif kind == "passive":
        clause.passive = True
        draw = rng.random()
        if group == "present" and draw < 0.3:
            clause.tense = "perfect"
        elif draw < 0.6:
            clause.modal = "müssen" if group == "past" else rng.choice(
                ("können", "müssen", "sollen")
            )


def check_tense(clause):
    """Refuses `they read`, which could be present or past."""
    verb = clause.verb
    if verb is None or clause.passive or clause.modal or clause.tense != "simple":
        return
    is_third = clause.agreement == (3, False)
    if verb.english == verb.english_past and clause.is_past and not is_third:
        raise NoSentenceError


def can_negate(clause):
    """Whether English and German put the negation in the same place."""
    if clause.modal == "können" and not clause.is_past:  # cannot is one word
        return False
    if clause.subject.is_quantified or clause.subject.kind == "group":
        return False
    if clause.time is not None and "every" in clause.time[0]:
        return False
    if clause.manner is not None:
        return False
    kein = 0
    for argument, phrase in clause.arguments:
        if phrase is None or argument.is_goal or not argument.is_bare:
            continue
        if phrase.kein is not None and argument.case == "a":
            kein += 1
        elif not phrase.is_definite:
            return False
    return not (kein and clause.place is not None)
