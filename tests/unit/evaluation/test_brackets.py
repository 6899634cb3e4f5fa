"""Bracket scores: by hand, and equal to what the program EVALB prints."""

import dataclasses
import gzip
import json
import re

import pytest

import keras_attention as ka
from keras_attention.evaluation.brackets import BracketResult, SentenceBrackets
from keras_attention.evaluation.evalb_parameters import COLLINS

score_brackets = ka.evaluation.score_brackets
GOLD = "(TOP (S (NP-SBJ (DT a) (NN dog)) (VP (VBZ runs) (ADVP (RB home))) (. .)))"


def row(gold, predicted, parameter_file=None):
    """The row of one sentence."""
    return score_brackets([gold], [predicted], parameter_file).rows[0]


def counts(found):
    return found.matched, found.gold, found.predicted, found.crossing


def test_a_tree_against_itself():
    result = score_brackets([GOLD], [GOLD])
    assert (result.recall, result.precision, result.f1) == (100.0, 100.0, 100.0)
    assert (result.complete_match, result.tagging_accuracy) == (100.0, 100.0)
    assert (result.average_crossing, result.no_crossing) == (0.0, 100.0)
    assert (result.gold, result.words, result.rows[0].length) == (4, 4, 5)


def test_the_published_rules_by_hand():
    # TOP and the full stop are left out, NP-SBJ is NP, PRT is ADVP.
    predicted = "(S (NP (DT a) (NN dog)) (VP (VBZ runs) (PRT (RB home))) (. !))"
    assert row(GOLD, predicted).complete
    # (a (dog runs)) crosses (a dog) and (runs home).
    predicted = "(S (X (DT a)) (VP (NN dog) (VBZ runs)) (ADVP (RB home)))"
    found = row(GOLD, predicted)
    assert counts(found) == (2, 4, 4, 1)
    assert (found.recall, found.precision) == (50.0, 50.0)


def test_a_bracket_counts_once():
    once, twice = "(S (NP (NN a)) (B b))", "(S (NP (NP (NN a))) (B b))"
    assert counts(row(once, twice)) == (2, 2, 3, 0)
    assert counts(row(twice, once)) == (2, 3, 2, 0)
    assert counts(row(twice, twice)) == (3, 3, 3, 0)


def test_wrong_tags_cost_tagging_alone():
    found = row("(S (A a) (B b) (C c) (D d))", "(S (A a) (B b) (C c) (X d))")
    assert found.complete
    assert found.tagging_accuracy == 75.0


def test_scores_are_of_all_brackets_not_means_of_sentences():
    short, long = "(S (A a))", "(S (X (A a) (B b)) (Y (C c) (D d)))"
    flat = "(S (A a) (B b) (C c) (D d))"
    result = score_brackets([short, long], [short, flat])
    assert (result.recall, result.precision) == (50.0, 100.0)
    assert result.f1 == pytest.approx(200 / 3)
    assert result.complete_match == 50.0


def test_crossings():
    gold = "(S (X (A a) (B b)) (C c) (D d) (E e) (F f))"
    crossing = "(Y (A a) (Z (B b) (C c)) (Z (D d) (E e) (F f)))"
    many = "(S (A a) (Y (Y (Y (B b) (C c)) (D d)) (E e)) (F f))"
    result = score_brackets([gold, gold, gold], [gold, crossing, many])
    assert [each.crossing for each in result.rows] == [0, 1, 3]
    assert result.average_crossing == pytest.approx(4 / 3)
    assert result.no_crossing == pytest.approx(100 / 3)
    assert result.two_or_less_crossing == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("gold", "predicted", "status", "error"),
    [
        ("(S (A a))", "", 2, "the predicted tree has no words"),
        ("(S (A a))", "(S (. .))", 2, "the predicted tree has no words"),
        ("(S (A a))", "a", 2, "predicted tree: text outside of brackets: 'a'"),
        ("", "(S (A a))", 1, "0 words in the gold tree, 1 in the predicted"),
        ("(S (A a))", "(S (A b))", 1, "'a' in the gold tree, 'b' in the predicted one"),
        ("(S (A a))", "(S (A a) (B b))", 1, "1 words in the gold tree, 2 in the pred"),
        ("(S (A a))", "(S (A a)", 1, "predicted tree: a bracket is never closed"),
        ("(S (A a)))", "(S (A a))", 1, "gold tree: a bracket is closed that was never"),
        ("(S (A a b))", "(S (A a))", 1, "gold tree: more than two elements"),
    ],
)
def test_sentences_in_error_are_in_no_total(gold, predicted, status, error):
    result = score_brackets([gold, GOLD], [predicted, GOLD])
    assert result.rows[0].status == status
    assert result.rows[0].error.startswith(error)
    assert result.rows[1].error is None
    assert (result.sentences, result.valid_sentences) == (2, 1)
    assert (result.error_sentences, result.skipped_sentences) == (
        status == 1,
        status == 2,
    )
    assert (result.f1, result.gold, result.words) == (100.0, 4, 4)


def test_nothing_right_and_nothing_valid():
    nothing = score_brackets(["(S (A a))"], ["(X (A a))"])
    assert (nothing.f1, nothing.recall, nothing.complete_match) == (0.0, 0.0, 0.0)
    assert "Bracketing FMeasure       =    nan" in str(nothing)
    invalid = score_brackets(["(S (A a))"], [""])
    assert (invalid.f1, invalid.no_crossing, invalid.average_crossing) == (0, 0, 0)
    assert (invalid.tagging_accuracy, invalid.complete_match) == (0.0, 0.0)


def test_the_second_summary_is_of_short_sentences(tmp_path):
    rules = tmp_path / "short.prm"
    rules.write_text("CUTOFF_LEN 2\n", encoding="utf-8")
    gold = ["(S (A a) (B b))", "(S (X (A a) (B b)) (C c))"]
    result = score_brackets(gold, [gold[0], "(S (A a) (B b) (C c))"], rules)
    assert (result.sentences, result.short.sentences) == (2, 1)
    assert (result.recall, result.short.recall) == (pytest.approx(200 / 3), 100.0)
    assert (
        str(result).count("\n-- len<=2 --\nNumber of sentence        =      1\n") == 1
    )


def test_a_parameter_file_replaces_the_rules(tmp_path):
    rules = tmp_path / "rules.prm"
    rules.write_text("LABELED 0\nEQ_WORD This this\n", encoding="utf-8")
    found = row("(S (X (A This)) (. .))", "(T (Y (A this)) (. .))", rules)
    assert counts(found) == (2, 2, 2, 0)
    assert row("(S (. .))", "(S (. .))").status == 2
    assert row("(S (. .))", "(S (. .))", rules).status == 0


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (["a", "b"], ["a"], "one predicted tree for each.*2 gold and 1 predicted"),
        ("(A a)", ["(A a)"], "`gold_lines` must be a list of str"),
        ([], [], "`gold_lines` must hold at least one"),
        (["(A a)"], [None], "`predicted_lines` must hold nothing but str"),
    ],
)
def test_what_is_no_pair_of_lists_is_refused(gold, predicted, message):
    with pytest.raises(ValueError, match=message):
        score_brackets(gold, predicted)


def lines(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def test_equal_to_the_program_on_its_trees(shared_data):
    folder = shared_data / "evalb"
    gold = lines(folder / "masc_brackets.gld.gz")
    predicted = lines(folder / "masc_brackets.tst.gz")
    result = score_brackets(gold, predicted)
    assert result.format().split("\n") == lines(folder / "masc_brackets.COLLINS.rsl.gz")
    summaries = json.loads((folder / "expected_summaries.json").read_text())
    expected = summaries["masc_brackets"]["COLLINS.prm"]
    sections = re.split(r"-- (.*) --\n", str(result))[1:]
    for name, section in zip(sections[::2], sections[1::2], strict=True):
        found = re.findall(r"(.*?) += +(\S+)", section)
        assert {key: float(value) for key, value in found} == expected[name]


def fields(text):
    """Rows and summaries without their indentation, as lists of fields."""
    return [line.split() for line in text if line.strip()]


def test_equal_to_the_program_on_its_sample(shared_data):
    folder = shared_data / "evalb"
    gold, predicted = lines(folder / "sample.gld"), lines(folder / "sample.tst")
    result = score_brackets(gold, predicted, folder / "sample.prm")
    expected = fields(lines(folder / "sample.rsl"))
    # An older program printed it: the words of sentences in error (now 0), no
    # F measure, and 16 for the total of crossings that its rows add up to 1.
    for line in expected:
        if len(line) == 12 and line[2] in "12":
            line[9] = "0"
        if line[:2] == ["87.76", "90.53"]:
            line[5] = "1"
    found = fields(result.format().split("\n"))
    assert [line for line in found if "FMeasure" not in line] == expected
    assert (round(result.f1, 2), round(result.short.f1, 2)) == (89.12, 83.20)


def test_equal_to_the_program_on_mistaken_quotation_marks(shared_data, tmp_path):
    folder = shared_data / "evalb"
    gold, predicted = lines(folder / "bug.gld"), lines(folder / "bug.tst")
    quotes = ["``", "''", "POS", "NN", "CD", "VBZ", ":"]
    rules = tmp_path / "quotes.prm"
    rules.write_text(
        (folder / "COLLINS.prm").read_text()
        + "\nDELETE_LABEL S1\n"
        + "".join(f"QUOTE_LABEL {label}\n" for label in quotes),
        encoding="utf-8",
    )
    result = score_brackets(gold, predicted, rules)
    expected = fields(lines(folder / "bug.rsl-new"))
    # The published output has 0 for the total of crossings, and 36 in its rows.
    total = next(line for line in expected if line[:2] == ["62.83", "57.72"])
    total[5] = "36"
    assert fields(result.format().split("\n")) == expected


def test_equal_to_the_program_where_the_lengths_differ(shared_data):
    folder = shared_data / "evalb"
    gold, predicted = lines(folder / "bug.gld"), lines(folder / "bug.tst")
    result = score_brackets(gold, predicted, folder / "COLLINS.prm")
    expected = [
        line for line in lines(folder / "bug.rsl-old") if "Length unmatch" not in line
    ]
    assert fields(result.format().split("\n")) == fields(expected)


def test_punctuation_and_traces_are_no_words(shared_data):
    gold = lines(shared_data / "evalb" / "masc_brackets.gld.gz")
    tags = re.findall(r"\((\S+) [^\s()]+\)", "".join(gold))
    result = score_brackets(gold, gold)
    assert (result.complete_match, result.tagging_accuracy) == (100.0, 100.0)
    assert sum(each.length for each in result.rows) == len(tags)
    kept = [tag for tag in tags if tag not in COLLINS.deleted_labels]
    assert result.words == len(kept) < len(tags)


def test_results_are_plain_values():
    result = score_brackets([GOLD], [GOLD])
    assert isinstance(result, BracketResult)
    assert dataclasses.asdict(result.rows[0])["matched"] == 4
    assert isinstance(result.rows[0], SentenceBrackets)


TWO = ["(S (NP the dog) (VP barks))", "(S (NP birds) (VP sing))"]


@pytest.mark.parametrize(
    ("second", "f1", "strict", "repaired", "unusable"),
    [
        ("(S (NP birds) (VP sing))", 100.0, 100.0, 0, 0),
        ("(S (NP birds) (VP sing", 100.0, 100.0, 1, 0),
        ("(S (NP birds) (VP sing (", 100.0, 100.0, 1, 0),
        ("(S (NP birds) (VP sing))))", 100.0, 100.0, 1, 0),
        ("(S (NP birds) (VP sing)) ) \t)", 100.0, 100.0, 1, 0),
        ("(S (NP birds)) (VP sing", 100.0, 100.0 * 10 / 12, 1, 0),  # 5 of 6 and 6
        ("(S (NP birds)))) (VP sing)", 100.0, 200 / 3, 0, 1),  # not at its end
        ("(S (NP birds) (VP sing away))", 100.0, 200 / 3, 0, 1),  # other words
        ("(S (NP birds) (VP sing away", 100.0, 200 / 3, 0, 1),
        ("(S (NP birds) (VP sin", 100.0, 200 / 3, 0, 1),
        ("(S (NP birds) (VP sing)) of", 100.0, 200 / 3, 0, 1),
        ("", 100.0, 200 / 3, 0, 1),
    ],
)
def test_what_is_left_out_of_the_totals_is_mended_or_missed_in_the_strict_ones(
    second, f1, strict, repaired, unusable
):
    """Without the second tree: precision 3 of 3, recall strictly 3 of 6."""
    gold, predicted = map(with_tags, (TWO, [TWO[0], second]))
    result = score_brackets(gold, predicted)
    assert result.f1 == pytest.approx(f1)
    assert result.strict_f1 == pytest.approx(strict)
    found = result.repaired_sentences, result.unusable_sentences
    assert found == (repaired, unusable)
    if unusable:
        assert (result.strict_recall, result.strict_precision) == (50.0, 100.0)


def test_nothing_usable_at_all_is_zero_and_no_nan():
    result = score_brackets(with_tags(TWO), ["", ""])
    assert result.strict_f1 == result.f1 == 0.0
    assert result.strict_precision == result.strict_recall == 0.0
    assert result.unusable_sentences == result.sentences == 2


def test_a_mended_tree_is_scored_like_any_other():
    mended, sound = "(S (NP birds sing", "(S (NP birds sing))"
    wrong = [
        score_brackets(with_tags(TWO), with_tags([TWO[0], x])) for x in (mended, sound)
    ]
    assert wrong[0].strict_f1 == wrong[1].f1 == pytest.approx(100 * 8 / 11)
    assert wrong[0].rows[1].matched == 0 and wrong[0].rows[1].strict == (1, 3, 2)


def test_a_sentence_without_words_to_compare_is_neither_mended_nor_unusable():
    result = score_brackets(["(S (. .))", GOLD, "(S (A a)"], ["(S (. !))", GOLD, "(S"])
    assert (result.repaired_sentences, result.unusable_sentences) == (0, 0)
    assert result.strict_f1 == 100.0


def with_tags(lines):
    """Gives every word a tag, which the program asks for."""
    words = r"(?<= )([a-z]+)"  # "(VP sing" becomes "(VP (X sing)"
    return [re.sub(words, r"(X \1)", line) for line in lines]
