"""The search over the Transformer: cached = uncached, together = alone, = scored."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import length_penalty
from keras_attention.decoding.forced import token_log_probs
from keras_attention.decoding.searches import Searches
from keras_attention.decoding.translator import Translator
from keras_attention.models import build_transformer
from keras_attention.vocabulary import END_ID

VOCABULARY, BEAMS = 12, 4
VARIANTS = {
    "post": {},
    "pre": {"norm_position": "pre", "positions": "learned", "max_length": 14},
    "window": {"attention_window": 2},  # positions of the caches are used again
}
SOURCES = np.array([[5, 6, 7, 8, 9, 3], [10, 11, 3, 0, 0, 0], [4, 5, 6, 7, 3, 0]])


def randomise(model, seed):
    """Weights large enough that hypotheses differ and END comes now and then."""
    rng = np.random.default_rng(seed)
    for weight in model.trainable_variables:
        if len(weight.shape) > 1:
            size = np.prod(weight.shape[:-1]) ** -0.5
            weight.assign(rng.normal(0, 2.0 * size, weight.shape))


def small_model(seed, **options):
    sizes = {"num_layers": 2, "model_dim": 16, "num_heads": 2, "feed_forward_dim": 32}
    config = TransformerConfig(vocabulary_size=VOCABULARY, **sizes, **options)
    model = build_transformer(config)
    randomise(model, seed)
    return model


@pytest.fixture(scope="module", params=VARIANTS)
def model(request):
    return small_model(seed=0, **VARIANTS[request.param])


def test_cached_logits_are_those_of_the_whole_target(model):
    target_ids = np.array([[2, 5, 6, 7, 1], [2, 9, 9, 9, 4], [2, 11, 4, 5, 10]])
    expected = model({"source_ids": SOURCES, "target_ids": target_ids}, training=False)
    context, state = model.decoding_context(SOURCES), model.initial_state(3)
    for step, ids in enumerate(target_ids.T):
        logits, state, context = model.decode_step(
            tf.constant(ids), tf.constant(step), state, context
        )
        np.testing.assert_allclose(logits, expected[:, step], atol=1e-5)


def cached_search(model):
    def search(source_ids):
        rows = tf.shape(source_ids)[0]
        return beam_search(
            model.decode_step,
            model.initial_state(rows * BEAMS),
            batch_size=rows,
            vocabulary_size=VOCABULARY,
            max_lengths=tf.fill([rows], 12),
            beam_size=BEAMS,
            num_hypotheses=BEAMS,
            context=model.decoding_context(source_ids, BEAMS),
        )

    spec = [tf.TensorSpec([None, None], tf.int32)]
    return tf.function(search, input_signature=spec, autograph=False)


def uncached_search(model):
    """Feeds the whole prefix to the whole model at each step."""

    def step_fn(ids, step, prefix, source_ids):
        prefix = tf.concat([prefix, ids[:, None]], axis=1)
        sources = tf.repeat(source_ids, BEAMS, axis=0)
        inputs = {"source_ids": sources, "target_ids": prefix}
        return model(inputs, training=False)[:, -1], prefix

    def search(source_ids):
        rows = tf.shape(source_ids)[0]
        return beam_search(
            step_fn,
            tf.zeros((rows * BEAMS, 0), tf.int32),
            batch_size=rows,
            vocabulary_size=VOCABULARY,
            max_lengths=tf.fill([rows], 12),
            beam_size=BEAMS,
            num_hypotheses=BEAMS,
            context=source_ids,
        )

    spec = [tf.TensorSpec([None, None], tf.int32)]
    return tf.function(search, input_signature=spec, autograph=False)


def test_the_search_over_a_model(model):
    """Cached = uncached; alone = together = reversed; scores are the scorer's."""
    cached, uncached = cached_search(model), uncached_search(model)
    sources = tf.constant(SOURCES, tf.int32)
    lengths = set()
    for seed in range(20):
        randomise(model, seed)
        found = cached(sources)
        for one, other in zip(found, uncached(sources), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)
        lengths.update(found.lengths.numpy().ravel().tolist())
        if seed % 4:
            continue
        check_scores(model, sources, found)
        reverse = cached(sources[::-1])
        for row in range(3):
            alone = cached(sources[row : row + 1, : [6, 3, 5][row]])
            check_same_row(found, row, alone, 0)
            check_same_row(found, row, reverse, 2 - row)
    assert len(lengths) > 4, "the sentences of a batch must end at different steps"


def check_same_row(found, row, other, place):
    longest = min(found.ids.shape[2], other.ids.shape[2])
    np.testing.assert_array_equal(found.lengths[row], other.lengths[place])
    np.testing.assert_array_equal(
        found.ids[row, :, :longest], other.ids[place, :, :longest]
    )
    np.testing.assert_allclose(found.scores[row], other.scores[place], atol=1e-4)


def check_scores(model, sources, found):
    best, ended = found.ids[:, 0], tf.reduce_any(found.ids[:, 0] == 3, axis=1)
    log_probs = found.scores[:, 0] * length_penalty(found.lengths[:, 0], 0.6)
    expected = token_log_probs(model, sources, best).numpy().sum(axis=1)
    np.testing.assert_allclose(log_probs[ended], expected[ended], atol=1e-4)


def test_a_translator_follows_its_model_and_scores_as_it_searches():
    lines = ["the dog runs", "a cat sleeps on the mat", "one"]
    tokenizer = SubwordTokenizer.learn_from_lines(lines, 30)
    config = TransformerConfig(
        vocabulary_size=tokenizer.vocabulary_size,
        num_layers=1,
        model_dim=16,
        num_heads=2,
        feed_forward_dim=16,
    )
    model = build_transformer(config)
    decoding = DecodingConfig(beam_size=2, max_extra_length=4)
    translator = Translator(model, tokenizer, decoding)
    before = translator.translate(lines)
    randomise(model, seed=3)
    after = translator.translate(lines)
    assert [x.score for x in after] != [x.score for x in before]
    fresh = Translator(model, tokenizer, decoding).translate(lines)
    assert [x.text for x in after] == [x.text for x in fresh]
    targets = [x.text for x in after]
    together = translator.score(lines, targets)
    for line, target, score in zip(lines, targets, together, strict=True):
        assert translator.score([line], [target]) == pytest.approx([score], abs=1e-4)
        source_ids, _ = translator.encode([line])
        label_ids, _ = translator.encode([target])
        expected = token_log_probs(model, source_ids, label_ids).numpy().sum(1)
        assert score == pytest.approx(float(expected[0]), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_two_hundred_random_batches(beam_size):
    """Batched = alone = in any order = with any padding."""
    model = small_model(seed=4)
    searches = Searches(model, VOCABULARY)
    config = DecodingConfig(beam_size=beam_size, max_extra_length=5)
    decodings = [config.replace(length_penalty_alpha=alpha) for alpha in (0.0, 0.6)]
    rng = np.random.default_rng(beam_size)
    for number in range(200):
        decoding = decodings[number % 2]
        lengths = rng.integers(1, 10, rng.integers(2, 6))
        sources = np.zeros((len(lengths), lengths.max() + 1), "int32")
        for row, length in enumerate(lengths):
            sources[row, :length] = rng.integers(4, VOCABULARY, length)
            sources[row, length] = END_ID
        together = searches(tf.constant(sources), decoding)
        order = rng.permutation(len(lengths))
        padded = np.pad(sources[order], [[0, 0], [0, rng.integers(0, 6)]])
        turned = searches(tf.constant(padded), decoding)
        row = rng.integers(len(lengths))
        alone = searches(
            tf.constant(sources[row : row + 1, : lengths[row] + 1]), decoding
        )
        for other, place, original in [
            *((turned, place, row) for place, row in enumerate(order)),
            (alone, 0, row),
        ]:
            length = int(together.lengths[original, 0])
            assert int(other.lengths[place, 0]) == length
            np.testing.assert_array_equal(
                other.ids[place, 0, :length], together.ids[original, 0, :length]
            )
            assert float(other.scores[place, 0]) == pytest.approx(
                float(together.scores[original, 0]), abs=1e-4
            )


@pytest.mark.parametrize("rows", [7, 13])
def test_threads_share_a_batch_and_keep_its_order(model, monkeypatch, rows):
    config = DecodingConfig(beam_size=2, num_hypotheses=2, max_extra_length=3)
    rng, search = np.random.default_rng(rows), Searches(model, VOCABULARY)
    sources = np.zeros((rows, 8), "int32")
    for row, length in enumerate(rng.integers(1, 8, rows)):
        sources[row, :length] = rng.integers(4, VOCABULARY, length)
        sources[row, length] = END_ID
    found = {}
    for cpus in (1, 2, 3):
        monkeypatch.setattr("keras_attention.decoding.searches._cpus", lambda n=cpus: n)
        found[cpus] = search(tf.constant(sources), config)
    for cpus in (2, 3):
        np.testing.assert_array_equal(found[cpus].ids, found[1].ids)
        np.testing.assert_array_equal(found[cpus].lengths, found[1].lengths)
        np.testing.assert_allclose(found[cpus].scores, found[1].scores, atol=1e-4)
