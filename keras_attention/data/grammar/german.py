"""German side: the words of one clause in every word order."""

from keras_attention.data.grammar.phrases import with_preposition
from keras_attention.data.grammar.verbs import AUXILIARIES


def verb_parts(clause):
    """(finite verb, its separable prefix, the verbs at the end of the clause)."""
    verb, agreement, past = clause.verb, clause.agreement, int(clause.is_past)
    infinitive, participle, auxiliary = "sein", "gewesen", "sein"
    prefix = ""
    if verb is not None:
        infinitive = verb.prefix + verb.infinitive
        participle, auxiliary = verb.participle, verb.auxiliary
        prefix = verb.prefix
    tail = [participle, "werden"] if clause.passive else [infinitive]
    if clause.tense in ("perfect", "pluperfect"):
        if clause.passive:
            auxiliary, tail = "sein", [participle, "worden"]
        else:
            tail = [participle]
        past = int(clause.tense == "pluperfect")
        return AUXILIARIES[auxiliary][past][agreement], "", tail
    if clause.tense == "future":
        return AUXILIARIES["werden"][0][agreement], "", tail
    if clause.modal:
        return AUXILIARIES[clause.modal][past][agreement], "", tail
    if clause.passive:
        return AUXILIARIES["werden"][past][agreement], "", [participle]
    if verb is None:
        return AUXILIARIES["sein"][past][agreement], "", []
    forms = verb.preterite if clause.is_past else verb.present
    return forms[agreement], prefix, []


def _objects(clause):
    """Pronouns, definite and indefinite objects, prepositional ones, and whether a
    `kein` has taken the negation.
    """
    pronouns, definite, indefinite, late, negated = [], [], [], [], clause.negated
    for argument, phrase in clause.arguments:
        if phrase is None:  # a gap
            continue
        if argument.is_goal:
            late += phrase.german
        elif not argument.is_bare:
            late += with_preposition(argument.german, argument.case, phrase)
        elif phrase.kind in ("pronoun", "name"):
            pronouns += phrase.german(argument.case)
        elif negated and phrase.kein is not None:
            indefinite += phrase.kein(argument.case)
            negated = False
        elif phrase.is_definite:
            definite += phrase.german(argument.case)
        else:
            indefinite += phrase.german(argument.case)
    return pronouns, definite, indefinite, late, negated


def middle(clause):
    """The middle field without the subject; also what is extraposed."""
    pronouns, definite, indefinite, late, negated = _objects(clause)
    time = clause.time[1] if clause.time and not clause.time_first else []
    frequency = clause.frequency[1] if clause.frequency else []
    if clause.negated:  # Er kauft das Buch heute nicht. Er kauft heute das Buch.
        words = [*pronouns, *definite, *time]
    else:
        words = [*pronouns, *time, *definite]
    words += [*frequency, *indefinite]
    if negated:
        words.append("nicht")
    for extra in (clause.agent, clause.manner, clause.place):
        words += extra[1] if extra is not None else []
    words += late
    if clause.predicate is not None:
        words += clause.predicate[1]
    after = list(clause.predicate[2]) if clause.predicate is not None else []
    for _, phrase in clause.arguments:
        if phrase is not None and getattr(phrase, "relative", None):
            after += [",", *phrase.relative, ","]
    return words, after + (clause.after[1] if clause.after is not None else [])


def _reflexive(clause):
    if clause.verb is not None and clause.verb.reflexive:
        return [clause.subject.reflexive]
    return []


def verb_second(clause, first=None):
    """A main clause; `first` are the words of a fronted phrase, else the subject."""
    finite, prefix, tail = verb_parts(clause)
    words, after = middle(clause)
    end = [*words, *([prefix] if prefix else []), *tail, *after]
    subject = clause.subject.german_with("n")
    if first is None and clause.time is not None and clause.time_first:
        first = clause.time[1]
    if first is None:
        return [*subject, finite, *_reflexive(clause), *end]
    return [*first, finite, *_subject_and_reflexive(clause, subject), *end]


def verb_first(clause, question=()):
    """A question, after `question` words if any."""
    return verb_second(clause, list(question))


def _subject_and_reflexive(clause, subject):
    if clause.subject.kind == "pronoun":
        return [*subject, *_reflexive(clause)]
    return [*_reflexive(clause), *subject]


def verb_last(clause, opening, subject_is_gap=False):
    """A subordinate clause after its opening words, without commas around."""
    finite, prefix, tail = verb_parts(clause)
    words, after = middle(clause)
    if subject_is_gap:
        subject = _reflexive(clause)
    else:
        subject = [*clause.subject.german_with("n"), *_reflexive(clause)]
    return [*opening, *subject, *words, *tail, prefix + finite, *after]


def infinitive(clause, opening=()):
    """A clause with zu."""
    words, after = middle(clause)
    zu = clause.verb.zu_infinitive
    return [*opening, *_reflexive(clause), *words, *zu, *after]


def imperative(clause):
    """A command to du."""
    verb = clause.verb
    words, after = middle(clause)
    prefix = [verb.prefix] if verb.prefix else []
    return [verb.imperative, *_reflexive(clause), *words, *prefix, *after]
