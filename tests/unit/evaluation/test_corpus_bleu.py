"""Corpus BLEU: published values, and inputs of the wrong shape."""

import json

import pytest

from keras_attention.evaluation.corpus_bleu import corpus_bleu

HYPOTHESES = [
    "The red boat left the port at noon.",
    "Three birds sat on the old wall.",
    "She opened the small blue box.",
]
REFERENCES = [
    "The red boat left the harbour at noon.",
    "Three birds sat on the old stone wall.",
    "She opened the small blue box.",
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_one_reference_a_sentence_in_any_order(order):
    result = corpus_bleu([HYPOTHESES[i] for i in order], [REFERENCES[i] for i in order])
    assert result.score == pytest.approx(74.09, abs=0.01)


def test_the_signature_says_how():
    mixed = corpus_bleu(HYPOTHESES, REFERENCES).signature.split("|")
    assert {"nrefs:1", "case:mixed", "tok:13a", "smooth:exp"} <= set(mixed)
    lower = corpus_bleu(HYPOTHESES, REFERENCES, lowercase=True).signature
    assert "case:lc" in lower.split("|")


def test_the_parts_make_the_score():
    result = corpus_bleu(HYPOTHESES, REFERENCES)
    mean = 1.0
    for precision in result.precisions:
        mean *= precision**0.25
    assert len(result.precisions) == 4
    assert result.score == pytest.approx(result.brevity_penalty * mean, rel=1e-6)
    assert result.brevity_penalty < 1.0
    assert (result.hypothesis_length, result.reference_length) == (24, 25)


def test_case_counts_unless_asked():
    lower = [text.lower() for text in REFERENCES]
    assert corpus_bleu(lower, REFERENCES).score < 99.0
    result = corpus_bleu(lower, REFERENCES, lowercase=True)
    assert result.score == pytest.approx(100.0)


def test_published_values(shared_data):
    cases = json.loads((shared_data / "vectors" / "bleu_small.json").read_text())
    joey, sacre = cases["joeynmt"], cases["sacrebleu"]["sentence"]
    result = corpus_bleu([joey["hyp"]], [joey["ref"]], lowercase=True)
    assert result.score == pytest.approx(joey["lowercase_13a"], abs=1e-3)
    expected = [
        score
        for smooth, _, lowercase, tokenizer, score in sacre["cases"]
        if (smooth, lowercase, tokenizer) == ("exp", False, "13a")
    ]
    result = corpus_bleu([sacre["hyp"]], [sacre["ref"]])
    assert [result.score] == pytest.approx(expected, abs=sacre["tol"])


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (HYPOTHESES[:2], REFERENCES, "2 hypotheses and 3 references"),
        ([], [], "`hypotheses` must hold at least one sentence"),
        (HYPOTHESES, [], "`references` must hold at least one sentence"),
        ("a text", ["a text"], "`hypotheses` must be a list of str.*'a text'"),
        (["a text"], "a text", "`references` must be a list of str"),
        (["a text"], None, "`references` must be a list of str.*None"),
        (HYPOTHESES, [REFERENCES], "`references` must hold nothing but str.*list"),
        ([b"bytes"], ["text"], "`hypotheses` must hold nothing but str.*bytes.*0"),
        (["a", None], ["a", "b"], "NoneType at index 1"),
    ],
)
def test_what_is_no_corpus_is_refused(hypotheses, references, message):
    with pytest.raises(ValueError, match=message):
        corpus_bleu(hypotheses, references)
