"""A head report as HTML tables."""

import html

from keras_attention.evaluation.head_profiles import OFTEN, measures_of

_MEANINGS = {
    "previous, same, next": (
        "the piece before, at and behind the place of the piece that attends; between "
        "decoder and encoder, the place of the piece that is written"
    ),
    "punctuation": "pieces that are nothing but punctuation",
    "boundary": "[START] and [END]",
    "aligned": (
        "the source piece to which all other encoder-decoder heads give most weight on "
        "average where the target piece is written"
    ),
    "aligned_read": "the same for the target piece before, which is being read",
    "entropy": "how spread the weights are, in nats; 0 is one piece only",
}


def report_section(report, names):
    """Returns a report as a section of a page.

    Args:
        report: `HeadReport`.
        names: kind -> its name for people.
    """
    tables = "".join(_table(report, kind, names[kind]) for kind in report.uniform)
    meanings = "".join(
        f"<dt>{_spaced(name)}</dt><dd>{html.escape(meaning)}</dd>"
        for name, meaning in _MEANINGS.items()
    )
    return (
        '<section aria-labelledby="report"><h2 id="report">What the heads do</h2>'
        f"<p>Means over {report.sentences} sentences: the share of a head's weight "
        "that goes to a kind of piece. A head's role is where its strongest weight "
        f"lies at {OFTEN:.0%} of the positions or more. “Uniform” is a head that "
        "attends to everything alike. Where weight goes is no proof of what the model "
        "uses.</p>"
        f"{tables}<dl>{meanings}</dl></section>\n"
    )


def _table(report, kind, name):
    measures = measures_of(kind)
    columns = ("Layer.head", *map(_spaced, measures), "Role")
    top = "".join(f'<th scope="col">{column}</th>' for column in columns)
    heads = [head for head in report.heads if head.kind == kind]
    rows = "".join(_row(head, measures) for head in (*heads, report.uniform[kind]))
    caption = f"{html.escape(name)}, {report.positions[kind]} positions"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f"<table><caption>{caption}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(head, measures):
    cells = "".join(
        _number(getattr(head, name), name in head.roles) for name in measures
    )
    if not head.layer:
        return f'<tr><th scope="row">uniform</th>{cells}<td></td></tr>'
    place = f'data-kind="{head.kind}" data-layer="{head.layer}" data-head="{head.head}"'
    roles = ", ".join(f"{_spaced(x)} {head.strongest[x]:.0%}" for x in head.roles)
    name = f"{head.layer}.{head.head}"
    return f'<tr><th scope="row" {place}>{name}</th>{cells}<td>{roles}</td></tr>'


def _number(value, is_role):
    if value is None:
        return '<td class="number">–</td>'
    return f'<td class="number{" high" if is_role else ""}">{value:.2f}</td>'


def _spaced(name):
    return name.replace("_", " ")
