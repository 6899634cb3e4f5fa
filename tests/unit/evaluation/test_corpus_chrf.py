import pytest

from keras_attention.evaluation import corpus_chrf


def test_a_score_by_hand():
    # "ab" against "abc": per order the matches are 2 of 2 and 3, 1 of 1 and 2, and the
    # third order is in the reference alone; chrF2 weighs recall four to one.
    result = corpus_chrf(["ab"], ["abc"])
    precision, recall = (1 + 1) / 2, (2 / 3 + 1 / 2) / 2
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert result.score == pytest.approx(expected, abs=1e-6)
    assert "nc:6" in result.signature and "nw:0" in result.signature


def test_sides_of_different_lengths():
    with pytest.raises(ValueError, match="chrF needs one reference for each.*2 hyp"):
        corpus_chrf(["a", "b"], ["a"])
