"""Texts of a request: checked, and put into batches of about the same length."""

import numpy as np
import tensorflow as tf
from absl import logging

from keras_attention.data.text import to_bytes
from keras_attention.vocabulary import END_ID, PAD_ID

# The logits of a step are rows * beams * V numbers; short lines would otherwise make
# batches of thousands of rows.
MOST_ROWS = 256
USUAL_BEAMS = 4  # more of them get fewer rows
# What is split into pieces of a text that has more than enough of them. The time of
# normalising grows with the square of a run of combining marks: 0.2 s for this one.
LEAST_BYTES, BYTES_A_PIECE = 1 << 17, 16
MOST_NAMED = 10  # lines of a warning


def check_texts(name, texts):
    """Returns a list of bytes.

    Raises:
        ValueError: `texts` is one text, or no iterable of str and bytes.

    Example:

    >>> check_texts("texts", ["a dog", b"a cat"])
    [b'a dog', b'a cat']
    """
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
        raise ValueError(
            f"`{name}` must be a list of texts. Received: {texts!r}. "
            "Put a single text into a list."
        )
    texts = list(texts)
    for row, text in enumerate(texts):
        if not isinstance(text, (str, bytes)):
            raise ValueError(
                f"`{name}` must hold nothing but str or bytes. Received: "
                f"{type(text).__name__} at index {row}. "
                'Pass "" where there is no text.'
            )
    return [to_bytes(text) for text in texts]


def check_beside(name, texts, other_name, others):
    """Raises a ValueError unless two lists are of one length."""
    if len(texts) != len(others):
        raise ValueError(
            f"`{other_name}` must hold one text for each of `{name}`. Received: "
            f"{len(texts)} {name} and {len(others)} {other_name}."
        )


def shorten(texts, most_pieces):
    """Cuts what lies far behind the last piece that is read; usable in a graph.

    Args:
        texts: tf.string tensor (B,), or a list of str or bytes.
        most_pieces: int, of a text that are read.

    Returns:
        Tuple of the texts, at most 128 KiB or 16 bytes a piece each, and (B,) bool,
        whether something was cut.

    Example:

    >>> texts, cut = shorten(["a" * 200_000, "b"], most_pieces=9)
    >>> tf.strings.length(texts).numpy().tolist(), cut.numpy().tolist()
    ([131072, 1], [True, False])
    """
    most = max(LEAST_BYTES, BYTES_A_PIECE * most_pieces)
    texts = tf.convert_to_tensor(texts, tf.string)
    long = tf.strings.length(texts) > most
    texts = tf.where(long, tf.strings.strip(texts), texts)  # spaces are no loss
    return tf.strings.substr(texts, 0, most), tf.strings.length(texts) > most


def append_end(pieces):
    """Returns ragged ids (B, None) with END behind each row.

    Example:

    >>> append_end(tf.ragged.constant([[5, 6], []], tf.int32)).to_list()
    [[5, 6, 3], [3]]
    """
    # Not `tf.concat`, for which oneDNN complains on stderr of 64-bit integers.
    rows = tf.cast(pieces.nrows(), tf.int64)
    count = tf.size(pieces.flat_values, tf.int64)
    values = tf.tensor_scatter_nd_update(
        tf.fill([count + rows], END_ID),
        (tf.range(count) + pieces.value_rowids())[:, None],
        pieces.flat_values,
    )
    splits = pieces.row_splits + tf.range(rows + 1)
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def dense(ragged, rows):
    """Returns some rows of ragged ids as a tensor with PAD behind."""
    return tf.gather(ragged, rows).to_tensor(PAD_ID)


def most_rows(config):
    """Returns how many rows of a batch keep the logits of a step small.

    Args:
        config: `DecodingConfig`, whose hypotheses of a row are all open at once.

    Example:

    >>> from keras_attention.config import DecodingConfig
    >>> most_rows(DecodingConfig(beam_size=4)), most_rows(DecodingConfig(beam_size=32))
    (256, 32)
    """
    width = config.num_hypotheses if config.sampling else config.beam_size
    return max(1, MOST_ROWS * USUAL_BEAMS // max(width, USUAL_BEAMS))


def batches(cells, budget, most_rows=MOST_ROWS):
    """Yields the rows of each batch, longest first.

    Args:
        cells: (B,) integers, the length of each row; rows of 0 are left out.
        budget: rows times length of a batch, unless one row alone is longer.
        most_rows: rows of a batch.

    Example:

    >>> [rows.tolist() for rows in batches(np.array([3, 9, 0, 4]), budget=8)]
    [[1], [3, 0]]
    """
    order = np.argsort(-cells, kind="stable")
    order = order[cells[order] > 0]
    while order.size:
        rows = min(max(1, budget // int(cells[order[0]])), most_rows)
        yield order[:rows]
        order = order[rows:]


def warn_of_cuts(lengths, most, first_line):
    """Warns of every source of too many pieces, by the number of its line.

    Args:
        lengths: (B,) integers, pieces before any cut.
        most: int, pieces that are read.
        first_line: number of the first source.

    Returns:
        (B,) bool, whether pieces were cut off.
    """
    for row in np.flatnonzero(lengths > most):
        logging.warning(
            "Line %d: the source has %d pieces and was cut at %d.",
            first_line + row,
            lengths[row],
            most,
        )
    return lengths > most


def warn_of_nothing(cells, first_line):
    """Warns of the sources that are not searched, by the numbers of their lines.

    Args:
        cells: (B,) integers, 0 for a source without pieces.
        first_line: number of the first source.
    """
    lines = first_line + np.flatnonzero(cells == 0)
    if lines.size:
        more = lines.size - MOST_NAMED
        logging.warning(
            "%s %s%s: the source has no text, so its translation is empty.",
            "Lines" if lines.size > 1 else "Line",
            ", ".join(map(str, lines[:MOST_NAMED])),
            f" and {more} more" if more > 0 else "",
        )
