"""Lines of brackets: words, spans, what is left out, what is wrong."""

import re

import pytest

from keras_attention.evaluation.evalb_parameters import COLLINS, EvalbParameters
from keras_attention.evaluation.evalb_sentences import Sentence, mend_quotes

PLAIN = EvalbParameters()


def read(line, parameters=PLAIN):
    return Sentence(line, parameters)


def test_words_tags_and_spans_in_the_order_of_opening():
    found = read("(S (NP (DT a) (NN dog)) (VP (VBZ runs)))")
    assert found.words == ["a", "dog", "runs"]
    assert found.tags == ["DT", "NN", "VBZ"]
    assert found.brackets == [[0, 3, "S"], [0, 2, "NP"], [2, 3, "VP"]]
    assert (found.length, found.error) == (3, None)


def test_white_space_does_not_matter():
    loose = read("  ( (S \t(NP(DT a)   (NN  dog))(VP (VBZ runs) )) )\r\n")
    assert loose.words == ["a", "dog", "runs"]
    assert [label for _, _, label in loose.brackets] == ["", "S", "NP", "VP"]
    assert loose.error is None
    assert read("(X\u00a0Y a\u00a0b)").words == ["a\u00a0b"]


def test_several_trees_a_line_are_one_sentence():
    found = read("(A a) (X (B b)) (C c)")
    assert (found.words, found.brackets) == (["a", "b", "c"], [[1, 2, "X"]])


def test_deleted_words_count_towards_the_length_alone():
    found = read("(TOP (S (NP (-NONE- *)) (VP (VB Go)) (. !)))", COLLINS)
    assert (found.words, found.length) == (["Go"], 2)
    assert found.spans() == [(0, 1, "S"), (0, 1, "VP")]


def test_labels_end_before_function_tags_and_tags_do_not():
    found = read("(NP-SBJ-1 (NP=2 (NN-X a)))")
    assert found.spans() == [(0, 1, "NP"), (0, 1, "NP")]
    assert found.tags == ["NN-X"]


def test_a_bracket_without_a_word():
    found = read("(S (NP) (NN a))")
    assert found.brackets == [[0, 1, "S"], [0, 0, "NP"]]
    assert found.spans() == [(0, 1, "S")]
    assert read("(NP )").words == [""]  # as the program reads it


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("(S (A a)", "a bracket is never closed"),
        ("(S", "a bracket is never closed"),
        ("(S a", "a bracket is never closed"),
        ("(", "a bracket is never closed"),
        ("(S (A a)))", "a bracket is closed that was never opened"),
        ("words (S (A a))", "text outside of brackets: 'words \\(S \\(A a\\)\\)'"),
        ("(S (A a) b)", "text outside of brackets: 'b\\)'"),
        ("(S (A a b))", "more than two elements in a bracket: '\\(A a'"),
        ("(A a )", "more than two elements"),
        ("( A (B b))", "more than two elements"),
        ("(A a(B b))", "more than two elements"),
    ],
)
def test_what_is_wrong_is_said(line, error):
    assert re.match(error, read(line).error)


def test_a_deep_tree():
    depth = 100_000
    found = read("(X " * depth + "(A a)" + ")" * depth)
    assert (len(found.brackets), found.error) == (depth, None)


QUOTES = EvalbParameters(deleted_labels=("''",), quote_labels=("''", "NN"))


def test_a_quotation_mark_that_one_side_deletes_is_put_back():
    gold = read("(S (A a) (X ('' \") (B b)) (Y (C c)))", QUOTES)
    other = read('(S (A a) (X (NN ") (B b)) (Y (C c)))', QUOTES)
    assert (gold.words, other.words) == (["a", "b", "c"], ["a", '"', "b", "c"])
    mend_quotes(gold, other)
    assert gold.words == other.words
    assert gold.tags == ["A", "''", "B", "C"]
    assert gold.brackets == other.brackets == [[0, 4, "S"], [1, 3, "X"], [3, 4, "Y"]]


def test_it_is_put_back_on_either_side_and_twice():
    one = read("(S ('' ') (X (NN ') ('' /)) (A a))", QUOTES)
    two = read("(S (NN ') (X ('' ') (NN /)) (A a))", QUOTES)
    mend_quotes(one, two)
    assert one.words == two.words == ["'", "'", "/", "a"]
    assert one.brackets == two.brackets == [[0, 4, "S"], [1, 3, "X"]]


def test_other_words_are_no_quotation_marks():
    gold = read("(S ('' x) (B b))", QUOTES)
    other = read("(S (NN x) (B b))", QUOTES)
    mend_quotes(gold, other)
    assert (gold.words, other.words) == (["b"], ["x", "b"])
