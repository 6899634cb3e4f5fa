"""Parameter files of EVALB: what they set, and what is wrong with them."""

import pytest

from keras_attention.evaluation.evalb_parameters import (
    COLLINS,
    EvalbParameters,
    read_evalb_parameters,
)


@pytest.fixture
def read(tmp_path):
    """Reads parameters from a text."""

    def from_text(text):
        path = tmp_path / "rules.prm"
        path.write_text(text, encoding="utf-8")
        return read_evalb_parameters(path)

    return from_text


def test_the_rules_of_collins_are_those_of_the_published_file(shared_data):
    assert read_evalb_parameters(shared_data / "evalb" / "COLLINS.prm") == COLLINS


def test_every_keyword_sets_its_field(read):
    found = read(
        "# a comment\n\n"
        "DEBUG 0\nMAX_ERROR 10\r\nCUTOFF_LEN 70\n  LABELED 0   \n"
        "DELETE_LABEL TOP\nDELETE_LABEL ''\nDELETE_LABEL_FOR_LENGTH -NONE-\n"
        "QUOTE_LABEL POS\nEQ_LABEL ADVP PRT\nEQ_WORD This\tthis\n"
    )
    assert found == EvalbParameters(
        deleted_labels=("TOP", "''"),
        deleted_for_length=("-NONE-",),
        quote_labels=("POS",),
        equal_labels=(("ADVP", "PRT"),),
        equal_words=(("This", "this"),),
        labelled=0,
        cutoff_length=70,
    )


def test_an_empty_file_deletes_nothing(read):
    assert read("") == EvalbParameters()


def test_equality_goes_both_ways_and_no_further():
    rules = EvalbParameters(equal_labels=(("A", "B"), ("B", "C")))
    assert rules.same_label("B", "A")
    assert rules.same_label("X", "X")
    assert not rules.same_label("A", "C")
    assert not rules.same_word("A", "B")


def test_a_bracket_is_deleted_by_an_equal_label_too():
    rules = EvalbParameters(deleted_labels=("PRT",), equal_labels=(("ADVP", "PRT"),))
    assert rules.deletes_bracket("PRT")
    assert rules.deletes_bracket("ADVP")
    assert not rules.deletes_bracket("NP")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("LABELLED 1", r"keywords DELETE_LABEL, .*Received: 'LABELLED' \(.*line 2\)"),
        ("DELETE_LABEL", r"DELETE_LABEL takes 1 value\. Received: none \(.*line 2"),
        ("DELETE_LABEL A B", r"takes 1 value\. Received: A B"),
        ("EQ_LABEL ADVP", r"EQ_LABEL takes 2 values\. Received: ADVP"),
        ("EQ_WORD a b c", r"EQ_WORD takes 2 values\. Received: a b c"),
        ("LABELED 2", r"LABELED takes 0 or 1\. Received: 2"),
        ("CUTOFF_LEN -1", r"CUTOFF_LEN takes a whole number.*Received: -1"),
        ("MAX_ERROR ten", r"MAX_ERROR takes a whole number.*Received: ten .*rules.prm"),
        ("CUTOFF_LEN " + "1" * 5_000, r"CUTOFF_LEN takes a whole number.*up to 18 dig"),
        ("DEBUG 1 2", r"DEBUG takes 1 value\. Received: 1 2"),
    ],
)
def test_a_wrong_line_is_named(read, line, message):
    with pytest.raises(ValueError, match=message):
        read(f"# rules\n{line}\n")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "none.prm"
    with pytest.raises(ValueError, match=r"Expected a readable.*none\.prm.*No such"):
        read_evalb_parameters(path)
    path.write_bytes(b"DELETE_LABEL \xff\n")
    with pytest.raises(ValueError, match=r"UTF-8 text.*none\.prm.*decode"):
        read_evalb_parameters(path)
