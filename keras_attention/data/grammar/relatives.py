"""Sentences with a relative clause on the subject or on the object."""

import dataclasses

from keras_attention.data.grammar import english, german, phrases
from keras_attention.data.grammar.nouns import ADJECTIVES
from keras_attention.data.grammar.single_clauses import statement


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


def subject_relative(sampler, pattern):
    """The man who reads a book sleeps."""
    noun = sampler.noun(("person", "person", "person", "animal", "text", "vehicle"))
    head = _head(sampler, noun)
    main = sampler.clause(pattern.kinds[0], pattern.group, head)
    if main.negated and head.determiner == "a":
        return None
    _relative(sampler, head, pattern.kinds[1], pattern.group)
    main.time_first = main.time is not None and sampler.chance(0.3)
    return statement(english.statement(main), german.verb_second(main))


def _takes_one_object(verb):
    return (
        len(verb.arguments) == 1 and not verb.arguments[0].is_goal and not verb.particle
    )


def object_relative(sampler, pattern):
    """I see the man who reads a book."""
    kind = pattern.kinds[0]
    verb = sampler.verb(kind, "person", _takes_one_object)
    main = sampler.with_verb(verb, kind, pattern.group)
    argument = verb.arguments[0]
    head = _head(sampler, sampler.noun(argument.classes))
    _relative(sampler, head, pattern.kinds[1], pattern.group)
    main.arguments = [(argument, head)]
    return statement(english.statement(main), german.verb_second(main))
