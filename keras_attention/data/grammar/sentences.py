"""The constructions of the corpus, their clause kinds, and what training lacks."""

import dataclasses
import functools
import itertools

from keras_attention.data.grammar import clause_pairs, relatives, single_clauses
from keras_attention.data.grammar.clauses import Sampler, kinds
from keras_attention.data.grammar.nominals import NoSentenceError

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


_TWO = ("plain", "perfect", "future", "modal")
_ANY = ("plain", "perfect", "future", "modal", "passive", "copula")
_NO_FUTURE = ("plain", "perfect", "modal", "passive", "copula")
# construction: (function, weight, time groups, kinds of each clause)
_CONSTRUCTIONS = {
    "simple": (single_clauses.simple, 26, "both", (_ANY,)),
    "question": (single_clauses.question, 6, "both", (_ANY,)),
    "adverb-question": (single_clauses.adverb_question, 4, "both", (_TWO,)),
    "subject-question": (single_clauses.subject_question, 3, "both", (_TWO,)),
    "object-question": (single_clauses.object_question, 4, "both", (_TWO,)),
    "command": (single_clauses.command, 4, "present", (("plain",),)),
    "because": (clause_pairs.subordinate, 5, "both", (_ANY, _ANY)),
    "because-first": (clause_pairs.subordinate, 3, "both", (_ANY, _ANY)),
    "although": (clause_pairs.subordinate, 4, "both", (_ANY, _ANY)),
    "although-first": (clause_pairs.subordinate, 3, "both", (_ANY, _ANY)),
    "when": (
        clause_pairs.subordinate,
        3,
        "both",
        (("plain", "modal", "passive"), ("plain", "copula")),
    ),
    "when-first": (
        clause_pairs.subordinate,
        3,
        "both",
        (("plain", "future", "modal"), ("plain", "copula")),
    ),
    "if-first": (
        clause_pairs.subordinate,
        3,
        "present",
        (("plain", "future", "modal"), _NO_FUTURE),
    ),
    "after-first": (
        clause_pairs.subordinate,
        3,
        "past",
        (("plain", "passive"), ("pluperfect",)),
    ),
    "before": (
        clause_pairs.subordinate,
        2,
        "past",
        (("plain", "modal"), ("plain", "passive")),
    ),
    "while": (
        clause_pairs.subordinate,
        3,
        "both",
        (("plain", "passive"), ("plain", "passive")),
    ),
    "that": (clause_pairs.reported, 6, "both", (_TWO[:3], _ANY)),
    "whether": (clause_pairs.reported, 3, "both", (("plain", "perfect"), _ANY)),
    "where": (
        clause_pairs.reported,
        3,
        "both",
        (("plain", "perfect"), ("plain", "perfect", "modal")),
    ),
    "infinitive": (clause_pairs.infinitive, 5, "both", (_TWO, ("plain",))),
    "purpose": (clause_pairs.infinitive, 4, "both", (_TWO, ("plain",))),
    "subject-relative": (relatives.subject_relative, 10, "both", (_ANY, _ANY)),
    "object-relative": (relatives.object_relative, 10, "both", (_TWO, _ANY)),
    "and": (clause_pairs.coordinated, 4, "both", (_ANY, _ANY)),
    "but": (clause_pairs.coordinated, 4, "both", (_ANY, _ANY)),
    "shared-subject": (
        clause_pairs.shared_subject,
        4,
        "both",
        (("plain",), ("plain",)),
    ),
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
