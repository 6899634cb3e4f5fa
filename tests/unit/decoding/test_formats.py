"""Formats: a line stays a line whatever a model says, and JSON stays JSON."""

import json
import math
import types

import numpy as np
import pytest

from keras_attention.config import DecodingConfig
from keras_attention.decoding.formats import ScoreLines, TranslationLines, json_line
from keras_attention.decoding.translation import Hypothesis, Translation

PIECES = ["[PAD]", "[UNK]", "[START]", "[END]", "▁a", "<0x0A>", "ü"]
# All that Python takes for the end of a line.
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def translator(**asked):
    return types.SimpleNamespace(
        tokenizer=types.SimpleNamespace(pieces=PIECES),
        decoding_config=DecodingConfig(**asked),
    )


def translation(*texts, score=-0.5, **details):
    hypotheses = tuple(
        Hypothesis(text, score - slot, 3, (4, 5, 3), **details)
        for slot, text in enumerate(texts)
    )
    return Translation(hypotheses, True, source_length=7, source_ids=(6, 3))


@pytest.mark.parametrize("sign", BREAKS)
def test_a_break_inside_a_hypothesis_starts_no_line(sign):
    found = translation(f"a{sign}b", f"{sign}c")
    text = TranslationLines("text", translator())(0, found)
    assert text == "a b\n"
    nbest = TranslationLines("nbest", translator())(12, found)
    assert nbest == "12 ||| a b ||| -0.500000\n12 |||  c ||| -1.500000\n"
    line = TranslationLines("jsonl", translator())(0, found)
    assert len(line.splitlines()) == 1 and line.endswith("}\n")
    value = json.loads(line)
    assert value["text"] == f"a{sign}b"
    assert [each["text"] for each in value["hypotheses"]] == [f"a{sign}b", f"{sign}c"]


def test_json_lines_are_readable_text():
    line = TranslationLines("jsonl", translator())(0, translation('ü "中" 😀'))
    assert 'ü \\"中\\" 😀' in line
    line.encode("utf-8")
    assert json.loads(line) == {
        "text": 'ü "中" 😀',
        "score": -0.5,
        "length": 3,
        "truncated": True,
        "source_length": 7,
        "hypotheses": [
            {
                "text": 'ü "中" 😀',
                "score": -0.5,
                "length": 3,
                "pieces": ["▁a", "<0x0A>", "[END]"],
            }
        ],
    }


def test_json_lines_have_the_details_that_were_asked_for():
    asked = {"return_attention_weights": True, "return_token_log_probs": True}
    weights = np.array([[1 / 3, 2 / 3], [1.0, 0.0], [0.5, 0.5]], "float32")
    log_probs = (-1 / 3, -0.125, -2.0)
    found = translation("a", token_log_probs=log_probs, attention_weights=weights)
    write = TranslationLines("jsonl", translator(**asked))
    assert json.loads(write(0, found))["source_pieces"] == ["ü", "[END]"]
    (told,) = json.loads(write(0, found))["hypotheses"]
    assert told["attention"] == [[0.3333, 0.6667], [1.0, 0.0], [0.5, 0.5]]
    assert told["token_log_probabilities"] == [-0.333333, -0.125, -2.0]
    (told,) = json.loads(write(0, translation("")))["hypotheses"]
    assert (told["attention"], told["token_log_probabilities"]) == ([], [])
    write = TranslationLines("jsonl", translator())
    (told,) = json.loads(write(0, found))["hypotheses"]
    assert not {"attention", "token_log_probabilities"} & set(told)
    assert "source_pieces" not in json.loads(write(0, found))


def test_what_json_has_no_number_for_is_null():
    found = translation("", score=-math.inf)
    line = TranslationLines("jsonl", translator())(0, found)
    assert json.loads(line)["score"] is None
    assert json.loads(line)["hypotheses"][0]["score"] is None
    assert TranslationLines("nbest", translator())(0, found) == "0 |||  ||| -inf\n"
    line = ScoreLines("jsonl", translator())([4, 3], [-math.inf, -1.0])
    assert json.loads(line)["log_probability"] is None
    assert json.loads(line)["token_log_probabilities"] == [None, -1.0]
    with pytest.raises(ValueError, match="JSON compliant"):
        json_line(math.nan)


def test_scores():
    ids, log_probs = [4, 6, 3], [-0.1, -0.2, -0.3]
    assert ScoreLines("text", translator())(ids, log_probs) == "-0.600000\n"
    assert json.loads(ScoreLines("jsonl", translator())(ids, log_probs)) == {
        "log_probability": -0.6,
        "tokens": 3,
        "token_log_probabilities": log_probs,
        "pieces": ["▁a", "ü", "[END]"],
    }


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="one of text, nbest, jsonl. Received: 'xml'"):
        TranslationLines("xml", translator())
    with pytest.raises(ValueError, match="one of text, jsonl. Received: 'nbest'"):
        ScoreLines("nbest", translator())
