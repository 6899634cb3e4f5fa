"""Answers of a server as lines of a file."""

import json

import pytest

from keras_attention.export.client_answers import ServedHypotheses, ServedTranslation
from keras_attention.export.client_formats import ServedLines

SAID = ServedHypotheses(
    ("ja\u2028!", "a ||| b"), (-0.12345678, -2.0), (3, 4), True, False
)


def test_text_is_one_line():
    assert ServedLines("text")(3, ServedTranslation("a\nb", -1.0, False)) == "a b\n"
    assert ServedLines("text")(3, SAID) == "ja !\n"


def test_nbest():
    lines = ServedLines("nbest")(3, SAID)
    assert lines == "3 ||| ja ! ||| -0.123457\n3 ||| a ||| b ||| -2.000000\n"


def test_jsonl():
    line = ServedLines("jsonl")(3, SAID)
    assert line.count("\n") == 1 and "\u2028" not in line
    assert json.loads(line) == {
        "text": "ja\u2028!",
        "score": -0.123457,
        "truncated": True,
        "adjusted": False,
        "hypotheses": [
            {"text": "ja\u2028!", "score": -0.123457, "length": 3},
            {"text": "a ||| b", "score": -2.0, "length": 4},
        ],
    }


def test_another_format():
    with pytest.raises(ValueError, match="`form` must be one of text, nbest, jsonl"):
        ServedLines("xml")
