"""English side: the constituency tree of one clause."""

_BE = {(1, False): ("am", "VBP"), (3, False): ("is", "VBZ")}
_PARTICLES = {"asleep": "(ADJP (JJ asleep))", "care": "(NP (NN care))",
              "part": "(NP (NN part))"}  # fmt: skip


def _finite(agreement, third, base, past, is_past):
    """(tag, word) of an English finite verb."""
    if is_past:
        return "VBD", past
    return ("VBZ", third) if agreement == (3, False) else ("VBP", base)


def be(agreement, is_past):
    """The finite form of to be."""
    if is_past:
        return "VBD", "was" if agreement in ((1, False), (3, False)) else "were"
    word, tag = _BE.get(agreement, ("are", "VBP"))
    return tag, word


# German modal -> (present, past), a word, or the finite verb before `to`.
_MODALS = {
    "können": ("can", "could"),
    "müssen": ("must", ("have", "has", "had")),
    "wollen": (("want", "wants", "wanted"),) * 2,
    "dürfen": ("may", "might"),
    "sollen": ("should", "should"),
}


def chain(clause, do_support):
    """The verbs of a clause from the finite one to the last, as (tag, word)."""
    verb, agreement, is_past = clause.verb, clause.agreement, clause.is_past
    if clause.passive:
        verbs = [be(agreement, is_past), ("VBN", verb.english_participle)]
        rest = [("VB", "be"), verbs[1]]
    elif verb is None:
        verbs, rest = [be(agreement, is_past)], [("VB", "be")]
    else:
        finite = _finite(
            agreement, verb.english_third, verb.english, verb.english_past, is_past
        )
        verbs, rest = [finite], [("VB", verb.english)]
    if clause.tense in ("perfect", "pluperfect"):
        has = _finite(agreement, "has", "have", "had", clause.tense == "pluperfect")
        been = [("VBN", "been")] if clause.passive or verb is None else []
        last = [] if verb is None else [("VBN", verb.english_participle)]
        return [has, *been, *last]
    if clause.tense == "future":
        return [("MD", "will"), *rest]
    if clause.modal:
        word = _MODALS[clause.modal][is_past]
        if word == "must" and do_support:  # must not is darf nicht
            word = _MODALS[clause.modal][True]
        if isinstance(word, str):
            return [("MD", word), *rest]
        finite = _finite(agreement, word[1], word[0], word[2], is_past)
        if do_support:
            did = _finite(agreement, "does", "do", "did", is_past)
            return [did, ("VB", word[0]), ("TO", "to"), *rest]
        return [finite, ("TO", "to"), *rest]
    if do_support and not clause.passive and verb is not None:
        return [_finite(agreement, "does", "do", "did", is_past), *rest]
    return verbs


def prepositional(preposition, tree):
    """(PP (IN with) NP); `to` has a tag of its own."""
    tag = "TO" if preposition == "to" else "IN"
    return f"(PP ({tag} {preposition}) {tree})"


def complements(clause):
    """Trees after the last verb: objects, particle, place, time, clause."""
    parts = []
    verb = clause.verb
    particle = ""
    if verb is not None and verb.particle:
        particle = _PARTICLES.get(verb.particle, f"(PRT (RP {verb.particle}))")
    for argument, phrase in clause.arguments:
        if phrase is None:  # a gap
            if argument.english:
                parts.append(f"(PP (IN {argument.english}))")
        elif argument.is_goal:
            parts.append(phrase.tree)
        elif argument.english:
            parts.append(prepositional(argument.english, _object(phrase)))
        else:
            parts.append(_object(phrase))
    if particle:
        first = clause.arguments[0] if clause.arguments else None
        after = first and first[1] is not None and first[1].kind == "pronoun"
        after = after and not first[0].english
        parts.insert(1 if after else 0, particle)
    if clause.predicate is not None:
        parts.append(clause.predicate[0])
    for extra in (clause.agent, clause.manner, clause.place):
        if extra is not None:
            parts.append(extra[0])
    if clause.time is not None and not clause.time_first:
        parts.append(clause.time[0])
    if clause.after is not None:
        parts.append(clause.after[0])
    return parts


def _object(phrase):
    return phrase.object_tree or phrase.tree


def verb_phrase(clause, verbs, negated=False, frequency=""):
    """(VP ...) from a chain of verbs; `not` and `often` stand after the first one."""
    (tag, word), *rest = verbs
    extras = ["(RB not)"] if negated else []
    if frequency:
        extras.append(frequency)
    if not rest:
        return f"(VP {' '.join([f'({tag} {word})', *extras, *complements(clause)])})"
    inner = verb_phrase(clause, rest)
    if rest[0][0] == "TO":
        inner = f"(S {inner})"
    return f"(VP {' '.join([f'({tag} {word})', *extras, inner])})"


def predicate(clause):
    """The trees after the subject of a statement."""
    verbs = chain(clause, clause.negated)
    frequency = clause.frequency[0] if clause.frequency else ""
    if frequency and len(verbs) == 1 and clause.verb is not None:
        return f"{frequency} {verb_phrase(clause, verbs)}"
    return verb_phrase(clause, verbs, clause.negated, frequency)


def statement(clause, label="S", first=""):
    """(S [first] NP VP)"""
    parts = [first] if first else []
    if clause.time is not None and clause.time_first:
        parts.append(clause.time[0])
    parts += [clause.subject.tree, predicate(clause)]
    return f"({label} {' '.join(parts)})"


def inverted(clause):
    """(SQ does NP VP)"""
    (tag, word), *rest = chain(clause, True)
    frequency = clause.frequency[0] if clause.frequency else ""
    parts = [f"({tag} {word})", clause.subject.tree]
    if clause.negated:
        parts.append("(RB not)")
    if frequency:
        parts.append(frequency)
    parts.extend([verb_phrase(clause, rest)] if rest else complements(clause))
    return f"(SQ {' '.join(parts)})"
