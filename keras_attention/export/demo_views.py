"""How an answer looks on the page: HTML tables, a picture, and lines of text.

Whatever comes from a text or a model is escaped. Tables have captions and headings, so
that a screen reader says of a number where it stands.
"""

import base64
import html
import io
import warnings

import numpy as np

_CELL, _EDGE, _SMALLEST, _LARGEST = 0.34, 1.3, 3.0, 18.0  # inches
_DOTS = 100  # an inch
_MOST_NUMBERS = 12  # pieces a side up to which each cell tells its weight
_MOST_LABELS = 50  # a side; of more pieces, every second or third has its label
_MOST_CELLS = 2_500  # of the table of all weights


def hypotheses_table(hypotheses):
    """Returns the n-best list, best first, as an HTML table.

    Args:
        hypotheses: `ServedHypotheses`.

    Example:

    >>> from keras_attention.export.client_answers import ServedHypotheses
    >>> found = ServedHypotheses(("a < b",), (-0.25,), (3,), False, False)
    >>> "<td>a &lt; b</td><td>-0.2500</td><td>3</td>" in hypotheses_table(found)
    True
    """
    rows = [
        (str(rank), _text(text), f"{score:.4f}", str(length))
        for rank, (text, score, length) in enumerate(
            zip(hypotheses.texts, hypotheses.scores, hypotheses.lengths, strict=True),
            start=1,
        )
    ]
    return _table(
        "Hypotheses, best first",
        ("Rank", "Translation", "Score", "Tokens"),
        rows,
    )


def _text(text):
    return html.escape(text) if text else "<em>(nothing)</em>"


def alignment_figure(explanation):
    """Returns what each output piece attends to: a picture and the same as tables.

    Args:
        explanation: `ServedExplanation`.

    Returns:
        HTML of one `<figure>`. The picture has the alternative text of
        `alignment_summary`; the tables below it open on demand. "" where the text has
        no piece and nothing was aligned.
    """
    if not explanation.output_pieces:
        return ""
    picture = base64.b64encode(alignment_picture(explanation)).decode("ascii")
    summary = html.escape(alignment_summary(explanation), quote=True)
    return (
        f'<figure><img src="data:image/png;base64,{picture}" alt="{summary}">'
        f"<figcaption>Alignment of: {_text(explanation.text)}</figcaption></figure>"
        "<details><summary>Alignment and tokens as tables</summary>"
        f"{_weights_table(explanation)}{_tokens_table(explanation)}</details>"
    )


def _weights_table(explanation):
    """Returns all weights as a table that scrolls, "" where it would be too large."""
    if explanation.alignment.size > _MOST_CELLS:
        return ""
    caption = "Weight of each source piece (column) for each output piece (row)"
    heads = "Output", *map(html.escape, explanation.pieces)
    rows = [
        (html.escape(piece), *(f"{weight:.2f}" for weight in weights))
        for piece, weights in _output(explanation)
    ]
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f"{_table(caption, heads, rows)}</div>"
    )


def _tokens_table(explanation):
    """Returns each output piece with its log-probability and where it looks most."""
    rows = [
        (html.escape(piece), f"{log_probability:.4f}", html.escape(looked_at))
        for (piece, looked_at), log_probability in zip(
            _looks(explanation), explanation.token_log_probabilities, strict=True
        )
    ]
    heads = "Token", "Log-probability", "Attends most to"
    return _table("Tokens of the translation", heads, rows)


def _output(explanation):
    return zip(explanation.output_pieces, explanation.alignment, strict=True)


def _looks(explanation):
    """Returns (output piece, "source piece (weight)") pairs."""
    return [
        (piece, f"{explanation.pieces[weights.argmax()]} ({weights.max():.2f})")
        for piece, weights in _output(explanation)
    ]


def alignment_summary(explanation):
    """Returns the picture in words: of a short one, where each output piece looks.

    Example:

    >>> from keras_attention.export.client_answers import ServedExplanation
    >>> alignment_summary(ServedExplanation(
    ...     "ein Hund", -0.5, False, ("a", "dog"), ("ein", "Hund"),
    ...     np.array([[0.9, 0.1], [0.2, 0.8]]), (-0.25, -0.25)))
    'Heat map of the alignment. ein: a (0.90); Hund: dog (0.80).'
    """
    rows, columns = explanation.alignment.shape
    if rows > _MOST_NUMBERS:
        return (
            f"Heat map of the alignment: {rows} output pieces by {columns} source "
            "pieces; the tables below tell it in numbers."
        )
    looks = "; ".join(": ".join(pair) for pair in _looks(explanation))
    return f"Heat map of the alignment. {looks}."


def alignment_picture(explanation):
    """Returns the alignment as a PNG: output pieces are rows, source pieces columns."""
    from matplotlib.figure import Figure

    weights = explanation.alignment
    sizes = [
        min(max(_EDGE + _CELL * cells, _SMALLEST), _LARGEST)
        for cells in reversed(weights.shape)
    ]
    # Figure alone, not pyplot: no window system, and threads may draw at once.
    figure = Figure(figsize=sizes, dpi=_DOTS, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for set_ticks, pieces, turned in (
        (axes.set_xticks, explanation.pieces, 90),
        (axes.set_yticks, explanation.output_pieces, 0),
    ):
        step = -(-len(pieces) // _MOST_LABELS)
        places = range(0, len(pieces), step)
        # A dollar sign in a piece would begin a formula.
        style = {"fontsize": 10, "parse_math": False, "rotation": turned}
        set_ticks(places, [pieces[place] for place in places], **style)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if max(weights.shape) <= _MOST_NUMBERS:
        _write_numbers(axes, weights)
    else:
        figure.colorbar(image, ax=axes, label="weight")
    picture = io.BytesIO()
    with warnings.catch_warnings():
        # A piece in a script that the font lacks is a box here, and whole in the table.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(picture, format="png")
    return picture.getvalue()


def _write_numbers(axes, weights):
    for (row, column), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.5 else "black"  # of the ground below it
        place = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        number = axes.text(column, row, f"{weight:.2f}".lstrip("0"), **place)
        number.set_in_layout(False)  # it lies inside its cell, and asking takes long


def _table(caption, heads, rows):
    """Returns a table; its first column heads the rows. Everything is HTML already."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td>{cell}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f"<table><caption>{caption}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def status_line(answer, largest_beam):
    """Returns how the request went, as HTML: times, then what was cut or moved.

    Args:
        answer: `DemoAnswer`.
        largest_beam: of the version.
    """
    found, tokens = answer.hypotheses, answer.hypotheses.lengths[0]
    lines = [
        f"Found {_counted(len(found.texts), 'hypothesis', 'hypotheses')} in "
        f"{answer.search_seconds:.3f} s: {_counted(tokens, 'token', 'tokens')}, "
        f"{answer.milliseconds_per_token:.1f} ms per token."
    ]
    if answer.explanation is not None:
        lines.append(f"Alignment in {answer.explain_seconds:.3f} s.")
    if found.truncated:
        lines.append(
            "<strong>Truncated:</strong> the text has more pieces than the model "
            "reads; its end was cut off."
        )
    if found.adjusted:
        lines.append(
            "<strong>Adjusted:</strong> a setting was out of range and moved into it "
            f"(beams: 1 to {largest_beam}; hypotheses: no more than beams)."
        )
    return "".join(f"<p>{line}</p>" for line in lines)


def _counted(number, one, more):
    return f"{number} {one if number == 1 else more}"


def alignment_note(answer):
    """Returns whose alignment is shown, as HTML; it need not be the best hypothesis's.

    Args:
        answer: `DemoAnswer`.
    """
    if answer.explanation is None:
        return "<p>This version has no signature <code>explain</code>.</p>"
    if not answer.explanation.output_pieces:
        return "<p>The text has no piece that could be aligned.</p>"
    if answer.explains_the_best:
        return "<p>The alignment of the best hypothesis.</p>"
    return (
        "<p>With these settings the best hypothesis is another; this is the alignment "
        "of the translation that the version makes with its own settings.</p>"
    )


def error_line(error):
    """Returns what was wrong with a request, as HTML."""
    reason = html.escape(str(error))
    return f'<p class="error"><strong>Not translated.</strong> {reason}</p>'
