import json
import math

import numpy as np
import pytest

from keras_attention.evaluation.attended_sentences import AttendedSentence
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.head_profiles import MEASURES, OFTEN
from keras_attention.evaluation.head_report import head_report, is_punctuation
from tests.unit.evaluation.attended import made_up

SOURCE, TARGET = ["\u2581a", "\u2581dog", "."], ["\u2581ein", "\u2581Hund", "."]


def looking_at(*places, size=4):
    """Weights (len(places), size) of a head that looks at one piece a position."""
    return np.eye(size)[list(places)]


def heads(encoder_self, decoder_self, encoder_decoder):
    """A sentence of one block, each kind a list of (4, 4) weights."""
    kinds = zip(KINDS, (encoder_self, decoder_self, encoder_decoder), strict=True)
    maps = {kind: np.array([weights], "float32") for kind, weights in kinds}
    pieces = (*SOURCE, "[END]"), ("[START]", *TARGET), (*TARGET, "[END]")
    return AttendedSentence("a dog.", "ein Hund.", *pieces, maps)


@pytest.fixture
def report():
    """Of heads whose roles are plain; a second sentence is the same."""
    sentence = heads(
        [looking_at(0, 0, 1, 2), looking_at(1, 2, 3, 3), looking_at(2, 2, 2, 2)],
        [looking_at(0, 1, 2, 3), looking_at(0, 0, 1, 2), looking_at(0, 0, 0, 0)],
        # Two heads align a -> Hund, dog -> ein; the third is one position late.
        [looking_at(1, 0, 2, 3), looking_at(1, 0, 2, 3), looking_at(3, 1, 0, 2)],
    )
    return head_report([sentence, sentence])


def named(report):
    return {(x.kind, x.layer, x.head): x for x in report.heads}


def test_heads_have_the_roles_they_were_made_for(report):
    roles = {place: head.roles for place, head in named(report).items()}
    assert roles["encoder_self", 1, 1] == ("previous",)
    assert roles["encoder_self", 1, 2] == ("next", "boundary")
    assert roles["encoder_self", 1, 3] == ("punctuation",)
    assert roles["decoder_self", 1, 1] == ("same", "punctuation")
    assert roles["decoder_self", 1, 2] == ("previous", "boundary")
    assert roles["decoder_self", 1, 3] == ("boundary",)
    assert "aligned" in roles["encoder_decoder", 1, 1]
    assert "aligned_read" in roles["encoder_decoder", 1, 3]
    assert "aligned" not in roles["encoder_decoder", 1, 3]


def test_means_are_over_positions_that_can(report):
    found = named(report)
    first = found["encoder_self", 1, 1]
    assert (first.previous, first.same) == (1.0, 0.25)  # position 0 has none before it
    assert first.entropy == 0.0
    assert found["encoder_self", 1, 2].next == 1.0
    late = found["encoder_decoder", 1, 3]
    assert (late.aligned, late.aligned_read) == (0.0, 1.0)
    assert found["decoder_self", 1, 1].next is None, "no head looks ahead"
    assert found["encoder_self", 1, 1].aligned is None
    # Only the last of four positions has read the punctuation.
    assert found["decoder_self", 1, 1].punctuation == 1.0
    assert report.sentences == 2
    assert report.positions == dict.fromkeys(KINDS, 8)


def test_a_head_is_not_compared_with_itself():
    alone = looking_at(0, 1, 2, 3), looking_at(2, 2, 2, 3)
    report = head_report([heads(alone, alone, alone)])
    found = named(report)
    # Each is measured against the other; END is no candidate, the row of END none.
    assert found["encoder_decoder", 1, 1].aligned == pytest.approx(1 / 3)
    assert found["encoder_decoder", 1, 2].aligned == pytest.approx(1 / 3)


def test_one_head_alone_has_no_aligned_pieces():
    one = [looking_at(0, 1, 2, 3)]
    report = head_report([heads(one, one, one)])
    assert named(report)["encoder_decoder", 1, 1].aligned is None


def test_a_head_that_looks_everywhere_is_the_uniform_one():
    square, causal = np.full((4, 4), 0.25), np.tril(np.ones((4, 4)))
    causal /= causal.sum(1, keepdims=True)
    report = head_report([heads([square] * 2, [causal] * 2, [square] * 2)])
    for head in report.heads:
        uniform = report.uniform[head.kind]
        for name in MEASURES:
            expected = getattr(uniform, name)
            assert getattr(head, name) == pytest.approx(expected, abs=1e-6), name
    assert report.uniform["encoder_self"].entropy == pytest.approx(math.log(4))
    expected = sum(math.log(n) for n in (1, 2, 3, 4)) / 4
    assert report.uniform["decoder_self"].entropy == pytest.approx(expected)
    assert report.uniform["encoder_self"].roles == ()


def test_the_report_of_two_is_the_mean_by_positions():
    one, other = made_up(SOURCE, TARGET), made_up(["b"] * 7, ["c"], seed=1)
    both = head_report(x for x in (one, other)).heads
    apart = [head_report([x]).heads for x in (one, other)]
    for head, first, second in zip(both, *apart, strict=True):
        rows = (4, 8) if head.kind == "encoder_self" else (4, 2)
        expected = np.average([first.entropy, second.entropy], weights=rows)
        assert head.entropy == pytest.approx(expected)


def test_punctuation_of_a_sentence_without_any_is_left_out():
    report = head_report([made_up(["b"], ["c"])])
    assert all(head.punctuation is None for head in report.heads)


def test_an_empty_sentence_counts():
    report = head_report([made_up([], [])])
    assert report.positions["encoder_self"] == 1
    assert report.heads[0].previous is None and report.heads[0].entropy == 0


@pytest.mark.parametrize(
    "piece", [".", "\u2581\u00bf", "##!?", "\u3002", "\u060c", "##"]
)
def test_punctuation(piece):
    assert is_punctuation(piece)


@pytest.mark.parametrize("piece", ["", "\u2581", "a.", "[END]", "+", "7"])
def test_no_punctuation(piece):
    assert not is_punctuation(piece)


def test_as_json_and_as_text(report):
    told = json.loads(report.to_json())
    assert told["heads"][0]["roles"] == ["previous"]
    assert told["heads"][0]["strongest"]["previous"] == 1.0
    assert told["uniform"]["decoder_self"]["next"] is None
    text = report.to_text()
    assert f"at least {OFTEN:.0%}" in text.splitlines()[0]
    lines = [line.split() for line in text.splitlines()]
    assert ["1.1", "1.00", "0.25", "0.00", "0.25", "0.00", "0.00"] in [
        x[:7] for x in lines
    ]
    assert lines.count([]) == 3 and "encoder decoder, 8 positions" in text
    assert "previous 100%" in text


def test_nothing_to_report():
    with pytest.raises(ValueError, match="at least one sentence. Received: none"):
        head_report([])


def test_sentences_of_two_models():
    with pytest.raises(ValueError, match=r"one model. Received.*at index 1"):
        head_report([made_up(["a"], ["b"]), made_up(["a"], ["b"], heads=4)])
