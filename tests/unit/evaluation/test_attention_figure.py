import io
import xml.etree.ElementTree

import numpy as np
import pytest

from keras_attention.evaluation.attention_figure import draw_lines
from keras_attention.evaluation.head_colours import ON_WHITE

WEIGHTS = np.stack([np.eye(3), np.eye(3)[::-1], np.zeros((3, 3))])
PIECES = ["\u2581a", "b", "[END]"]
RGB = [tuple(int(x[i : i + 2], 16) for i in (1, 3, 5)) for x in ON_WHITE]


def pixels(*arguments, **options):
    from PIL import Image

    picture = io.BytesIO(draw_lines(*arguments, **options))
    return np.asarray(Image.open(picture).convert("RGB"), "int32")


def count(image, colour):
    """Pixels of exactly a colour."""
    return int((image == colour).all(-1).sum())


def between(image):
    """The part of a picture with lines: between the columns, below the heads' names."""
    return image[int(image.shape[0] * 0.45) :]


def test_a_head_has_its_colour_and_a_weight_its_opacity():
    image = between(pixels(WEIGHTS, PIECES, PIECES))
    assert count(image, RGB[0]) > 300 and count(image, RGB[1]) > 300
    assert count(image, RGB[2]) == 0, "a weight of 0 has no line"
    half = pixels(WEIGHTS[:1] / 2, PIECES, PIECES)
    blend = tuple(round((x + 255) / 2) for x in RGB[0])
    near = np.abs(between(half) - blend).max(-1) <= 2
    assert near.sum() > 300 and count(between(half), RGB[0]) == 0


def test_heads_and_words_choose_lines():
    both = between(pixels(WEIGHTS, PIECES, PIECES))
    second = between(pixels(WEIGHTS, PIECES, PIECES, heads=[1]))
    assert count(second, RGB[0]) == 0 and count(second, RGB[1]) > 300
    word = between(pixels(WEIGHTS, PIECES, PIECES, heads=[0], words=[1]))
    assert 0 < count(word, RGB[0]) < count(both, RGB[0])


def test_squares_tell_the_weights_of_a_word():
    # A steep line has hardly a pixel of its pure colour in a row of its own.
    weights = np.zeros((1, 1, 9))
    weights[0, 0, 8] = 1.0
    keys = ["k"] * 9
    alone = pixels(weights, ["q"], keys, words=[0])
    with_all = pixels(weights, ["q"], keys)
    last = slice(int(alone.shape[0] * 0.88), None)
    assert count(alone[last], RGB[0]) > count(with_all[last], RGB[0]) + 100


def texts_of(svg):
    root = xml.etree.ElementTree.fromstring(svg)
    return [x.text for x in root.iter("{http://www.w3.org/2000/svg}text")]


def test_svg_is_text_and_the_same_every_time():
    odd = ["<b>&", "$\\frac{$", "\u202eevil"]
    options = {"title": "A < B", "form": "svg"}
    svg = draw_lines(WEIGHTS, PIECES, odd, **options)
    assert svg == draw_lines(WEIGHTS, PIECES, odd, **options)
    texts = texts_of(svg)
    assert {"A < B", *PIECES, "<b>&", "$\\frac{$", "<U+202E>evil", "1", "3"} <= set(
        texts
    )
    assert b"<script" not in svg


def test_many_heads_are_all_named():
    svg = draw_lines(np.ones((16, 1, 1)), ["q"], ["k"], form="svg")
    assert {str(head) for head in range(1, 17)} <= set(texts_of(svg))
    assert svg.count(b"stroke-dasharray") > 0, "the ninth has the first colour, dashed"


def test_a_long_sentence_is_drawn_and_a_long_piece_cut():
    weights = np.eye(150)[None]
    svg = draw_lines(weights, ["q" * 60] * 150, ["k"] * 150, form="svg")
    assert texts_of(svg).count("q" * 23 + "…") == 150
    image = pixels(weights, ["q"] * 150, ["k"] * 150)
    assert 4_000 < image.shape[0] <= 2**15


def test_wide_signs_get_a_wide_column():
    narrow, wide = (
        pixels(np.ones((1, 1, 1)), [piece], ["k"]).shape[1]
        for piece in ("\u2581" * 10, "\uff21" * 10)
    )
    assert wide > narrow + 80


def test_signs_without_a_font_need_no_box():
    # Warnings are errors: a box would be one.
    drawn = draw_lines(np.ones((1, 1, 1)), ["\U0003fffd"], ["a"], title="\U0003fffd")
    assert drawn[1:4] == b"PNG"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": [3]}, "`heads` must name some of 3, from 0 to 2. Received: .3"),
        ({"heads": []}, "`heads` must name some"),
        ({"words": [-1]}, "`words` must name some of 3"),
        ({"form": "gif"}, "`form` must be one of png, svg"),
    ],
)
def test_what_is_not_there(options, message):
    with pytest.raises(ValueError, match=message):
        draw_lines(WEIGHTS, PIECES, PIECES, **options)


def test_pieces_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(heads, queries, keys\).*2 queries"):
        draw_lines(WEIGHTS, PIECES[:2], PIECES)
