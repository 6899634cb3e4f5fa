"""What is told of the heads of a model: profiles, and the report of all of them."""

import dataclasses
import json

from keras_attention.evaluation.attended_sentences import SIDES

MEASURES = (
    "previous",
    "same",
    "next",
    "punctuation",
    "boundary",
    "aligned",
    "aligned_read",
    "entropy",
)
OFTEN = 0.4  # the share of positions from which on a head is said to look somewhere


@dataclasses.dataclass(frozen=True)
class HeadProfile:
    """Where the weight of one head goes, as means over positions that attend.

    A mean is taken over the positions where there is such a piece to attend to; None
    where there is none, such as the next piece in decoder self-attention.

    Attributes:
        kind: one of `KINDS`.
        layer, head: from 1.
        previous, same, next: the share of the weight that goes to the piece before, at
            and behind the place of the one that attends. Between decoder and encoder
            this is the place of the piece that is being written.
        punctuation: the share of pieces that are nothing but punctuation.
        boundary: the share of START and END, where a head looks that finds nothing.
        aligned: encoder-decoder only; the share of the source piece that is aligned
            with the target piece that is being written.
        aligned_read: the same for the target piece before it, which is being read.
        entropy: in nats; 0 is one piece only.
        strongest: for each measure but the entropy, the share of those positions
            whose strongest weight is there; empty for the head of `uniform`.
    """

    kind: str
    layer: int
    head: int
    previous: float | None
    same: float | None
    next: float | None
    punctuation: float | None
    boundary: float | None
    aligned: float | None
    aligned_read: float | None
    entropy: float
    strongest: dict[str, float | None]

    @property
    def roles(self):
        """What the strongest weight is given to at `OFTEN` of the positions or more."""
        shares = self.strongest.items()
        return tuple(name for name, x in shares if x is not None and x >= OFTEN)


@dataclasses.dataclass(frozen=True)
class HeadReport:
    """The heads of a model over a set of sentences.

    Attributes:
        sentences: how many.
        positions: kind -> how many positions attended.
        heads: a `HeadProfile` each, in the order of kinds, layers and heads.
        uniform: kind -> the `HeadProfile` (layer and head 0) of a head that attends to
            everything it may alike: what is no more than this is chance.
    """

    sentences: int
    positions: dict[str, int]
    heads: tuple[HeadProfile, ...]
    uniform: dict[str, HeadProfile]

    def to_dict(self):
        """Returns all of it for JSON."""
        told = dataclasses.asdict(self)
        for head, profile in zip(told["heads"], self.heads, strict=True):
            head["roles"] = list(profile.roles)
        return told

    def to_json(self):
        """Returns it as JSON, numbers with 6 digits behind the point."""
        return json.dumps(_rounded(self.to_dict()), indent=2, allow_nan=False) + "\n"

    def to_text(self):
        """Returns a table for each kind of attention, a head a line."""
        lines = [
            f"{self.sentences} sentences; means of the weight, entropy in nats; last, "
            f"where at least {OFTEN:.0%} of the positions have their strongest weight"
        ]
        for kind, uniform in self.uniform.items():
            lines += ["", f"{kind.replace('_', ' ')}, {self.positions[kind]} positions"]
            names = measures_of(kind)
            lines.append("".join(f"{name:>13}" for name in ("layer.head", *names)))
            heads = [head for head in self.heads if head.kind == kind]
            for profile in (*heads, uniform):
                name = f"{profile.layer}.{profile.head}" if profile.layer else "uniform"
                cells = [_cell(getattr(profile, name)) for name in names]
                row = "".join(f"{cell:>13}" for cell in (name, *cells))
                roles = (f"{x} {profile.strongest[x]:.0%}" for x in profile.roles)
                lines.append(f"{row}  {', '.join(roles)}".rstrip())
        return "\n".join(lines) + "\n"


def measures_of(kind):
    """Returns the measures that can be taken of a kind of attention."""
    across = SIDES[kind][0] != SIDES[kind][1]
    return [n for n in MEASURES if across or not n.startswith("aligned")]


def _cell(value):
    return "-" if value is None else f"{value:.2f}"


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value
