"""What the heads of a model attend to, as numbers and as pictures."""

import io
import math

import numpy as np

from keras_attention.evaluation.lettering import lettering

KINDS = ("encoder_self", "decoder_self", "encoder_decoder")
_CELL, _MARGIN, _SMALLEST, _LARGEST = 0.16, 0.9, (3.2, 1.8), 16.0  # inches


def attention_weights(model, source_ids, target_ids):
    """Returns the attention weights of every block and head for one translation.

    The target is forced: position t is computed from the target's pieces before it.

    Args:
        model: a `Transformer`.
        source_ids: integers of shape (S,): pieces, END.
        target_ids: integers of shape (T,): START, pieces; T = 1 for an empty target.

    Returns:
        Dictionary of float32 NumPy arrays; N blocks, H heads; the last axis is what is
        attended to and sums to 1: "encoder_self" (N, H, S, S), "decoder_self"
        (N, H, T, T), "encoder_decoder" (N, H, T, S).

    Raises:
        ValueError: ids that are not one row of at least one integer.

    Example:

    >>> from keras_attention.models.transformer import Transformer
    >>> model = Transformer(vocabulary_size=9, num_layers=1, model_dim=8, num_heads=2)
    >>> maps = attention_weights(model, [4, 5, 3], [2, 6])
    >>> maps["encoder_decoder"].shape
    (1, 2, 2, 3)

    Reference: section 3.2 and the figures of the appendix.
    """
    rows = [
        _one_row(name, ids)
        for name, ids in (("source_ids", source_ids), ("target_ids", target_ids))
    ]
    kinds = model.attention_weights(*rows)
    return {
        kind: np.stack([np.asarray(weights)[0] for weights in blocks])
        for kind, blocks in kinds.items()
    }


def _one_row(name, ids):
    ids = np.asarray(ids)
    if ids.ndim != 1 or not ids.size or not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(
            f"`{name}` must be the ids of one sentence: at least one integer in one "
            f"row. Received: shape {ids.shape} of {ids.dtype}. Take one row of a batch."
        )
    return ids.astype("int32")[None, :]


def draw_heads(weights, queries, keys, title):
    """Draws the heads of one block side by side.

    Args:
        weights: floats of shape (H, Q, M) between 0 and 1.
        queries: Q str, the positions that attend; the rows of a picture.
        keys: M str, the positions that are attended to; the columns.
        title: str, above the heads.

    Returns:
        The picture, PNG as bytes; white is 0, dark blue is 1. Signs that no font of
        the system has are spelled by their numbers; see `lettering`.

    Raises:
        ValueError: labels that do not fit the weights.

    Example:

    >>> draw_heads(np.ones((2, 1, 1)), ["a"], ["b"], "block 1")[1:4]
    b'PNG'
    """
    import matplotlib

    weights = np.asarray(weights)
    check_pieces(weights, queries, keys)
    letters = lettering([title, *queries, *keys])
    sides = [[letters.spell(piece) for piece in side] for side in (queries, keys)]
    with matplotlib.rc_context({"font.family": letters.families}):
        return _draw(weights, *sides, letters.spell(title))


def check_pieces(weights, queries, keys):
    """Raises a ValueError unless weights (H, Q, M) are between those pieces."""
    if weights.ndim != 3 or weights.shape[1:] != (len(queries), len(keys)):
        raise ValueError(
            "`weights` must have the shape (heads, queries, keys). Received: shape "
            f"{weights.shape}, {len(queries)} queries and {len(keys)} keys."
        )


def _draw(weights, queries, keys, title):
    from matplotlib.figure import Figure

    sheet, corners = _side_by_side(weights)
    size = [
        min(max(_MARGIN + cells * _CELL, least), _LARGEST)
        for cells, least in zip(reversed(sheet.shape), _SMALLEST, strict=True)
    ]
    # Figure alone, not pyplot: no window system, and nothing is kept after the call.
    # One pair of axes for all heads takes a third of the time of one pair each.
    figure = Figure(figsize=size, dpi=100)
    axes = figure.subplots()
    axes.imshow(sheet, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    axes.set_title(title, fontsize=9, parse_math=False)
    axes.tick_params(length=0, pad=2)
    for side in axes.spines.values():
        side.set_visible(False)
    _label(axes, corners, queries, keys)
    figure.subplots_adjust(
        *(_MARGIN / inches for inches in size), 1 - 0.1 / size[0], 1 - 0.3 / size[1]
    )
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _side_by_side(weights):
    # All heads in one array, as near to a square as may be; NaN, which stays white,
    # between them. Also the row and column where each begins.
    heads, queries, keys = weights.shape
    columns = math.ceil(math.sqrt(heads))
    rows = -(-heads // columns)
    sheet = np.full((rows * (queries + 1), columns * (keys + 1)), np.nan)
    corners = []
    for head, values in enumerate(weights):
        row, column = 1 + head // columns * (queries + 1), head % columns * (keys + 1)
        sheet[row : row + queries, column : column + keys] = values
        corners.append((row, column))
    return sheet[:, :-1], corners


def _label(axes, corners, queries, keys):
    from matplotlib.patches import Rectangle

    # A dollar sign in a label would begin a formula.
    style = {"fontsize": 7, "parse_math": False}
    for head, (row, column) in enumerate(corners, start=1):
        middle = column + (len(keys) - 1) / 2
        axes.text(middle, row - 1, f"head {head}", fontsize=7, ha="center", va="center")
        frame = (column - 0.5, row - 0.5), len(keys), len(queries)
        axes.add_patch(Rectangle(*frame, fill=False, lw=0.5, ec="grey", clip_on=False))
    columns = sorted({column for _, column in corners})
    rows = sorted({row for row, _ in corners})
    places = [column + number for column in columns for number in range(len(keys))]
    axes.set_xticks(places, [*keys] * len(columns), rotation=90, **style)
    places = [row + number for row in rows for number in range(len(queries))]
    axes.set_yticks(places, [*queries] * len(rows), **style)
