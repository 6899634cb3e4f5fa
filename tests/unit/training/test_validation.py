import types

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig
from keras_attention.data.batching import TokenBatches
from keras_attention.data.corpora import ParallelCorpus
from keras_attention.data.encoding import encode_pairs
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.training.prepare import choose_config, compiled_model
from keras_attention.training.steps import Steps
from keras_attention.training.validation import Validator, metric_values

LINES = ["ab cd", "ef", "gh ab cd ef", "cd", "ab ab gh"]


@pytest.fixture(scope="module")
def parts():
    corpus = ParallelCorpus.from_pairs(LINES, LINES)
    tokenizer = SubwordTokenizer.learn_from_lines(corpus.lines(), 18)
    small = {"num_layers": 1, "model_dim": 8, "num_heads": 2, "feed_forward_dim": 8}
    config = choose_config(
        None, "tiny", {"transformer": small, "training": {}, "decoding": {}}, 18
    )
    model = compiled_model(config, tf.distribute.get_strategy())
    steps = Steps(model, tf.distribute.get_strategy())
    encoded = encode_pairs(corpus, tokenizer, 99, 99)
    return types.SimpleNamespace(
        corpus=corpus, tokenizer=tokenizer, model=model, steps=steps, encoded=encoded
    )


@pytest.fixture(scope="module")
def three(parts):
    """A validator that translates three sentences."""
    return validator(parts)


def validator(parts, batch_tokens=8, sentences=3):
    decoding = DecodingConfig(beam_size=4, num_hypotheses=2, max_extra_length=1)
    return Validator(
        parts.model,
        parts.steps,
        TokenBatches(parts.encoded, batch_tokens, rows_multiple=1),
        parts.corpus,
        parts.tokenizer,
        decoding,
        sentences,
    )


def test_losses_are_exact_over_tokens_whatever_the_batches(parts, three):
    one = three.losses()
    other = validator(parts, batch_tokens=1_000).losses()
    assert one.keys() == {"loss", "nll", "perplexity", "token_accuracy"}
    for name, value in one.items():
        assert value == pytest.approx(other[name], rel=1e-5)
    assert one["perplexity"] == pytest.approx(np.exp(one["nll"]), rel=1e-5)


def test_a_validation_leaves_no_trace(parts, three):
    parts.model.reset_metrics()
    ids = tf.constant([[4, 5, 3]])
    parts.steps.test({"source_ids": ids, "target_ids": ids}, ids)
    before = metric_values(parts.model)
    weights = parts.model.get_weights()
    seeds = [v.numpy() for v in parts.model.non_trainable_variables]
    three.losses()
    three.bleu()
    assert metric_values(parts.model) == before
    for one, new in zip(weights, parts.model.get_weights(), strict=True):
        assert np.array_equal(one, new)
    after = [v.numpy() for v in parts.model.non_trainable_variables]
    assert all(np.array_equal(a, b) for a, b in zip(seeds, after, strict=True))


def test_bleu_is_that_of_the_first_sentences(three):
    values, samples = three.bleu()
    assert values["bleu_sentences"] == 3 and 0 <= values["bleu"] <= 100
    assert "tok:13a" in values["bleu_signature"]
    assert 0 <= values["chrf"] <= 100
    # Ten, or all there are, from everywhere in the set: not of the scored ones alone.
    assert [sample[:2] for sample in samples] == [(line, line) for line in LINES]


def test_samples_are_spread_evenly(monkeypatch, parts):
    monkeypatch.setattr("keras_attention.training.validation.SAMPLES", 3)
    three = validator(parts, sentences=1)
    _, first = three.bleu()
    assert [sample[0] for sample in first] == [LINES[0], LINES[2], LINES[4]]
    assert three.bleu()[1] == first


def test_scores_are_those_of_the_first_sentences_alone(monkeypatch, parts):
    one = validator(parts, sentences=2)
    monkeypatch.setattr("keras_attention.training.validation.SAMPLES", 2)
    other = validator(parts, sentences=2)
    assert one.bleu()[0] == other.bleu()[0]


def test_no_sentences_are_no_bleu(parts):
    assert validator(parts, sentences=0).bleu() == ({}, [])


class Stop(Exception):
    """What ends a validation before it is through."""


@pytest.mark.parametrize("part", ["losses", "bleu"])
def test_a_validation_can_be_ended_before_any_batch_and_leaves_no_trace(parts, part):
    one = validator(parts, batch_tokens=8)
    batches = []
    getattr(one, part)(lambda: batches.append(1))
    assert batches
    parts.model.reset_metrics()
    ids = tf.constant([[4, 5, 3]])
    parts.steps.test({"source_ids": ids, "target_ids": ids}, ids)
    before = metric_values(parts.model)
    left = [len(batches) - 1]

    def count_down():
        if left[0] == 0:
            raise Stop
        left[0] -= 1

    with pytest.raises(Stop):
        getattr(one, part)(count_down)
    assert metric_values(parts.model) == before
