"""The HTML of answers: every number is there, and nothing of a text is markup."""

import html.parser
import io

import numpy as np
import pytest
from PIL import Image

from keras_attention.export import demo_views
from keras_attention.export.client_answers import ServedExplanation, ServedHypotheses
from keras_attention.export.demo_model import DemoAnswer

EVIL = '<script>alert("1")</script>'


class Reader(html.parser.HTMLParser):
    """Collects tables, pictures and every kind of element; refuses open ends."""

    VOID = {"img"}

    def __init__(self, content):
        super().__init__()
        self.tables, self.images, self.names, self._open = [], [], set(), []
        self.text = ""
        self.feed(content)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "img":
            self.images.append(dict(attrs))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self._open and {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data


def explanation(pieces=("a", "dog"), said=("ein", "Hund"), weights=None):
    shape = len(said), len(pieces)
    weights = np.full(shape, 0.5, np.float32) if weights is None else weights
    log_probs = tuple(-float(n) - 0.125 for n in range(len(said)))
    return ServedExplanation(
        " ".join(said), -0.5, False, pieces, said, weights, log_probs
    )


def answer(truncated=False, adjusted=False, explained=None, count=2):
    texts = ("ein Hund", "der Hund")[:count]
    found = ServedHypotheses(texts, (-0.5, -1.25)[:count], (3, 4), truncated, adjusted)
    if count == 1:
        found = ServedHypotheses(texts, (-0.5,), (1,), truncated, adjusted)
    return DemoAnswer(found, 0.75, explained, 0.125)


def test_hypotheses_are_a_table_with_headings():
    [table] = Reader(demo_views.hypotheses_table(answer().hypotheses)).tables
    assert table == [
        ["Rank", "Translation", "Score", "Tokens"],
        ["1", "ein Hund", "-0.5000", "3"],
        ["2", "der Hund", "-1.2500", "4"],
    ]


def test_an_empty_hypothesis_says_so():
    found = ServedHypotheses(("",), (0.0,), (0,), False, False)
    assert "(nothing)" in Reader(demo_views.hypotheses_table(found)).text


def test_the_alignment_is_a_picture_and_two_tables():
    weights = np.array([[0.9, 0.1], [0.25, 0.75]], np.float32)
    read = Reader(demo_views.alignment_figure(explanation(weights=weights)))
    [image] = read.images
    assert image["alt"] == (
        "Heat map of the alignment. ein: a (0.90); Hund: dog (0.75)."
    )
    assert image["src"].startswith("data:image/png;base64,")
    alignment, tokens = read.tables
    assert alignment == [
        ["Output", "a", "dog"],
        ["ein", "0.90", "0.10"],
        ["Hund", "0.25", "0.75"],
    ]
    assert tokens == [
        ["Token", "Log-probability", "Attends most to"],
        ["ein", "-0.1250", "a (0.90)"],
        ["Hund", "-1.1250", "dog (0.75)"],
    ]


def square(count):
    pieces = tuple(f"p{n}" for n in range(count))
    return explanation(pieces, pieces, np.eye(count, dtype=np.float32))


def test_a_large_alignment_has_no_table_of_all_weights_and_a_short_description():
    read = Reader(demo_views.alignment_figure(square(51)))
    [tokens] = read.tables
    assert tokens[51] == ["p50", "-50.1250", "p50 (1.00)"]
    [image] = read.images
    assert "51 output pieces by 51 source pieces; the tables below" in image["alt"]
    assert len(Reader(demo_views.alignment_figure(square(50))).tables) == 2


def test_a_text_without_pieces_has_no_alignment():
    empty = explanation(("[END]",), ())
    assert demo_views.alignment_figure(empty) == ""
    note = demo_views.alignment_note(answer(explained=empty))
    assert "no piece that could be aligned" in note


def test_pieces_and_texts_are_no_markup():
    evil = explanation((EVIL, "b"), (EVIL, '" onerror="x'))
    found = ServedHypotheses((EVIL,), (-0.5,), (3,), False, False)
    content = (
        demo_views.alignment_figure(evil)
        + demo_views.hypotheses_table(found)
        + demo_views.error_line(ValueError(EVIL))
    )
    read = Reader(content)
    assert "script" not in read.names
    assert read.text.count(EVIL) == 8
    assert set(read.images[0]) == {"src", "alt"}


def pixels(weights, **pieces):
    picture = demo_views.alignment_picture(explanation(weights=weights, **pieces))
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)


def test_the_picture_shows_which_weights_are_large():
    first, second = (
        pixels(np.array(weights, np.float32), pieces=("a", "b"), said=("c", "d"))
        for weights in ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    )
    assert first.shape == second.shape

    def dark_half(image):
        # Of the rows that differ, the side where more is dark blue in the upper part.
        blue = image[..., 2] - image[..., 0] > 60
        rows, columns = np.where(blue)
        upper = columns[rows < (rows.min() + rows.max()) / 2]
        middle = (columns.min() + columns.max()) / 2
        return "left" if upper.mean() < middle else "right"

    assert (dark_half(first), dark_half(second)) == ("left", "right")


def test_the_picture_grows_with_its_pieces_up_to_a_limit():
    def size(count):
        picture = demo_views.alignment_picture(square(count))
        return Image.open(io.BytesIO(picture)).size

    small, middle, large = map(size, (3, 20, 200))
    assert small < middle < large
    assert max(large) <= demo_views._LARGEST * demo_views._DOTS


@pytest.mark.parametrize("piece", ["$x_1$", "\u732b", "\u05d0", "", "\n"])
def test_any_piece_can_be_drawn(piece):
    assert pixels(np.ones((1, 1)), pieces=(piece,), said=(piece,)).size


def test_the_status_tells_times():
    told = Reader(demo_views.status_line(answer(), 16)).text
    assert "Found 2 hypotheses in 0.750 s: 3 tokens, 250.0 ms per token." in told
    assert (
        "Alignment" not in told and "Truncated" not in told and "Adjusted" not in told
    )
    told = Reader(demo_views.status_line(answer(explained=explanation()), 16)).text
    assert "Alignment in 0.125 s." in told
    one = Reader(demo_views.status_line(answer(count=1), 16)).text
    assert "Found 1 hypothesis in 0.750 s: 1 token, 750.0 ms per token." in one


def test_the_status_tells_flags():
    assert "its end was cut off" in demo_views.status_line(answer(truncated=True), 16)
    assert "beams: 1 to 16;" in demo_views.status_line(answer(adjusted=True), 16)


@pytest.mark.parametrize(
    ("explained", "words"),
    [
        (None, "no signature"),
        (explanation(), "of the best hypothesis"),
        (explanation(said=("kein", "Hund")), "with its own settings"),
    ],
)
def test_the_note_tells_whose_alignment_it_is(explained, words):
    assert words in demo_views.alignment_note(answer(explained=explained))
