"""What the page shows, step by step, for a model whose answers are known."""

import numpy as np
import pytest

from keras_attention.export import demo_page
from keras_attention.export.client_answers import ServedExplanation, ServedHypotheses
from keras_attention.export.demo_model import DemoAnswer

FOUND = ServedHypotheses(("ein Hund",), (-0.5,), (3,), True, True)
EXPLANATION = ServedExplanation(
    "ein Hund", -0.5, True, ("a",), ("ein",), np.ones((1, 1), np.float32), (-0.5,)
)


class Model:
    largest_beam = 16

    def __init__(self, explanation):
        self.asked = []
        self.explanation = explanation

    def ask(self, *values):
        self.asked.append(values)
        if not values[0]:
            raise ValueError("Expected <a sentence>.")
        return DemoAnswer(FOUND, 0.5, self.explanation)


def test_it_says_that_it_translates_then_what_it_found():
    model = Model(EXPLANATION)
    steps = demo_page.answers(model, "a dog", 4, 0.6, 2)
    status, hypotheses, alignment = next(steps)
    assert "Translating" in status and (hypotheses, alignment) == ("", "")
    assert model.asked == []
    [(status, hypotheses, alignment)] = steps
    assert model.asked == [("a dog", 4, 0.6, 2)]
    assert "0.500 s" in status and "Truncated" in status and "Adjusted" in status
    assert "beams: 1 to 16" in status
    assert "<td>ein Hund</td><td>-0.5000</td>" in hypotheses
    assert "<h2>Alignment</h2><p>The alignment of the best" in alignment
    assert "<img src=" in alignment


def test_a_version_without_explain_shows_a_note():
    *_, (_, _, alignment) = demo_page.answers(Model(None), "a dog", 4, 0.6, 2)
    assert "no signature" in alignment and "<img" not in alignment


def test_what_was_wrong_stands_in_the_status_and_nothing_else_is_left():
    *_, last = demo_page.answers(Model(EXPLANATION), "", 4, 0.6, 2)
    error = "<strong>Not translated.</strong> Expected &lt;a sentence&gt;."
    assert last == (f'<p class="error">{error}</p>', "", "")


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ({}, "<h1>a &lt; b</h1>"),
        ({"bleu": None}, "<h1>a &lt; b</h1>"),
        (
            {"bleu": {"score": 37.456, "signature": "tok:13a|<"}},
            "<h1>a &lt; b</h1><p>BLEU 37.46, tok:13a|&lt;</p>",
        ),
    ],
)
def test_the_heading_tells_the_quality_where_it_is_known(manifest, expected):
    assert demo_page._heading("a < b", manifest) == expected
