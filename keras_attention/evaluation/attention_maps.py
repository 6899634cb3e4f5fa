"""What the heads of a model attend to, as numbers and as pictures."""

import io
import warnings

import numpy as np

KINDS = ("encoder_self", "decoder_self", "encoder_decoder")
_COLUMNS = 4
_CELL, _MARGIN = 0.16, 0.85  # inches
_SMALLEST, _LARGEST = 1.6, 6.0


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
        The picture, PNG as bytes; white is 0, dark blue is 1.

    Raises:
        ValueError: labels that do not fit the weights.

    Example:

    >>> draw_heads(np.ones((2, 1, 1)), ["a"], ["b"], "block 1")[1:4]
    b'PNG'
    """
    from matplotlib.figure import Figure

    weights = np.asarray(weights)
    if weights.ndim != 3 or weights.shape[1:] != (len(queries), len(keys)):
        raise ValueError(
            "`weights` must have the shape (heads, queries, keys). Received: shape "
            f"{weights.shape}, {len(queries)} queries and {len(keys)} keys."
        )
    columns = min(_COLUMNS, len(weights))
    rows = -(-len(weights) // columns)
    width, height = (_inches(len(labels)) for labels in (keys, queries))
    size = (_MARGIN + columns * width, _MARGIN + 0.3 + rows * (height + 0.25))
    # Figure alone, not pyplot: no window system, and nothing is kept after the call.
    figure = Figure(figsize=size, dpi=100)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    figure.subplots_adjust(
        left=_MARGIN / size[0],
        right=1 - 0.1 / size[0],
        bottom=_MARGIN / size[1],
        top=1 - 0.55 / size[1],
        wspace=0.06,
        hspace=0.25 / height,
    )
    figure.suptitle(title, fontsize=9, y=1 - 0.1 / size[1], va="top", parse_math=False)
    _fill(axes, weights, queries, keys)
    picture = io.BytesIO()
    with warnings.catch_warnings():
        # A piece in a script that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(picture, format="png")
    return picture.getvalue()


def _inches(labels):
    return min(max(labels * _CELL, _SMALLEST), _LARGEST)


def _fill(axes, weights, queries, keys):
    # A dollar sign in a label would begin a formula.
    style = {"fontsize": 7, "parse_math": False}
    for number, axis in enumerate(axes.flat):
        if number >= len(weights):
            axis.set_visible(False)
            continue
        axis.imshow(weights[number], vmin=0, vmax=1, cmap="Blues", aspect="auto")
        axis.set_title(f"head {number + 1}", fontsize=7, pad=3)
        axis.set_xticks(range(len(keys)), keys, rotation=90, **style)
        axis.set_yticks(range(len(queries)), queries, **style)
        axis.tick_params(length=0, pad=2)
