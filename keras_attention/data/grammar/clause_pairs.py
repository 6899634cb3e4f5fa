"""Sentences of two clauses: subordinate, reported, infinitive and coordinated ones."""

from keras_attention.data.grammar import english, german
from keras_attention.data.grammar.clauses import can_negate
from keras_attention.data.grammar.single_clauses import (
    WHERE_WHEN_WHY,
    asked,
    is_deliberate,
    statement,
)
from keras_attention.data.grammar.verbs import MATRIX_VERBS

_CONJUNCTIONS = {
    "because": "weil", "although": "obwohl", "if": "wenn", "while": "während",
    "before": "bevor", "after": "nachdem",
}  # fmt: skip


def _can_coincide(word, main, clause):
    """Whether two clauses make sense when, while, before or after each other."""
    if word == "while" and "perfect" in (main.tense, clause.tense):
        return False
    if word == "when" and main.verb is not None and main.verb.english == "ask":
        return False  # it would be an indirect question
    if clause.negated and word in ("after", "before", "while"):
        return False
    if clause.frequency or (main.frequency and main.is_past):
        return False
    return not any(part.verb and "s" in part.verb.flags for part in (main, clause))


def subordinate(sampler, pattern):
    """main + because ..., or Because ..., main"""
    word, _, first = pattern.construction.partition("-")
    main, clause = (
        sampler.clause(
            kind,
            pattern.group,
            adverbs=position == 0 and not first,
            about_people=True,
        )
        for position, kind in enumerate(pattern.kinds)
    )
    if word not in ("because", "although") and not _can_coincide(word, main, clause):
        return None
    conjunction = _CONJUNCTIONS.get(word)
    if word == "when":
        conjunction = "als" if pattern.group == "past" else "wenn"
    tag = "(WHADVP (WRB when))" if word == "when" else f"(IN {word})"
    tree = f"(SBAR {tag} {english.statement(clause)})"
    words = german.verb_last(clause, [conjunction])
    if first:
        return statement(
            english.statement(main, first=f"{tree} (, ,)"),
            german.verb_second(main, [*words, ","]),
        )
    main.after = (tree, [",", *words, ","])
    return statement(english.statement(main), german.verb_second(main))


def _matrix(sampler, key, pattern):
    verb = sampler.rng.choice(MATRIX_VERBS[key])
    if verb.english == "know" and pattern.kinds[0] != "plain":
        return None
    if pattern.kinds[0] == "future" and verb.english not in ("say", "hear"):
        return None
    main = sampler.with_verb(verb, pattern.kinds[0], pattern.group)
    unsure = key == "whether" and verb.english == "know"
    if unsure or (key == "that" and sampler.chance(0.1)):
        main.negated = can_negate(main)
        if unsure and not main.negated:
            return None
    return main


def reported(sampler, pattern):
    """knows that, asks whether, wonders where"""
    key = pattern.construction
    main = _matrix(sampler, "whether" if key == "where" else key, pattern)
    if main is None:
        return None
    clause = sampler.clause(pattern.kinds[1], pattern.group, adverbs=False)
    if key == "where":
        word = asked(sampler, clause)
        opening, conjunction = f"(WHADVP (WRB {word}))", WHERE_WHEN_WHY[word]
    else:
        opening = f"(IN {key})"
        conjunction = "dass" if key == "that" else "ob"
    words = german.verb_last(clause, [conjunction])
    main.after = (
        f"(SBAR {opening} {english.statement(clause)})",
        [",", *words, ","],
    )
    return statement(english.statement(main), german.verb_second(main))


def infinitive(sampler, pattern):
    """tries to read, in order to read"""
    is_purpose = pattern.construction == "purpose"
    if is_purpose:
        main = sampler.clause(pattern.kinds[0], pattern.group)
        if not main.subject.is_human or "s" in main.verb.flags:
            return None
        if main.negated or main.frequency:
            return None
    else:
        verb = sampler.rng.choice(MATRIX_VERBS["infinitive"])
        main = sampler.with_verb(verb, pattern.kinds[0], pattern.group)
    verb = sampler.verb("future", "person", is_deliberate)
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
    return statement(english.statement(main), german.verb_second(main))


def coordinated(sampler, pattern):
    """The man reads and the woman sings."""
    first = sampler.clause(pattern.kinds[0], pattern.group)
    second = sampler.clause(pattern.kinds[1], pattern.group, adverbs=False)
    words = german.verb_second(first)
    word = pattern.construction
    comma, middle = ("(, ,) ", [",", "aber"]) if word == "but" else ("", ["und"])
    tree = (
        f"(S {english.statement(first)} {comma}(CC {word}) {english.statement(second)})"
    )
    return statement(tree, [*words, *middle, *german.verb_second(second)])


def shared_subject(sampler, pattern):
    """The man opens the window and closes the door."""
    first = sampler.clause(pattern.kinds[0], pattern.group)
    if not first.subject.is_human or first.negated or first.verb.reflexive:
        return None
    second = sampler.clause(
        pattern.kinds[1], pattern.group, first.subject, adverbs=False
    )
    if second.negated or second.frequency or second.verb.reflexive:
        return None
    phrase = f"(VP {english.predicate(first)} (CC and) {english.predicate(second)})"
    if first.frequency:
        return None
    tree = f"(S {first.subject.tree} {phrase})"
    subject = len(first.subject.german("n"))
    rest = german.verb_second(second)[subject:]
    return statement(tree, [*german.verb_second(first), "und", *rest])
