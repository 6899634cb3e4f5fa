"""Sentences of one clause: statements, questions and commands.

Every function takes a `Sampler` and a pattern, and gives the English tree and the
German words, or None when the draw has no sentence.
"""

from keras_attention.data.grammar import english, german, phrases


def statement(tree, words, mark="."):
    """A sentence with its closing mark, in both languages."""
    return f"{tree[:-1]} (. {mark}))", [*words, mark]


def simple(sampler, pattern):
    """On Monday the man reads a book."""
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    clause.time_first = clause.time is not None and sampler.chance(0.4)
    return statement(english.statement(clause), german.verb_second(clause))


def question(sampler, pattern):
    """Does the man read a book?"""
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    if clause.subject.determiner == "every":
        return None
    return statement(english.inverted(clause), german.verb_first(clause), "?")


WHERE_WHEN_WHY = {"where": "wo", "when": "wann", "why": "warum"}


def asked(sampler, clause):
    """A question word for an adverbial that the clause lacks."""
    words = ["why"]
    is_state = clause.verb is not None and "s" in clause.verb.flags
    if (
        clause.time is None
        and clause.frequency is None
        and not is_state
        and not clause.negated
    ):
        words.append("when")
    if (
        clause.verb is not None
        and "p" in clause.verb.flags
        and clause.place is None
        and (not clause.negated)
    ):
        words.append("where")
    return sampler.rng.choice(words)


def adverb_question(sampler, pattern):
    """Why does the man read a book?"""
    clause = sampler.clause(pattern.kinds[0], pattern.group)
    if clause.subject.determiner == "every":
        return None
    word = asked(sampler, clause)
    tree = f"(SBARQ (WHADVP (WRB {word})) {english.inverted(clause)})"
    words = german.verb_first(clause, [WHERE_WHEN_WHY[word]])
    return statement(tree, words, "?")


def subject_question(sampler, pattern):
    """Who reads a book?"""
    who = phrases.NounPhrase("(WHNP (WP who))", lambda case: ["wer"], kind="question",
                             is_human=True)  # fmt: skip
    clause = sampler.clause(pattern.kinds[0], pattern.group, subject=who)
    tree = f"(SBARQ (WHNP (WP who)) (SQ {english.predicate(clause)}))"
    return statement(tree, german.verb_second(clause), "?")


_WHOM = {"a": "wen", "d": "wem"}


def object_question(sampler, pattern):
    """whom, what, or which with a noun"""
    rng = sampler.rng
    noun_class = rng.choice(("person", "person", "text", "food", "thing", "vehicle"))
    clause = sampler.clause(pattern.kinds[0], pattern.group, gap=noun_class)
    if clause.subject.determiner == "every":
        return None
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
    return statement(tree, german.verb_first(clause, words), "?")


def is_deliberate(verb):
    """Whether one can be told to do it."""
    return verb.is_deliberate


def command(sampler, pattern):
    """Read the book!"""
    verb = sampler.verb("plain", None, is_deliberate)
    sampler.subjects.append("you")
    you = phrases.pronoun("you")
    clause = sampler.with_verb(verb, "plain", "present", you)
    tree = f"(S {english.verb_phrase(clause, [('VB', verb.english)])})"
    return statement(tree, german.imperative(clause), "!")
