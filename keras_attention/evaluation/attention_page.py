"""A page that shows what heads attend to; one file, which asks for no other."""

import base64
import hashlib
import html
import importlib.resources
import json

import numpy as np

from keras_attention.evaluation.attended_sentences import SIDES
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.head_colours import DASHES, ON_BLACK, ON_WHITE
from keras_attention.evaluation.head_tables import report_section
from keras_attention.evaluation.lettering import visible
from keras_attention.vocabulary import SPECIAL_PIECES

MOST_WEIGHTS = 2**24  # of a page, a byte each before base64
_SCRIPTS = ("weights.js", "figure.js", "controls.js")
_NAMES = {
    "encoder_self": "Encoder self-attention",
    "decoder_self": "Decoder self-attention",
    "encoder_decoder": "Encoder-decoder attention",
}
_COLUMNS = {"source": "source", "target": "target, read", "written": "target, written"}
# What JSON lets stand, and HTML or a reader of lines would understand.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\x7f\x85\u2028\u2029"}


def attention_page(sentences, report=None, title="Attention"):
    """Returns a page with the attention of some sentences, as HTML.

    Lines between two columns of pieces, as in Figures 3-5: a line's opacity is its
    weight, a colour is a head. Pointing at a piece, or going to it by keyboard, shows
    its lines alone. The page needs no network and no other file; its policy forbids
    both, and every script but its own. Weights are rounded to 1/255.

    Args:
        sentences: list of `AttendedSentence` of one model. Several may have
            `MOST_WEIGHTS` weights (see `page_weights`); one alone may have more.
        report: `HeadReport`, shown below; None = none.
        title: str.

    Returns:
        str, to be written as UTF-8.

    Raises:
        ValueError: no sentence, sentences of different models, or too many weights.

    Example:

    >>> from keras_attention.evaluation.attended_sentences import AttendedSentence
    >>> one = np.ones((1, 1, 1, 1))
    >>> pieces = ("[END]",), ("[START]",), ("[END]",)
    >>> maps = dict.fromkeys(("encoder_self", "decoder_self", "encoder_decoder"), one)
    >>> page = attention_page([AttendedSentence("</script>", "", *pieces, maps)])
    >>> page.count("</script>")  # those of the data and of the program
    2

    Reference: figures 3-5, in the paper's appendix.
    """
    sentences = list(sentences)
    layers, heads = _check(sentences)
    content = {
        "layers": layers,
        "heads": heads,
        "colours": len(ON_WHITE),
        "dashes": len(DASHES),
        "special": SPECIAL_PIECES,
        "kinds": [_kind(kind) for kind in KINDS],
        "sentences": [_sentence(sentence) for sentence in sentences],
    }
    style = _colours() + _file("style.css")
    script = "".join(_file(name) for name in _SCRIPTS)
    values = {
        "POLICY": (
            f"default-src 'none'; script-src '{_digest(script)}'; "
            f"style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'"
        ),
        "TITLE": html.escape(visible(title)),
        "REPORT": "" if report is None else report_section(report, _NAMES),
        "STYLE": style,
        "DATA": json.dumps(content, ensure_ascii=False).translate(_ESCAPED),
        "SCRIPT": script,
    }
    parts = _file("page.html").split("@@")  # text, name, text, name, ...
    return "".join(
        values[part] if number % 2 else part for number, part in enumerate(parts)
    )


def page_weights(sentence):
    """Returns how many weights a page holds of a sentence."""
    return sum(sentence.maps[kind].size for kind in KINDS)


def _check(sentences):
    """Returns blocks and heads of the model that all sentences were read by."""
    shapes = {x.maps[kind].shape[:2] for x in sentences for kind in KINDS}
    if len(shapes) != 1:
        raise ValueError(
            "A page shows one sentence or more, all of one model. Received: "
            f"{len(sentences)} sentences with (blocks, heads) of {sorted(shapes)}. "
            "Pass those of one model."
        )
    total = sum(map(page_weights, sentences))
    if len(sentences) > 1 and total > MOST_WEIGHTS:
        raise ValueError(
            f"A page holds at most {MOST_WEIGHTS} weights. Received: {total} of "
            f"{len(sentences)} sentences. Pass fewer of them."
        )
    [shape] = shapes
    return shape


def _kind(kind):
    queries, keys = SIDES[kind]
    return {
        "id": kind,
        "name": _NAMES[kind],
        "queries": queries,
        "keys": keys,
        "from": f"{_COLUMNS[queries]}: attends",
        "to": f"{_COLUMNS[keys]}: attended to",
    }


def _sentence(sentence):
    return {
        "text": visible(sentence.source),
        "translation": visible(sentence.target),
        "truncated": sentence.truncated,
        "forced": sentence.forced,
        "source": [visible(piece) for piece in sentence.source_pieces],
        "target": [visible(piece) for piece in sentence.target_pieces],
        "written": [visible(piece) for piece in sentence.written_pieces],
        "weights": [_packed(sentence.maps[kind]) for kind in KINDS],
    }


def _packed(weights):
    """Returns weights from 0 to 1 as one byte each, in base64."""
    levels = np.rint(np.clip(np.asarray(weights), 0, 1) * 255).astype("uint8")
    return base64.b64encode(levels.tobytes()).decode("ascii")


def _colours():
    """Returns the style of each head."""

    def rules(colours):
        return "".join(
            f".c{number} {{ color: {colour}; }}\n"
            for number, colour in enumerate(colours)
        )

    dark = f"@media (prefers-color-scheme: dark) {{\n{rules(ON_BLACK)}}}\n"
    return rules(ON_WHITE) + dark


def _digest(text):
    """Returns the source of a Content-Security-Policy that allows exactly this text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _file(name):
    folder = importlib.resources.files("keras_attention.evaluation") / "page"
    return (folder / name).read_text(encoding="utf-8")
