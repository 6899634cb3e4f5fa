"""The heads of a block as lines between two columns of pieces: PNG or SVG."""

import io
import unicodedata

import numpy as np

from keras_attention.checks import check_choice
from keras_attention.evaluation.attention_maps import check_pieces
from keras_attention.evaluation.head_colours import DASHES, ON_WHITE, head_style
from keras_attention.evaluation.lettering import lettering

FORMS = ("png", "svg")
FAINTEST = 0.01  # lighter lines cannot be seen, and are left out
# Inches: a piece, a sign of it, between the columns, around all, a square of a head.
_ROW, _SIGN, _GAP, _EDGE, _SQUARE = 0.22, 0.085, 2.4, 0.25, 0.1
_DOTS, _MOST_DOTS = 150, 2**15  # an inch; a side of a picture
_MOST_NUMBERS = 12  # of heads, in one line
_MOST_SIGNS = 24  # of a piece, in the width of a column


def draw_lines(weights, queries, keys, title="", heads=None, words=None, form="png"):
    """Draws attention as in Figures 3-5: a line's opacity is its weight.

    Who attends stands on the left, what is attended to on the right. Each head has a
    colour. With `words`, squares beside what is attended to tell the weights of each
    head, as in Figures 3 and 4.

    Args:
        weights: floats of shape (H, Q, M) between 0 and 1.
        queries: Q str, the pieces that attend.
        keys: M str, the pieces that are attended to.
        title: str, above the columns.
        heads: the heads to draw, from 0; None = all.
        words: the positions among the queries whose lines are drawn; None = all.
        form: "png" or "svg"; text in SVG stays text, drawn with the reader's fonts.

    Returns:
        bytes of the picture.

    Raises:
        ValueError: pieces that do not fit the weights, or a head, position or form
            that does not exist.

    Example:

    >>> draw_lines(np.ones((2, 1, 1)), ["a"], ["b"])[1:4]
    b'PNG'

    Reference: figures 3-5, in the paper's appendix.
    """
    import matplotlib
    from matplotlib.figure import Figure

    check_choice("form", form, FORMS)
    weights = np.asarray(weights)
    check_pieces(weights, queries, keys)
    heads = _checked("heads", heads, len(weights))
    rows = _checked("words", words, len(queries))
    letters = lettering([title, *queries, *keys])
    title = letters.spell(title)
    sides = [[_short(letters.spell(piece)) for piece in x] for x in (queries, keys)]
    columns = [max(map(_width, side)) + _SQUARE for side in sides]
    places = columns[0], columns[0] + _GAP  # where lines begin and end
    squares = len(heads) * _SQUARE if words is not None else 0.0
    width = sum(columns) + _GAP + squares
    height = _ROW * (max(len(queries), len(keys)) + 2.5)
    style = {"svg.fonttype": "none", "svg.hashsalt": "attention"}
    with matplotlib.rc_context({**style, "font.family": letters.families}):
        # Figure alone, not pyplot: no window system, and nothing is kept.
        size = width + 2 * _EDGE, height + 2 * _EDGE
        figure = Figure(size, dpi=min(_DOTS, _MOST_DOTS / max(size)))
        axes = figure.add_axes(
            (_EDGE / size[0], _EDGE / size[1], width / size[0], height / size[1]),
            xlim=(0, width),
            ylim=(height / _ROW - 2.5 - 0.5, -3.0),
        )
        axes.axis("off")
        _write(axes, title, sides, places, squares)
        _name_heads(axes, heads, places)
        _connect(axes, weights, heads, rows, places)
        if squares:
            _mark(axes, weights[np.ix_(heads, rows)].max(1), heads, places[1])
        picture = io.BytesIO()
        figure.savefig(picture, format=form, metadata=_metadata(form, title))
    return picture.getvalue()


def _checked(name, numbers, count):
    numbers = list(range(count)) if numbers is None else list(numbers)
    if not numbers or not all(0 <= number < count for number in numbers):
        raise ValueError(
            f"`{name}` must name some of {count}, from 0 to {count - 1}. Received: "
            f"{numbers}. Leave it out for all of them."
        )
    return numbers


def _short(piece):
    return piece if len(piece) <= _MOST_SIGNS else piece[: _MOST_SIGNS - 1] + "…"


def _width(piece):
    """Returns about how many inches a piece takes."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in piece)
    return _SIGN * (len(piece) + wide)


def _write(axes, title, sides, places, squares):
    # A dollar sign in a piece would begin a formula.
    style = {"fontsize": 9, "va": "center", "parse_math": False}
    axes.text(0, -2.4, title, **style)
    for side, place, shift, align in zip(
        sides, places, (-0.06, 0.06 + squares), ("right", "left"), strict=True
    ):
        for row, piece in enumerate(side):
            axes.text(place + shift, row, piece, ha=align, **style)


def _name_heads(axes, heads, places):
    """Writes the numbers of the heads, from 1, in their colours between the columns."""
    step = min(0.3, (places[1] - places[0]) / len(heads))
    first = sum(places) / 2 - step * (len(heads) - 1) / 2
    crowded = len(heads) > _MOST_NUMBERS  # then in two lines of small numbers
    for slot, head in enumerate(heads):
        colour = ON_WHITE[head_style(head).colour]
        style = {"fontsize": 6 if crowded else 9, "ha": "center", "va": "center"}
        row = -1.2 + (slot % 2 - 0.5) * 0.6 * crowded
        axes.text(first + slot * step, row, str(head + 1), color=colour, **style)


def _connect(axes, weights, heads, rows, places):
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    for slot, head in enumerate(heads):
        style = head_style(head)
        # The heads lie side by side, or equal weights would hide each other.
        shift = (slot - (len(heads) - 1) / 2) * min(0.12, 0.7 / len(heads))
        found = [
            ((row + shift, key + shift), weights[head, row, key])
            for row in rows
            for key in np.flatnonzero(weights[head, row] >= FAINTEST)
        ]
        ends = [list(zip(places, pair, strict=True)) for pair, _ in found]
        opacity = np.clip([weight for _, weight in found], 0, 1)
        colours = to_rgba_array([ON_WHITE[style.colour]] * len(found))
        colours[:, 3:] = opacity.reshape(-1, 1)
        dashes = DASHES[style.dashes]
        axes.add_collection(
            LineCollection(
                ends,
                colors=colours,
                linewidths=1.6,
                linestyles=[(0, dashes)] if dashes else "solid",
            ),
            autolim=False,
        )


def _mark(axes, weights, heads, place):
    """Draws a square for each head beside each key; weights (len(heads), M)."""
    from matplotlib.patches import Rectangle

    for slot, head in enumerate(heads):
        colour = ON_WHITE[head_style(head).colour]
        for key in np.flatnonzero(weights[slot] >= FAINTEST):
            corner = place + 0.03 + slot * _SQUARE, key - 0.36
            opacity = float(np.clip(weights[slot, key], 0, 1))
            square = Rectangle(corner, _SQUARE, 0.72, lw=0, fc=colour, alpha=opacity)
            axes.add_patch(square)


def _metadata(form, title):
    # No date: the same weights give the same bytes.
    return {"Title": title, **({"Date": None} if form == "svg" else {})}
