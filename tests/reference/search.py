"""Beam search and exhaustive search in plain Python, written from the rules.

A language is a function from the ids so far (a tuple that begins with START) to the
logits of the next id, a list of floats. Both searches return `Found` tuples, best
first; the ids are without START and with END.
"""

import math
from typing import NamedTuple

PAD, START, END = 0, 2, 3
NEVER = -math.inf


class Found(NamedTuple):
    ids: tuple
    log_prob: float
    score: float


def log_softmax(logits):
    highest = max(logits)
    if highest == NEVER:
        return [NEVER] * len(logits)
    total = math.log(sum(math.exp(x - highest) for x in logits))
    return [x - highest - total for x in logits]


def penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


def _extensions(language, prefix):
    """All ids that may follow, with the model's own log-probability."""
    for next_id, log_prob in enumerate(log_softmax(language(prefix))):
        if next_id not in (PAD, START) and log_prob > NEVER:
            yield next_id, log_prob


def _best_first(items, value):
    return sorted(items, key=value, reverse=True)  # stable: the earlier one stays


def _found(ids, log_prob, alpha):
    return Found(ids, log_prob, log_prob / penalty(len(ids), alpha))


def exhaustive(language, limit, alpha, count):
    """The `count` best hypotheses of all that end within the limit."""
    ended, still_open = [], [((), 0.0)]
    for _ in range(limit):
        longer = [
            ((*ids, next_id), log_prob + more)
            for ids, log_prob in still_open
            for next_id, more in _extensions(language, (START, *ids))
        ]
        ended += [x for x in longer if x[0][-1] == END]
        still_open = [x for x in longer if x[0][-1] != END]
    found = [_found(ids, log_prob, alpha) for ids, log_prob in ended or still_open]
    return _best_first(found, lambda x: x.score)[:count]


def search(language, limit, beam_size, alpha, count):
    """Beam search over one sentence: (hypotheses, number of steps taken)."""
    pool, beams, steps = [], [((), 0.0)], 0
    while not _has_ended(pool, beams, steps, limit, alpha, count):
        extensions = [
            ((*ids, next_id), log_prob + more)
            for ids, log_prob in beams
            for next_id, more in _extensions(language, (START, *ids))
        ]
        taken = 2 * beam_size if beam_size > 1 else 1
        extensions = _best_first(extensions, lambda x: x[1])[:taken]
        pool += [_found(*x, alpha) for x in extensions if x[0][-1] == END]
        pool = _best_first(pool, lambda x: x.score)[:count]
        beams = [x for x in extensions if x[0][-1] != END][:beam_size]
        steps += 1
    if not pool:
        pool = [_found(*x, alpha) for x in beams[:count]]
    return pool, steps


def _has_ended(pool, beams, steps, limit, alpha, count):
    if steps >= limit or not beams:
        return True
    bound = beams[0][1] / penalty(limit, alpha)
    return len(pool) == count and bound <= pool[-1].score
