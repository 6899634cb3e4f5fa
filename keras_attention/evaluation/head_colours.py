"""A colour for each head, that people with any colour vision can tell apart.

Found by search: on white and on near-black, as far apart as eight colours can be for
normal vision and for those who lack one kind of cones (Machado et al. 2009), where
each has a contrast of 2.6 to the ground at least. The ninth head and those after it
have the colours again, with other dashes.
"""

import dataclasses

ON_WHITE = (
    *("#0000ff", "#ff7711", "#55aacc", "#aa0000"),
    *("#889977", "#550066", "#000000", "#aa55ee"),
)
ON_BLACK = (
    *("#cceeff", "#bb6600", "#00ff88", "#dd77ff"),
    *("#ffee33", "#6633ff", "#779977", "#775588"),
)
DASHES = ((), (5, 3), (1, 3), (7, 3, 1, 3))  # points on and off; () = solid


@dataclasses.dataclass(frozen=True)
class HeadStyle:
    """How the lines of a head look.

    Attributes:
        colour: index into `ON_WHITE` and `ON_BLACK`.
        dashes: index into `DASHES`.
    """

    colour: int
    dashes: int


def head_style(head):
    """Returns the `HeadStyle` of a head.

    Args:
        head: int, from 0. From the 33rd on styles come again.

    Example:

    >>> head_style(9)
    HeadStyle(colour=1, dashes=1)
    """
    return HeadStyle(head % len(ON_WHITE), head // len(ON_WHITE) % len(DASHES))
