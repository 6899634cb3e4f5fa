"""BLEU of Moses tokens with compounds split."""

import gzip

import pytest

from keras_attention.evaluation.corpus_bleu import corpus_bleu
from keras_attention.evaluation.tokenized_bleu import tokenized_bleu

REFERENCES = ["Der Rich-Text-Editor ist da.", "Er kam z.B. am Montag an."]


def test_the_translation_that_is_the_reference():
    result = tokenized_bleu(REFERENCES, REFERENCES)
    assert result.score == pytest.approx(100.0)
    assert result.reference_length == 9 + 7  # two hyphens became tokens


def test_the_signature_says_how():
    parts = tokenized_bleu(REFERENCES, REFERENCES).signature.split("|")
    assert {"nrefs:1", "case:mixed", "tok:moses-de+compounds", "smooth:none"} <= {
        *parts
    }
    french = tokenized_bleu(REFERENCES, REFERENCES, language="fr").signature
    assert "tok:moses-fr" in french.split("|")


def test_compounds_are_split_for_german_only():
    german = tokenized_bleu(REFERENCES, REFERENCES).reference_length
    assert tokenized_bleu(REFERENCES, REFERENCES, "en").reference_length == german - 4
    # A letter between two hyphens is used up by the first.
    assert tokenized_bleu(["A-B-C"], ["A-B-C"]).reference_length == 3


def test_the_score_by_hand():
    # 4 tokens of 5 right in "a b c d x", against "a b c d e"; no smoothing.
    result = tokenized_bleu(["a b c d x"], ["a b c d e"])
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert result.score == pytest.approx(expected)
    assert result.precisions == pytest.approx((80.0, 75.0, 200 / 3, 50.0))
    assert tokenized_bleu(["a b c"], ["a b c d"]).score == 0.0  # no 4-gram


@pytest.mark.parametrize(
    ("hypotheses", "references", "language", "message"),
    [
        (["a"], ["a", "b"], "de", "BLEU needs one reference.*1 hyp.*2 references"),
        ([], [], "de", "`hypotheses` must hold at least one"),
        (["a"], ["a"], "xx", "`language`.*'xx'"),
    ],
)
def test_what_is_no_corpus_is_refused(hypotheses, references, language, message):
    with pytest.raises(ValueError, match=message):
        tokenized_bleu(hypotheses, references, language)


def test_the_published_figures_of_newstest2014(shared_data):
    folder = shared_data / "mt" / "newstest"
    source, reference = (
        gzip.decompress((folder / f"newstest2014.en-de.{side}.gz").read_bytes())
        .decode()
        .split("\n")[:-1]
        for side in ("en", "de")
    )
    # Published scores print 64 496 (multi-bleu) and 62 688 (13a); the copied source
    # has 2.75 by the latter.
    copied = tokenized_bleu(source, reference)
    assert copied.reference_length == 64_496
    assert round(copied.score, 2) == 2.98
    other = corpus_bleu(source, reference)
    assert other.reference_length == 62_688
    assert round(other.score, 2) == 2.75
