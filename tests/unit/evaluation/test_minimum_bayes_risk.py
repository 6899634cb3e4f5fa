import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from keras_attention.decoding.translation import Hypothesis, Translation
from keras_attention.evaluation import minimum_bayes_risk
from keras_attention.evaluation.minimum_bayes_risk import least_risky

SENTENCES = ["a tree", "two dogs run", "two dogs ran", "two cats ran", "", "one dog"]


def mean_scores(samples):
    """By the definition: every sample against every sample, itself included."""
    return [
        sum(sacrebleu.sentence_chrf(text, [other]).score for other in samples)
        / len(samples)
        for text in samples
    ]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8))
def test_the_choice_has_the_highest_mean_and_is_the_first_such(samples):
    means = mean_scores(samples)
    chosen = minimum_bayes_risk(samples)
    assert means[chosen] == pytest.approx(max(means), abs=1e-9)
    assert chosen == samples.index(samples[chosen])


def test_samples_count_as_often_as_they_were_drawn():
    assert minimum_bayes_risk(["one dog", "two cats", "two cats"]) == 1
    assert (
        minimum_bayes_risk(["one dog", "two cats", "two cats"] + 2 * ["one dog"]) == 0
    )
    assert minimum_bayes_risk(["ab", "cd", "ef"]) == 0  # equals
    assert minimum_bayes_risk(["", "cd"]) == 1
    assert minimum_bayes_risk(["", ""]) == minimum_bayes_risk(["a"]) == 0


def test_each_pair_of_different_texts_is_scored_once(monkeypatch):
    from sacrebleu.metrics import CHRF

    score, pairs = CHRF.sentence_score, []

    def counted(self, text, others):
        pairs.append((text, *others))
        return score(self, text, others)

    monkeypatch.setattr(CHRF, "sentence_score", counted)
    minimum_bayes_risk(SENTENCES[:3] * 5)
    assert len(pairs) == len(set(pairs)) == 9
    minimum_bayes_risk(["one dog"] * 5)
    assert len(pairs) == 9


def test_the_chosen_hypothesis_stays_alone_with_its_details():
    texts = ["one dog", "two cats", "two cats"]
    hypotheses = tuple(Hypothesis(text, -i, i) for i, text in enumerate(texts))
    found = least_risky(Translation(hypotheses, truncated=True, source_length=5))
    assert found.hypotheses == hypotheses[1:2]
    assert (found.text, found.score, found.truncated) == ("two cats", -1, True)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "`samples` must hold at least one sentence"),
        ("one", "`samples` must be a list of str"),
        (["one", b"two"], "bytes at index 1"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(samples, message):
    with pytest.raises(ValueError, match=message):
        minimum_bayes_risk(samples)
