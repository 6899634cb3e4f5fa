"""Draws whole sentences: constructions of one or two clauses."""

import dataclasses
import functools
import itertools

from keras_attention.data.grammar import english, german, phrases
from keras_attention.data.grammar.clauses import (
    NoSentenceError,
    Sampler,
    can_negate,
    kinds,
)
from keras_attention.data.grammar.nouns import ADJECTIVES
from keras_attention.data.grammar.verbs import MATRIX_VERBS

# (construction, position of the clause, kind): training never combines these.
HELD_OUT = frozenset({
    ("because-first", 0, "modal"), ("because", 1, "passive"),
    ("although", 1, "modal"), ("although-first", 1, "perfect"),
    ("that", 1, "future"), ("whether", 1, "modal"), ("adverb-question", 1, "perfect"),
    ("subject-relative", 1, "perfect"), ("object-relative", 1, "modal"),
    ("and", 1, "perfect"), ("but", 0, "modal"), ("while", 1, "passive"),
    ("question", 0, "passive"), ("when-first", 0, "future"),
})  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A construction with the kinds of its clauses, and its weight."""

    construction: str
    kinds: tuple
    group: str
    weight: float

    @property
    def name(self):
        return f"{self.construction}({', '.join(self.kinds)})"

    @property
    def is_novel(self):
        return any(
            (self.construction, position, kind) in HELD_OUT
            for position, kind in enumerate(self.kinds)
        )


def _statement(tree, words, mark="."):
    return f"{tree[:-1]} (. {mark}))", [*words, mark]


def _simple(sampler, pattern):
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    clause.time_first = clause.time is not None and sampler.chance(0.4)
    return _statement(english.statement(clause), german.verb_second(clause))


def _question(sampler, pattern):
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    return _statement(english.inverted(clause), german.verb_first(clause), "?")


_WHERE_WHEN_WHY = {"where": "wo", "when": "wann", "why": "warum"}


def _asked(sampler, clause):
    """A question word for an adverbial that the clause lacks."""
    words = ["why"]
    if clause.time is None and clause.frequency is None:
        words.append("when")
    if clause.verb is not None and "p" in clause.verb.flags and clause.place is None:
        words.append("where")
    return sampler.rng.choice(words)


def _adverb_question(sampler, pattern):
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    word = _asked(sampler, clause)
    tree = f"(SBARQ (WHADVP (WRB {word})) {english.inverted(clause)})"
    words = german.verb_first(clause, [_WHERE_WHEN_WHY[word]])
    return _statement(tree, words, "?")


def _subject_question(sampler, pattern):
    who = phrases.NounPhrase("(WHNP (WP who))", lambda case: ["wer"], kind="question",
                             is_human=True)  # fmt: skip
    clause = sampler.clause(pattern.kinds[0], pattern.group, subject=who)
    tree = f"(SBARQ (WHNP (WP who)) (SQ {english.predicate(clause)}))"
    return _statement(tree, german.verb_second(clause), "?")


_WHOM = {"a": "wen", "d": "wem"}


def _object_question(sampler, pattern):
    """whom, what, or which with a noun"""
    rng = sampler.rng
    noun_class = rng.choice(("person", "person", "text", "food", "thing", "vehicle"))
    clause = sampler.clause(pattern.kinds[0], pattern.group, gap=noun_class)
    argument = clause.arguments[0][0]
    is_person = "person" in argument.classes
    if sampler.chance(0.4):
        noun = sampler.noun((noun_class,))
        phrase = phrases.noun_phrase(noun, "bare", False)
        is_plural = not noun.is_mass and sampler.chance(0.3)
        phrase = phrases.noun_phrase(noun, "which", is_plural)
        front = f"(WHNP{phrase.tree[3:]}"
        words = phrase.german(argument.case)
    elif is_person:
        front, words = "(WHNP (WP whom))", [_WHOM[argument.case]]
    elif argument.is_bare:
        front, words = "(WHNP (WP what))", ["was"]
    else:
        return None
    if argument.german:
        words = [argument.german, *words]
    if argument.english:
        tag = "TO" if argument.english == "to" else "IN"
        front = f"(WHPP ({tag} {argument.english}) {front})"
    clause.arguments = []
    tree = f"(SBARQ {front} {english.inverted(clause)})"
    return _statement(tree, german.verb_first(clause, words), "?")


def _is_deliberate(verb):
    return "i" in verb.flags


def _takes_one_object(verb):
    return (
        len(verb.arguments) == 1
        and not verb.arguments[0].is_goal
        and not verb.particle
    )


def _command(sampler, pattern):
    verb = sampler.verb("plain", None, _is_deliberate)
    sampler.subjects.append("you")
    you = phrases.pronoun("you")
    clause = sampler.with_verb(verb, "plain", "present", you)
    tree = f"(S {english.verb_phrase(clause, [('VB', verb.english)])})"
    return _statement(tree, german.imperative(clause), "!")


_CONJUNCTIONS = {
    "because": "weil", "although": "obwohl", "if": "wenn", "while": "während",
    "before": "bevor", "after": "nachdem",
}  # fmt: skip


def _subordinate(sampler, pattern):
    """main + because ..., or Because ..., main"""
    word, _, first = pattern.construction.partition("-")
    main = sampler.clause(pattern.kinds[0], pattern.group, adverbs=not first)
    clause = sampler.clause(pattern.kinds[1], pattern.group, adverbs=False)
    if word == "while" and "perfect" in (main.tense, clause.tense):
        return None
    if word == "when" and main.verb is not None and main.verb.english == "ask":
        return None  # not an indirect question
    conjunction = _CONJUNCTIONS.get(word)
    if word == "when":
        conjunction = "als" if pattern.group == "past" else "wenn"
    tag = "(WHADVP (WRB when))" if word == "when" else f"(IN {word})"
    tree = f"(SBAR {tag} {english.statement(clause)})"
    words = german.verb_last(clause, [conjunction])
    if first:
        return _statement(
            english.statement(main, first=f"{tree} (, ,)"),
            german.verb_second(main, [*words, ","]),
        )
    main.after = (tree, [",", *words, ","])
    return _statement(english.statement(main), german.verb_second(main))


def _matrix(sampler, key, pattern):
    verb = sampler.rng.choice(MATRIX_VERBS[key])
    main = sampler.with_verb(verb, pattern.kinds[0], pattern.group)
    unsure = key == "whether" and verb.english == "know"
    if unsure or (key == "that" and sampler.chance(0.1)):
        main.negated = can_negate(main)
        if unsure and not main.negated:
            return None
    return main


def _reported(sampler, pattern):
    """knows that, asks whether, wonders where"""
    key = pattern.construction
    main = _matrix(sampler, "whether" if key == "where" else key, pattern)
    if main is None:
        return None
    clause = sampler.clause(pattern.kinds[1], pattern.group, adverbs=False)
    if key == "where":
        word = _asked(sampler, clause)
        opening, conjunction = f"(WHADVP (WRB {word}))", _WHERE_WHEN_WHY[word]
    else:
        opening = f"(IN {key})"
        conjunction = "dass" if key == "that" else "ob"
    words = german.verb_last(clause, [conjunction])
    main.after = (
        f"(SBAR {opening} {english.statement(clause)})",
        [",", *words, ","],
    )
    return _statement(english.statement(main), german.verb_second(main))


def _infinitive(sampler, pattern):
    """tries to read, in order to read"""
    is_purpose = pattern.construction == "purpose"
    if is_purpose:
        main = sampler.clause(pattern.kinds[0], pattern.group)
        if not main.subject.is_human or "s" in main.verb.flags:
            return None
        if main.negated or main.frequency:
            return None
    else:
        main = _matrix(sampler, "infinitive", pattern)
    verb = sampler.verb("future", "person", _is_deliberate)
    clause = sampler.with_verb(verb, "plain", "present", main.subject)
    inner = english.verb_phrase(clause, [("TO", "to"), ("VB", verb.english)])
    inner = inner.replace("(S (VP", "(VP", 1)[:-1] if "(S (VP" in inner else inner
    opening = []
    if is_purpose:
        inner = f"(SBAR (IN in) (NN order) (S {inner}))"
        opening = ["um"]
    else:
        inner = f"(S {inner})"
    main.after = (inner, [",", *german.infinitive(clause, opening), ","])
    return _statement(english.statement(main), german.verb_second(main))


def _relative(sampler, head, kind, group):
    """Adds a relative clause to a noun phrase."""
    who = "who" if head.is_human else "which"
    tag = "WP" if head.is_human else "WDT"
    column = (head.gender, head.is_plural)
    draw = sampler.rng.random()
    if kind in ("passive", "copula") or draw < 0.45:
        gap = dataclasses.replace(head, kind="question")
        clause = sampler.clause(kind, group, gap, adverbs=False)
        tree = f"(SBAR (WHNP ({tag} {who})) (S {english.predicate(clause)}))"
        pronoun = phrases.cell(phrases.RELATIVES, "n", *column)
        words = german.verb_last(clause, [pronoun], subject_is_gap=True)
    elif draw < 0.55 and head.noun_class == "person":
        owned = sampler.noun(("kin", "animal"))
        bare = phrases.noun_phrase(owned, "bare", False)
        clause = sampler.clause(kind, group, bare, adverbs=False)
        front = f"(WHNP (WP$ whose){bare.tree[3:]}"
        tree = f"(SBAR {front} (S {english.predicate(clause)}))"
        pronoun = phrases.cell(phrases.RELATIVES, "g", *column)
        opening = [pronoun, owned.nominative]
        words = german.verb_last(clause, opening, subject_is_gap=True)
    else:
        clause = sampler.clause(kind, group, gap=head.noun_class, adverbs=False)
        argument = clause.arguments[0][0]
        clause.arguments = []
        pronoun = phrases.cell(phrases.RELATIVES, argument.case, *column)
        front = f"(WHNP ({tag} {'whom' if head.is_human else who}))"
        if argument.english:
            preposition = "TO" if argument.english == "to" else "IN"
            front = f"(WHPP ({preposition} {argument.english}) {front})"
        tree = f"(SBAR {front} {english.statement(clause)})"
        opening = [argument.german, pronoun] if argument.german else [pronoun]
        words = german.verb_last(clause, opening)
    head.tree = f"(NP {head.tree} {tree})"
    head.relative = words


def _head(sampler, noun):
    """A phrase that a restrictive relative clause may follow."""
    is_plural = not noun.is_mass and sampler.chance(0.25)
    determiner = "the" if sampler.chance(0.8) or noun.is_mass else "a"
    if is_plural:
        determiner = "the"
    adjectives = ()
    if sampler.chance(0.2):
        adjective = sampler.rng.choice(ADJECTIVES[noun.noun_class])
        adjectives = ((adjective, ""),)
    return phrases.noun_phrase(noun, determiner, is_plural, adjectives)


def _subject_relative(sampler, pattern):
    noun = sampler.noun(("person", "person", "person", "animal", "text", "vehicle"))
    head = _head(sampler, noun)
    main = sampler.clause(pattern.kinds[0], pattern.group, head)
    if main.negated and head.determiner == "a":
        return None
    _relative(sampler, head, pattern.kinds[1], pattern.group)
    main.time_first = main.time is not None and sampler.chance(0.3)
    return _statement(english.statement(main), german.verb_second(main))


def _object_relative(sampler, pattern):
    kind = pattern.kinds[0]
    verb = sampler.verb(kind, "person", _takes_one_object)
    main = sampler.with_verb(verb, kind, pattern.group)
    argument = verb.arguments[0]
    head = _head(sampler, sampler.noun(argument.classes))
    _relative(sampler, head, pattern.kinds[1], pattern.group)
    main.arguments = [(argument, head)]
    return _statement(english.statement(main), german.verb_second(main))


def _coordinated(sampler, pattern):
    first = sampler.clause(pattern.kinds[0], pattern.group)
    second = sampler.clause(pattern.kinds[1], pattern.group, adverbs=False)
    words = german.verb_second(first)
    word = pattern.construction
    comma, middle = ("(, ,) ", [",", "aber"]) if word == "but" else ("", ["und"])
    tree = f"(S {english.statement(first)} {comma}(CC {word}) {english.statement(second)})"
    return _statement(tree, [*words, *middle, *german.verb_second(second)])


def _shared_subject(sampler, pattern):
    """The man opens the window and closes the door."""
    first = sampler.clause(pattern.kinds[0], pattern.group)
    if not first.subject.is_human or first.negated or first.verb.reflexive:
        return None
    second = sampler.clause(pattern.kinds[1], pattern.group, first.subject, adverbs=False)
    if second.negated or second.frequency or second.verb.reflexive:
        return None
    phrase = f"(VP {english.predicate(first)} (CC and) {english.predicate(second)})"
    if first.frequency:
        return None
    tree = f"(S {first.subject.tree} {phrase})"
    subject = len(first.subject.german("n"))
    rest = german.verb_second(second)[subject:]
    return _statement(tree, [*german.verb_second(first), "und", *rest])


_TWO = ("plain", "perfect", "future", "modal")
_ANY = ("plain", "perfect", "future", "modal", "passive", "copula")
_NO_FUTURE = ("plain", "perfect", "modal", "passive", "copula")
# construction: (function, weight, time groups, kinds of each clause)
_CONSTRUCTIONS = {
    "simple": (_simple, 26, "both", (_ANY,)),
    "question": (_question, 6, "both", (_ANY,)),
    "adverb-question": (_adverb_question, 4, "both", (_TWO,)),
    "subject-question": (_subject_question, 3, "both", (_TWO,)),
    "object-question": (_object_question, 4, "both", (_TWO,)),
    "command": (_command, 4, "present", (("plain",),)),
    "because": (_subordinate, 5, "both", (_ANY, _ANY)),
    "because-first": (_subordinate, 3, "both", (_ANY, _ANY)),
    "although": (_subordinate, 4, "both", (_ANY, _ANY)),
    "although-first": (_subordinate, 3, "both", (_ANY, _ANY)),
    "when": (_subordinate, 3, "both", (("plain", "modal", "passive"), ("plain", "copula"))),
    "when-first": (_subordinate, 3, "both", (_TWO, ("plain", "copula"))),
    "if-first": (_subordinate, 3, "present", (("plain", "future", "modal"), _NO_FUTURE)),
    "after-first": (_subordinate, 3, "past", (("plain", "passive"), ("pluperfect",))),
    "before": (_subordinate, 2, "past", (("plain", "modal"), ("plain", "passive"))),
    "while": (_subordinate, 3, "both", (("plain", "passive"), ("plain", "passive"))),
    "that": (_reported, 6, "both", (_TWO[:3], _ANY)),
    "whether": (_reported, 3, "both", (("plain", "perfect"), _ANY)),
    "where": (_reported, 3, "both", (("plain", "perfect"), ("plain", "perfect", "modal"))),
    "infinitive": (_infinitive, 5, "both", (_TWO, ("plain",))),
    "purpose": (_infinitive, 4, "both", (_TWO, ("plain",))),
    "subject-relative": (_subject_relative, 10, "both", (_ANY, _ANY)),
    "object-relative": (_object_relative, 10, "both", (_TWO, _ANY)),
    "and": (_coordinated, 4, "both", (_ANY, _ANY)),
    "but": (_coordinated, 4, "both", (_ANY, _ANY)),
    "shared-subject": (_shared_subject, 4, "both", (("plain",), ("plain",))),
}


def _patterns():
    result = []
    for construction, (_, weight, groups, clauses) in _CONSTRUCTIONS.items():
        found = []
        for group in ("present", "past") if groups == "both" else (groups,):
            weights = {"pluperfect": 1, **kinds(group)}
            for combination in itertools.product(*clauses):
                if all(kind in weights for kind in combination):
                    share = functools.reduce(
                        lambda total, kind: total * weights[kind], combination, 1.0
                    )
                    found.append(Pattern(construction, combination, group, share))
        total = sum(pattern.weight for pattern in found)
        result += [
            dataclasses.replace(pattern, weight=weight * pattern.weight / total)
            for pattern in found
        ]
    return tuple(result)


PATTERNS = _patterns()


def draw_sentence(rng, pattern):
    """(English tree, German words) of a pattern, None when the draw has no sentence."""
    function = _CONSTRUCTIONS[pattern.construction][0]
    try:
        return function(Sampler(rng), pattern)
    except NoSentenceError:
        return None
