"""Predicted trees: a line for every sentence, no word changed, honest scores."""

import json
import types

import pytest

from keras_attention.config import DecodingConfig
from keras_attention.data.linearization import linearize
from keras_attention.data.trees import parse_trees, read_trees
from keras_attention.decoding.translation import Hypothesis, Translation
from keras_attention.evaluation import parsing
from keras_attention.evaluation.parsing import evaluate_parsing, parse

GOLD = [
    "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
    "( (S (NP-SBJ (-NONE- *)) (VP (VB go)) (. !)) )",
    "( (NP (-NONE- *T*)) )",
    "(TOP (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))",
]
RIGHT = [
    "(TOP (S (NP DT NN )NP (VP VBZ )VP . )S )TOP",
    "(TOP (S (VP VB )VP . )S )TOP",
    "(TOP (NP -LRB- NN -RRB- )NP )TOP",
]


class Parser:
    """A translator that says what it was told to."""

    decoding_config = DecodingConfig(beam_size=21)
    tokenizer = types.SimpleNamespace(symbols=("(S", ")S"))

    def __init__(self, answers):
        self.answers, self.texts = answers, []

    def translate(self, texts, **overrides):
        self.texts += texts
        return [
            Translation((Hypothesis(text, 0.0, 1),), truncated=False, source_length=1)
            for text in self.answers
        ]


@pytest.fixture
def evaluated(tmp_path, monkeypatch):
    """Scores answers to the sentences of GOLD; gives report, predicted lines, texts."""
    path = tmp_path / "gold"
    path.write_text("\n".join(GOLD))

    def evaluate(answers, tags=True, **options):
        config = {"decoding": {}, "data": {"sources": {"trees": {"tags": tags}}}}
        (tmp_path / "config.json").write_text(json.dumps(config))
        parser = Parser(answers)
        monkeypatch.setattr(parsing.Translator, "load", lambda *_, **__: parser)
        report = evaluate_parsing(tmp_path, [path], **options)
        lines = (tmp_path / "predicted.trees").read_text().split("\n")
        assert json.loads((tmp_path / "brackets.json").read_text()) == report
        return report, lines, parser.texts

    return evaluate


def test_right_trees_score_100_and_leave_a_line_each(evaluated):
    report, lines, texts = evaluated(RIGHT)
    assert texts == ["the dog barks .", "go !", "( a )"]
    assert lines == [
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
        "(TOP (S (VP (VB go)) (. !)))",
        "",
        "(TOP (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))",
        "",
    ]
    assert (report["f1"], report["tagging_accuracy"]) == (100.0, 100.0)
    assert (report["sentences"], report["empty"], report["repaired"]) == (3, 1, 0)
    assert report["error_sentences"] == 0 and report["decoding"]["beam_size"] == 21


def test_a_wrong_tag_of_punctuation_costs_a_tag_and_no_sentence(evaluated):
    answers = [RIGHT[0].replace(" . ", " NN "), *RIGHT[1:]]
    report, lines, _ = evaluated(answers)
    assert "(NN .)" in lines[0]
    assert report["f1"] == 100.0 and report["error_sentences"] == 0
    assert report["tagging_accuracy"] == pytest.approx(100 * 8 / 9)


def test_brackets_that_are_wrong(evaluated):
    flat = "(TOP (S DT NN VBZ . )S )TOP"
    report, _, _ = evaluated([flat, *RIGHT[1:]])
    assert report["precision"] == 100.0
    assert report["recall"] == pytest.approx(100 * 4 / 6)  # S VP, S, NP of six
    assert report["complete_match"] == pytest.approx(200 / 3)


def test_what_no_tree_has_is_repaired_and_counted(evaluated):
    report, lines, _ = evaluated(["(TOP (S (NP DT NN )NP (VP VBZ .", "", ")S NN NN NN"])
    assert [len(list(parse_trees([line]))) for line in lines] == [1, 1, 0, 1, 0]
    assert report["repaired"] == 3
    assert 0 < report["f1"] < 100


def test_words_without_tags_are_scored_too(evaluated, tmp_path):
    lines = ["(S (NP (DT the) dog) barks)", "(S (NP big birds) (VP (VB sing) now))"]
    (tmp_path / "gold").write_text("\n".join(lines))
    right = "(TOP (S (NP {} () )NP {} )S )TOP"
    second = "(TOP (S (NP () () )NP (VP VB () )VP )S )TOP"
    report, written, texts = evaluated([right.format("DT", "()"), second])
    assert texts == ["the dog barks", "big birds sing now"]
    assert written[:2] == [f"(TOP {line})" for line in lines]
    assert (report["f1"], report["error_sentences"]) == (100.0, 0)
    report, _, _ = evaluated([right.format("()", "NN"), second])
    assert (report["f1"], report["error_sentences"]) == (100.0, 0)
    assert report["tagging_accuracy"] == pytest.approx(100 * 5 / 7)


def test_an_answer_that_is_no_tree_costs_its_gold_brackets(evaluated, tmp_path):
    lines = [
        "(S (NP (X the) (X dog)) (VP (X barks)))",
        "(S (NP (X birds)) (VP (X sing)))",
    ]
    (tmp_path / "gold").write_text("\n".join(lines))
    first = "(TOP (S (NP X X )NP (VP X )VP )S )TOP"
    for second, f1 in (
        ("(TOP (S (NP X )NP (VP X", 100.0),
        ("(TOP (S (NP X )NP (VP X )VP )S )TOP )S )S", 100.0),
        ("", 200 / 3),
    ):
        report, _, _ = evaluated([first, second])
        assert report["f1"] == report["strict_f1"] == pytest.approx(f1)
        assert report["repaired"] == 1 and report["unusable_sentences"] == 0
    assert evaluated(["", ""])[0]["f1"] == 0.0


def test_without_tags_there_is_no_tagging_accuracy(evaluated):
    report, lines, _ = evaluated([" XX ".join(["(TOP", "", ")TOP"])] * 3, tags=False)
    assert report["tagging_accuracy"] is None
    assert lines[1] == "(TOP (XX go) (XX !))"
    assert report["error_sentences"] == 0


def test_a_run_that_translates_is_refused(evaluated, tmp_path, monkeypatch):
    monkeypatch.setattr(Parser, "tokenizer", types.SimpleNamespace(symbols=()))
    with pytest.raises(
        ValueError, match="has learned to parse. Received: .*ka-evaluat"
    ):
        evaluated(RIGHT)
    assert not (tmp_path / "brackets.json").exists()


def test_another_place_for_the_trees(evaluated, tmp_path):
    evaluated(RIGHT)
    before = (tmp_path / "predicted.trees").read_bytes()
    evaluated(["", "", ""], output=tmp_path / "other")
    assert (tmp_path / "predicted.trees").read_bytes() == before
    assert len(read_trees(tmp_path / "other")) == 3


def test_leaves_are_the_words_whatever_is_said():
    words = ["(", "f(x)", "a"]
    for answer in ("", "(S NN", "\u2047 \u2047 \u2047 \u2047", ")NP (NP"):
        ((tree, _),) = parse(Parser([answer]), [words])
        assert tree.leaves() == words


@pytest.mark.parametrize("arguments", [{}, {"trees": ["a"], "synthetic": True}])
def test_exactly_one_kind_of_gold_trees(tmp_path, arguments):
    with pytest.raises(ValueError, match="Expected files of gold trees, or"):
        evaluate_parsing(tmp_path, **arguments)


def test_no_tree_with_a_word(tmp_path):
    (tmp_path / "gold").write_text(GOLD[2])
    with pytest.raises(ValueError, match="Nothing to score: .* 1 trees in .*gold"):
        evaluate_parsing(tmp_path, [tmp_path / "gold"])


def test_tags_of_another_tree():
    (tree,) = parse_trees(["(S (NP (XX a) b) (XX c))"])
    found = parsing._with_tags(tree, ["DT", "()", "."])
    assert str(found) == "(S (NP (DT a) b) (. c))"
    assert parsing._tags(found) == ["DT", "()", "."]
    assert linearize(found)[0] == "(S"
