"""The graph of the export: its signature, and what TensorFlow gets to see of it."""

import pytest
import tensorflow as tf

from keras_attention.export.translation_module import TranslationModule


@pytest.fixture(scope="module")
def module(translator):
    return TranslationModule(translator)


def call(module, texts):
    outputs = module.signatures["serving_default"](text=tf.constant(texts, tf.string))
    return {name: value.numpy() for name, value in outputs.items()}


def test_signature(module):
    function = module.signatures["serving_default"]
    text = tf.TensorSpec([None], tf.string, name="text")
    assert function.structured_input_signature == ((text,), {})
    specs = {
        name: (spec.shape.as_list(), spec.dtype)
        for name, spec in function.structured_outputs.items()
    }
    assert specs == {
        "translation": ([None], tf.string),
        "score": ([None], tf.float32),
        "truncated": ([None], tf.bool),
    }


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
