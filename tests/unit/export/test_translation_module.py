"""The graph of the export: its signature, and what TensorFlow gets to see of it."""

import pytest
import tensorflow as tf

from keras_attention.decoding.ensemble import Ensemble
from keras_attention.decoding.translator import Translator
from keras_attention.export.translation_module import TranslationModule


def call(module, texts):
    outputs = module.signatures["serving_default"](text=tf.constant(texts, tf.string))
    return {name: value.numpy() for name, value in outputs.items()}


COLUMN = {kind: ([None], kind) for kind in (tf.string, tf.int32, tf.float32, tf.bool)}
FLAG, COUNT, NUMBER = COLUMN[tf.bool], COLUMN[tf.int32], COLUMN[tf.float32]
STRING = COLUMN[tf.string]
SIGNATURES = {
    "serving_default": (
        {"text": STRING},
        {"translation": STRING, "score": NUMBER, "truncated": FLAG},
    ),
    "nbest": (
        {
            "text": STRING,
            "beam_size": COUNT,
            "length_penalty_alpha": NUMBER,
            "max_extra_length": COUNT,
            "num_hypotheses": COUNT,
        },
        {
            "translations": ([None, None], tf.string),
            "scores": ([None, None], tf.float32),
            "lengths": ([None, None], tf.int32),
            "truncated": FLAG,
            "adjusted": FLAG,
        },
    ),
    "score": (
        {"source": STRING, "target": STRING},
        {"log_probability": NUMBER, "tokens": COUNT, "truncated": FLAG},
    ),
    "explain": (
        {"text": STRING},
        {
            "translation": STRING,
            "score": NUMBER,
            "truncated": FLAG,
            "pieces": ([None, None], tf.string),
            "lengths": COUNT,
            "output_pieces": ([None, None], tf.string),
            "output_lengths": COUNT,
            "alignment": ([None, None, None], tf.float32),
            "token_log_probabilities": ([None, None], tf.float32),
        },
    ),
    "translate_ids": (
        {"ids": ([None, None], tf.int32), "lengths": COUNT},
        {
            "ids": ([None, None], tf.int32),
            "lengths": COUNT,
            "scores": NUMBER,
            "truncated": FLAG,
        },
    ),
    "encode": (
        {"text": STRING},
        {"memory": ([None, None, 8], tf.float32), "lengths": COUNT},
    ),
}


def told(specs):
    return {name: (spec.shape.as_list(), spec.dtype) for name, spec in specs.items()}


def test_signatures(module):
    assert set(module.signatures) == set(SIGNATURES)
    for name, (inputs, outputs) in SIGNATURES.items():
        function = module.signatures[name]
        positional, named = function.structured_input_signature
        assert positional == ()
        assert told(named) == inputs
        assert told(function.structured_outputs) == outputs
        assert {spec.name for spec in named.values()} == set(inputs)


def test_what_cannot_be_exported(translator):
    with pytest.raises(ValueError, match="An export searches.*sampling=True"):
        sampling = translator.decoding_config.replace(sampling=True)
        TranslationModule(Translator(translator.model, translator.tokenizer, sampling))
    with pytest.raises(ValueError, match="at least the `beam_size`.*=1, beam_size=2"):
        TranslationModule(translator, max_beam_size=1)


@pytest.mark.slow
def test_an_ensemble_has_what_it_can_answer(translator):
    ensemble = Ensemble([translator.model] * 2)
    config = translator.decoding_config
    module = TranslationModule(Translator(ensemble, translator.tokenizer, config))
    assert set(SIGNATURES) - set(module.signatures) == {"explain", "encode"}
    texts = ["to be", "that is"]
    found = call(module, texts)
    expected = translator.translate(texts)
    assert [x.decode() for x in found["translation"]] == [x.text for x in expected]


def test_tracks_the_weights_and_nothing_of_keras(module, translator):
    expected = {id(weight.value) for weight in translator.model.trainable_weights}
    assert {id(weight) for weight in module.weights} == expected
    assert len(module.weights) == len(expected)
    children = module._trackable_children()
    kinds = {type(child).__module__.partition(".")[0] for child in children.values()}
    assert "keras" not in kinds


def test_equals_the_translator(module, translator):
    texts = ["to be", "", "that is", "   ", "or not to be that is the question"]
    expected = translator.translate(texts)
    found = call(module, texts)
    assert [x.decode() for x in found["translation"]] == [x.text for x in expected]
    assert found["score"] == pytest.approx([x.score for x in expected], abs=1e-5)
    assert found["truncated"].tolist() == [x.truncated for x in expected]
    assert found["truncated"].tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("texts", [[], [""], ["   "], ["", "to be"], ["\n\t", "\0"]])
def test_empty_batches_and_texts(module, texts):
    found = call(module, texts)
    assert {value.shape for value in found.values()} == {(len(texts),)}
    assert found["translation"].dtype == object
    for row, text in enumerate(texts):
        if not text.strip(" \0\n\t"):
            assert found["translation"][row] == b""
            assert found["score"][row] == 0
        else:
            assert found["translation"][row] == call(module, [text])["translation"][0]


def test_any_bytes_give_valid_text_and_leave_the_neighbours_alone(module):
    odd = [b"\xff\xfe", b"\x00", b"[END] [PAD]", b"\xed\xa0\x80", "\U0001f642".encode()]
    alone = call(module, [b"to be"])
    found = call(module, [*odd, b"to be"])
    assert found["translation"][-1] == alone["translation"][0]
    assert found["score"][-1] == pytest.approx(alone["score"][0], abs=1e-5)
    assert tf.math.reduce_all(tf.math.is_finite(found["score"]))
    for text in found["translation"]:
        text.decode("utf-8")


def test_long_text_is_cut_and_flagged(module):
    long, short = " ".join(["to be"] * 1_000), "to be"
    found = call(module, [long, short])
    assert found["truncated"].tolist() == [True, False]
    assert found["translation"][1] == call(module, [short])["translation"][0]
