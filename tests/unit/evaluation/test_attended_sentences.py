import importlib

import numpy as np
import pytest

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data import SubwordTokenizer
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.attention_maps import KINDS, attention_weights
from keras_attention.models.build import build_transformer
from keras_attention.vocabulary import END_ID, START_ID

# The room gives the function of that name.
module = importlib.import_module("keras_attention.evaluation.attended_sentences")
SOURCES = ["a dog", "", "a small dog runs to a dog", b"\xff a"]
TARGETS = ["ein Hund", "ein", "", "ein kleiner Hund"]


@pytest.fixture(scope="module")
def tokenizer():
    return SubwordTokenizer.learn_from_lines(
        ["a small dog runs to me", "ein kleiner Hund", "it runs"], 40
    )


@pytest.fixture(scope="module")
def translator(tokenizer):
    config = TransformerConfig.from_preset(
        "tiny",
        vocabulary_size=40,
        num_layers=2,
        model_dim=16,
        num_heads=2,
        feed_forward_dim=16,
    )
    decoding = DecodingConfig(beam_size=2, max_extra_length=2)
    return Translator(build_transformer(config), tokenizer, decoding)


def ids_of(tokenizer, pieces):
    return [tokenizer.pieces.index(piece) for piece in pieces]


def check_maps(translator, found):
    """Compares with each sentence alone."""
    assert len(found) == len(SOURCES)
    for sentence in found:
        source, target = (
            ids_of(translator.tokenizer, pieces)
            for pieces in (sentence.source_pieces, sentence.target_pieces)
        )
        assert (source[-1], target[0]) == (END_ID, START_ID)
        expected = attention_weights(translator.model, source, target)
        for kind in KINDS:
            assert sentence.maps[kind].shape == expected[kind].shape
            np.testing.assert_allclose(sentence.maps[kind], expected[kind], atol=1e-5)
            queries, keys = sentence.pieces(kind)
            assert expected[kind].shape[2:] == (len(queries), len(keys))


def test_maps_are_those_of_each_sentence_alone(translator, monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 3)  # a window ends between the sentences
    check_maps(translator, [*module.attended_sentences(translator, SOURCES, TARGETS)])


def test_the_translation_is_that_of_the_translator(translator):
    found = list(module.attended_sentences(translator, SOURCES))
    check_maps(translator, found)
    for sentence, expected in zip(found, translator.translate(SOURCES), strict=True):
        assert sentence.target == expected.text
        assert not sentence.forced
        ids = ids_of(translator.tokenizer, sentence.written_pieces)
        assert tuple(ids) == (expected.hypotheses[0].ids or (END_ID,))
        read = ids_of(translator.tokenizer, sentence.target_pieces)
        assert read == [START_ID, *ids[:-1]]


def test_a_target_is_forced(translator):
    [sentence] = module.attended_sentences(translator, ["a dog"], ["ein Hund"])
    assert sentence.forced and sentence.target == "ein Hund"
    assert sentence.target_pieces[1:] == sentence.written_pieces[:-1]
    assert sentence.written_pieces[-1] == "[END]"
    assert sentence.pieces("decoder_self") == (sentence.target_pieces,) * 2
    assert sentence.pieces("encoder_decoder")[0] == sentence.written_pieces
    text = "".join(sentence.written_pieces[:-1]).replace("\u2581", " ").strip()
    assert text == "ein Hund"


def test_a_source_that_is_too_long_is_cut_and_told(translator):
    config = DecodingConfig(max_source_length=3)
    short = Translator(translator.model, translator.tokenizer, config)
    cut, whole = module.attended_sentences(short, ["a dog runs", "a"], ["", ""])
    assert (cut.truncated, len(cut.source_pieces)) == (True, 4)
    assert not whole.truncated


def test_lines_are_read_side_by_side(translator):
    sides = ("a", [b"a dog\r\n", b"runs"]), ("b", [b"ein\n", b"Hund\n"])
    found = list(module.attended_lines(translator, *sides))
    assert [(x.source, x.target) for x in found] == [("a dog", "ein"), ("runs", "Hund")]
    with pytest.raises(ValueError, match="Received: a with 2 and b with 1 lines"):
        list(module.attended_lines(translator, sides[0], ("b", [b"ein"])))


def test_texts_that_are_none(translator):
    with pytest.raises(ValueError, match="`sources` must be a list of texts"):
        list(module.attended_sentences(translator, "a dog"))
    with pytest.raises(ValueError, match="`targets` must hold one text for each"):
        list(module.attended_sentences(translator, ["a", "dog"], ["ein"]))


def test_a_target_longer_than_a_table_of_positions(translator, monkeypatch):
    table = property(lambda model: 4)
    monkeypatch.setattr(type(translator.model), "max_decoding_length", table)
    monkeypatch.setattr(module, "WINDOW", 1)  # texts are counted across windows
    texts = ["a", "a"], ["", "ein kleiner Hund"]
    with pytest.raises(ValueError, match=r"at most 3 pieces.*targets\[1\]"):
        list(module.attended_sentences(translator, *texts))
