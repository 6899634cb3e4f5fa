"""What a translator can be asked for beside the best translation."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.beam_steps import length_penalty
from keras_attention.decoding.details import replace_unknown, words_of
from keras_attention.decoding.ensemble import Ensemble
from keras_attention.decoding.searches import hash_rows
from keras_attention.decoding.translation import Hypothesis
from keras_attention.decoding.translator import Translator
from keras_attention.models.build import build_transformer
from keras_attention.vocabulary import END_ID, UNK_ID
from tests.unit.decoding.test_search_of_transformer import randomise

LINES = ["to be or not to be", "that is the question", "whether to suffer", "to"]
SIZE = 40


def make(seed, **options):
    sizes = {"num_layers": 2, "model_dim": 16, "num_heads": 2, "feed_forward_dim": 32}
    model = build_transformer(TransformerConfig(SIZE, **{**sizes, **options}))
    randomise(model, seed)
    return model


@pytest.fixture(scope="module")
def tokenizer():
    return SubwordTokenizer.learn_from_lines(LINES, SIZE)


@pytest.fixture(scope="module")
def models():
    return make(1), make(2)


@pytest.fixture(scope="module")
def translator(models, tokenizer):
    config = DecodingConfig(beam_size=3, max_extra_length=4, num_hypotheses=3)
    return Translator(models[0], tokenizer, config)


def test_log_probabilities_and_attention_of_each_piece(translator):
    asked = {"return_token_log_probs": True, "return_attention_weights": True}
    plain = translator.translate(LINES)
    assert {result.source_ids for result in plain} == {()}
    for row, (result, same) in enumerate(
        zip(translator.translate(LINES, **asked), plain, strict=True)
    ):
        for each, other in zip(result.hypotheses, same.hypotheses, strict=True):
            assert (each.text, each.ids) == (other.text, other.ids)
            assert other.token_log_probs is other.attention_weights is None
            assert len(each.token_log_probs) == each.length == len(each.ids)
            penalty = float(length_penalty(each.length, 0.6))
            total = sum(each.token_log_probs)
            assert each.score * penalty == pytest.approx(total, abs=1e-4)
            weights = each.attention_weights
            assert weights.shape == (each.length, result.source_length + 1)
            assert len(result.source_ids) == weights.shape[1]
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-5)
        best = result.hypotheses[0]
        if best.ids[-1] == END_ID and not row:
            (scored,) = translator.score(
                [LINES[row]], [best.text], return_token_log_probs=True
            )
            assert sum(scored) == pytest.approx(
                translator.score([LINES[row]], [best.text])[0], abs=1e-5
            )


def test_attention_of_any_layer(translator):
    found = [
        translator.translate(
            LINES[:1], return_attention_weights=True, attention_layer=layer
        )[0]
        .hypotheses[0]
        .attention_weights
        for layer in (0, 1, -1)
    ]
    np.testing.assert_array_equal(found[1], found[2])
    assert not np.allclose(found[0], found[1])
    with pytest.raises(ValueError, match="2 decoder blocks, from -2 to 1. Received: 2"):
        translator.translate(["to"], return_attention_weights=True, attention_layer=2)


def test_a_coverage_penalty_is_that_of_the_attention(translator):
    beta = 0.7
    asked = {"return_attention_weights": True, "return_token_log_probs": True}
    results = translator.translate(LINES, coverage_penalty=beta, **asked)
    for result in results:
        for each in result.hypotheses:
            covered = np.minimum(each.attention_weights.sum(axis=0), 1.0)
            expected = sum(each.token_log_probs) / float(
                length_penalty(each.length, 0.6)
            )
            expected += beta * np.log(covered).sum()
            assert each.score == pytest.approx(expected, abs=1e-4)
    alone = translator.translate(LINES[2:3], coverage_penalty=beta)
    assert [h.ids for h in alone[0].hypotheses] == [
        h.ids for h in results[2].hypotheses
    ]


def test_a_translation_begins_with_its_prefix(translator):
    prefixes = ["be or", "", "the", "question"]
    results = translator.translate(LINES, prefixes=prefixes)
    ids = translator.tokenizer.tokenize(prefixes).to_list()
    for result, prefix, wanted in zip(results, prefixes, ids, strict=True):
        for each in result.hypotheses:
            assert list(each.ids[: len(wanted)]) == wanted
            assert each.text.startswith(prefix)
            assert each.length <= max(result.source_length, len(wanted)) + 4
    free = translator.translate([LINES[1]])[0]
    assert [h.ids for h in results[1].hypotheses] == [h.ids for h in free.hypotheses]
    with pytest.raises(ValueError, match="`prefixes` must hold one text for each"):
        translator.translate(LINES, prefixes=["a"])
    with pytest.raises(ValueError, match=r"below the limit of 2. Received: \d+ pieces"):
        translator.translate(["to"], prefixes=["question be"], max_length=2)


def test_lengths_and_pieces_may_be_limited(translator):
    for result in translator.translate(LINES, max_length=3):
        assert all(each.length <= 3 for each in result.hypotheses)
    banned = translator.translate(LINES)[0].hypotheses[0].ids[0]
    for result in translator.translate(LINES, suppress_ids=(banned,)):
        assert all(banned not in each.ids for each in result.hypotheses)
    for result in translator.translate(LINES, no_repeat_ngram_size=1):
        assert all(len(set(h.ids)) == len(h.ids) for h in result.hypotheses)


def test_samples_are_those_of_the_sentence(translator):
    asked = {"sampling": True, "num_hypotheses": 5, "beam_size": 1, "temperature": 2.0}
    together = translator.translate(LINES, **asked)
    for row, line in enumerate(LINES):
        (alone,) = translator.translate([line], **asked)
        assert [h.ids for h in alone.hypotheses] == [
            h.ids for h in together[row].hypotheses
        ]
    others = translator.translate(LINES, sampling_seed=9, **asked)
    assert [x.hypotheses for x in others] != [x.hypotheses for x in together]
    likely = translator.translate(LINES, sampling=True, num_hypotheses=2, top_k=1)
    greedy = translator.translate(LINES, beam_size=1, num_hypotheses=1)
    assert [x.hypotheses[0].ids for x in likely] == [
        x.hypotheses[0].ids for x in greedy
    ]


def test_a_row_s_hash_does_not_see_padding():
    ids = np.array([[5, 6, 3, 0], [5, 3, 0, 0], [6, 5, 3, 0]])
    hashes = hash_rows(tf.constant(ids)).numpy()
    np.testing.assert_array_equal(hashes, hash_rows(tf.constant(ids[:, :3])).numpy())
    assert len(set(hashes.tolist())) == 3


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"coverage_penalty": 0.5}, marks=SLOW),
        pytest.param({"max_length": 5}, marks=SLOW),
    ],
)
def test_xla_finds_the_same(translator, options):
    expected = translator.translate(LINES, **options)
    found = translator.translate(LINES, jit_compile_search=True, **options)
    for one, other in zip(found, expected, strict=True):
        assert [h.ids for h in one.hypotheses] == [h.ids for h in other.hypotheses]
        assert [h.score for h in one.hypotheses] == pytest.approx(
            [h.score for h in other.hypotheses], abs=1e-4
        )


@SLOW
def test_an_ensemble_of_one_model_twice_is_that_model(models, translator, tokenizer):
    expected = translator.translate(LINES)
    twice = Ensemble([models[0]] * 2)
    found = Translator(twice, tokenizer, translator.decoding_config).translate(LINES)
    for one, other in zip(found, expected, strict=True):
        assert [h.ids for h in one.hypotheses] == [h.ids for h in other.hypotheses]
        assert one.score == pytest.approx(other.score, abs=1e-4)


@pytest.mark.parametrize(
    "average", ["log_probabilities", pytest.param("probabilities", marks=SLOW)]
)
def test_an_ensemble_searches_with_the_mean(models, tokenizer, average):
    config = DecodingConfig(beam_size=3, max_extra_length=4, coverage_penalty=0.2)
    ensemble = Ensemble(models, average)
    joint = Translator(ensemble, tokenizer, config)
    asked = {"return_token_log_probs": True, "return_attention_weights": True}
    results = joint.translate(LINES, **asked)
    for line, result in zip(LINES, results, strict=True):
        (each,) = result.hypotheses
        source = [[*tokenizer.tokenize([line]).to_list()[0], END_ID]]
        inputs = {"source_ids": np.array(source), "target_ids": [[2, *each.ids[:-1]]]}
        inputs["target_ids"] = np.array(inputs["target_ids"])
        parts = [tf.nn.log_softmax(m(inputs, training=False)).numpy() for m in models]
        if average == "probabilities":
            log_probs = np.logaddexp(*parts) - np.log(2)
        else:
            mean = (parts[0] + parts[1]) / 2
            log_probs = mean - np.logaddexp.reduce(mean, axis=-1, keepdims=True)
        expected = log_probs[0, range(each.length), each.ids]
        np.testing.assert_allclose(each.token_log_probs, expected, atol=1e-4)
        covered = np.minimum(each.attention_weights.sum(axis=0), 1.0)
        score = expected.sum() / float(length_penalty(each.length, 0.6))
        assert each.score == pytest.approx(
            score + 0.2 * np.log(covered).sum(), abs=1e-4
        )


def test_models_that_do_not_go_together_are_refused(models):
    with pytest.raises(ValueError, match="all of one vocabulary. Received: .*41"):
        other = build_transformer(
            TransformerConfig.from_preset("tiny", vocabulary_size=41)
        )
        Ensemble([models[0], other])
    with pytest.raises(ValueError, match="one model or more"):
        Ensemble([])
    with pytest.raises(ValueError, match="`average` must be one of .*Received: 'mean'"):
        Ensemble(models, "mean")
    deeper = Ensemble([models[0], make(3, num_layers=1)])
    ids = tf.constant([[5, 3]])
    with pytest.raises(ValueError, match="2 blocks x 2 heads, 1 blocks x 2 heads"):
        deeper.attention_weights(ids, ids)


def test_an_unknown_piece_becomes_the_word_it_attends_to(tokenizer):
    weights = np.zeros((3, 5), "float32")
    weights[[0, 1, 2], [4, 1, 2]] = 1.0
    words = ["Ångström", "q", "q", "r"]
    hypothesis = Hypothesis("\u2047 a \u2047", 0.0, 3, (UNK_ID, 5, UNK_ID))
    weights[0, 0] = 0.5  # of the words; END is none
    assert replace_unknown(hypothesis, weights, words) == "Ångström a q"
    assert replace_unknown(hypothesis, weights, []) == hypothesis.text
    odd = Hypothesis("\u2047", 0.0, 3, (UNK_ID, 5, UNK_ID))
    assert replace_unknown(odd, weights, words) == odd.text
    assert words_of(tokenizer, b"") == []
    spread = words_of(tokenizer, b"question  to")
    assert len(spread) == len(tokenizer.tokenize([b"question  to"])[0])
    assert spread[-1] == "to" and spread[0] == "question"


def test_unknown_pieces_of_a_translation_are_replaced(translator):
    every_other = tuple(i for i in range(4, SIZE))
    (plain,) = translator.translate(["be"], suppress_ids=every_other, max_length=3)
    (found,) = translator.translate(
        ["be"], suppress_ids=every_other, max_length=3, replace_unknown=True
    )
    spoken = [h.text for h in plain.hypotheses if UNK_ID in h.ids]
    assert spoken and all("\u2047" in text for text in spoken)
    for each in found.hypotheses:
        assert "\u2047" not in each.text and each.attention_weights is None
        assert each.text == "be" * each.ids.count(UNK_ID)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_p": 1.5}, "`top_p` is a probability, at most 1. Received: top_p=1.5"),
        ({"temperature": 0}, "`temperature` must be a finite number above 0"),
        ({"suppress_ids": (-1,)}, "`suppress_ids` must be"),
        ({"sampling": True, "coverage_penalty": 1.0}, "ranks what a beam search finds"),
        (
            {"sampling": True, "jit_compile_search": True},
            "XLA compiles the beam search",
        ),
        ({"num_hypotheses": 5}, "at most `beam_size`"),
        ({"sampling": 1}, "`sampling` must be"),
    ],
)
def test_values_that_cannot_work_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DecodingConfig(**options)
