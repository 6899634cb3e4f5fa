"""Draws clauses: a verb with its phrases, tense, modal, negation, adverbials."""

import dataclasses

from keras_attention.data.grammar import adverbials, nouns, phrases
from keras_attention.data.grammar.nominals import (
    PERSONS,
    NominalSampler,
    NoSentenceError,
)
from keras_attention.data.grammar.verbs import Verb, suitable_verbs, takes_gap

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
# too old is fine, too delicious is not, very black is odd
_ANY_DEGREE = (("very", "sehr"), ("too", "zu"))
_DEGREES = {
    **dict.fromkeys("schwarz weiß braun rot blau grün kaputt köstlich".split(), ()),
    **dict.fromkeys(
        "glücklich höflich berühmt freundlich schön wichtig interessant".split(),
        _ANY_DEGREE[:1],
    ),
}
_COPULA_SUBJECTS = (
    ("person",), ("person",), ("person",), ("kin",), ("animal",), ("text",),
    ("thing",), ("clothes",), ("vehicle",), ("building",), ("room",), ("food",),
)  # fmt: skip


@dataclasses.dataclass
class Clause:
    """One clause, said by `english` and `german`."""

    subject: phrases.NounPhrase
    verb: Verb | None = None  # None: to be
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


class Sampler(NominalSampler):
    """Draws the clauses of one sentence."""

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
        verb = self.rng.choice(verbs)
        if verb.english in self.used_verbs:
            raise NoSentenceError
        self.used_verbs.add(verb.english)
        return verb

    def subject(self, classes, kind, group):
        """A subject; not you with a preterite (du kauftest: nobody says it)."""
        subject = self.phrase(classes, is_subject=True)
        if kind == "copula" and subject.determiner == "a":
            raise NoSentenceError
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

    def clause(
        self, kind, group, subject=None, gap=None, adverbs=True, about_people=False
    ):
        """A clause of a kind.

        Args:
            kind: plain, perfect, pluperfect, future, modal, passive or copula.
            group: "present" or "past".
            subject: its subject, drawn when None.
            gap: a class of nouns whose phrase is missing from the objects.
            adverbs: whether it may have a time.
            about_people: whether a copula is about a person in a passing state.
        """
        noun_class = subject.noun_class if subject is not None else None
        test = None
        if gap is not None:
            test = takes_gap(gap)
        verb = None if kind == "copula" else self.verb(kind, noun_class, test)
        if kind == "copula":
            classes = ("person",) if about_people else self.rng.choice(_COPULA_SUBJECTS)
        elif kind == "passive":
            classes = verb.arguments[0].classes
        else:
            classes = verb.subjects
        if subject is None:
            subject = self.subject(classes, kind, group)
        clause = Clause(subject, verb, is_past=group == "past")
        _set_kind(self, clause, kind)
        if verb is None:
            clause.predicate = self.predicate(subject, about_people)
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
            key = _time_key(clause, kind, group)
            clause.time = self.rng.choice(self.rng.choice(adverbials.TIMES[key]))
        for flag in "mql":
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

    def predicate(self, subject, passing=False):
        """An adjective: tired, very old, older than, as old as, proud of."""
        noun_class = subject.noun_class
        adjective = self.rng.choice(
            [
                adjective
                for adjective in nouns.ADJECTIVES[noun_class]
                if f" {adjective.english})" not in subject.tree
                and (not passing or adjective.german in _PASSING)
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
        degree = _DEGREES.get(adjective.german, _ANY_DEGREE)
        if draw > 0.8 and degree:
            english, extra = self.rng.choice(degree)
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
        word = (
            f"(JJR {degrees[0]})" if degrees else f"(RBR more) (JJ {adjective.english})"
        )
        tree = f"(ADJP {word} (PP (IN than) {other.tree}))"
        return tree, [adjective.comparative], ["als", *words]


def _time_key(clause, kind, group):
    """Which times of `adverbials.TIMES` suit a clause."""
    if group == "past" and clause.tense == "simple":
        return "past"
    if clause.tense != "simple":
        return clause.tense
    if clause.modal:
        return "modal"
    return "state" if kind == "copula" else "present"


def _set_kind(sampler, clause, kind):
    rng, group = sampler.rng, "past" if clause.is_past else "present"
    if kind in ("perfect", "pluperfect", "future"):
        clause.tense = kind
    elif kind == "modal":
        modals = _PAST_MODALS if group == "past" else _PRESENT_MODALS
        if not clause.verb.is_deliberate:
            modals = ("können",)
        elif not clause.subject.is_human:
            modals = ("können", "müssen")
        clause.modal = rng.choice(modals)
    elif kind == "passive":
        clause.passive = True
        draw = rng.random()
        if group == "present" and draw < 0.3:
            clause.tense = "perfect"
        elif draw < 0.6 and clause.verb.is_deliberate:
            clause.modal = (
                "müssen"
                if group == "past"
                else rng.choice(("können", "müssen", "sollen"))
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
