"""Symbols stay whole on the target side and never come out of text."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data.encoding import encode_pairs
from keras_attention.data.symbols import check_symbols
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.data.tree_corpora import TreeCorpus
from keras_attention.data.trees import parse_trees

SYMBOLS = ("(NP", "(S", ")NP", ")S", ",", "NN", "()")
TEXT = ["the dog , the cat ( NN ) (NP sleeps )NP"] * 3


@pytest.fixture(scope="module", params=["bpe", "unigram", "wordpiece"])
def tokenizer(request):
    size = {"bpe": 40, "unigram": 30, "wordpiece": 54}[request.param]
    return SubwordTokenizer.learn_from_lines(TEXT, size, request.param, symbols=SYMBOLS)


def test_text_never_becomes_a_symbol(tokenizer):
    first = tokenizer.vocabulary_size - len(SYMBOLS)
    for text in (" ".join(SYMBOLS), "(NP\u2581 ()\u2581", *TEXT):
        ids = tokenizer.tokenize([text]).flat_values.numpy()
        assert len(ids) and ids.max() < first


def test_symbols_are_whole_and_come_back(tokenizer):
    text = "(S (NP NN , () )NP )S"
    ids = tokenizer.tokenize_targets([text, "", " NN  NN "])
    assert ids.row_lengths().numpy().tolist() == [7, 0, 2]
    assert ids.flat_values.numpy().min() >= tokenizer.vocabulary_size - len(SYMBOLS)
    found = tokenizer.detokenize(ids).numpy()
    assert [x.decode() for x in found] == [text, "", "NN NN"]


def test_what_is_no_symbol_is_unknown(tokenizer):
    ids = tokenizer.tokenize_targets(["(S the [START] )S"]).to_list()[0]
    assert ids[1:3] == [1, 1]
    said = tokenizer.detokenize([ids]).numpy()[0].decode()
    assert said == "(S \u2047 \u2047 )S"


def test_pieces_differ_and_sources_can_be_spelled(tokenizer):
    assert len(set(tokenizer.pieces)) == tokenizer.vocabulary_size
    assert tokenizer.pieces[-len(SYMBOLS) :] == [f"{x}\u2581" for x in SYMBOLS]
    ids = tokenizer.tokenize(["the cat"])
    assert tokenizer.detokenize(ids).numpy()[0] == b"the cat"
    spelled = tokenizer.id_to_piece([[0, tokenizer.vocabulary_size - 1]]).numpy()
    assert spelled.tolist() == [[b"[PAD]", "()\u2581".encode()]]


def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    loaded = SubwordTokenizer.load(tmp_path)
    assert loaded.symbols == SYMBOLS
    assert loaded.sha256 == tokenizer.sha256
    assert loaded.pieces == tokenizer.pieces
    keras.utils.set_random_seed(1)  # clears the kernels that hold resources
    assert loaded.tokenize_targets(["(S"]).to_list() == [[loaded.pieces.index("(S▁")]]


def test_other_symbols_are_another_tokenizer(tmp_path):
    first = SubwordTokenizer.learn_from_lines(TEXT, 40, symbols=SYMBOLS)
    other = SubwordTokenizer(first.model, symbols=SYMBOLS[::-1])
    plain = SubwordTokenizer(first.model)
    assert len({first.sha256, other.sha256, plain.sha256}) == 3
    first.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "symbols": [1]}))
    with pytest.raises(ValueError, match="must name a kind"):
        SubwordTokenizer.load(tmp_path)


def test_both_directions_run_in_a_graph(tokenizer):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def there_and_back(texts):
        return tokenizer.detokenize(tokenizer.tokenize_targets(texts).to_tensor(0))

    assert there_and_back(tf.constant(["(S )S", "NN"])).numpy().tolist() == [
        b"(S )S",
        b"NN",
    ]


@pytest.mark.parametrize(
    "symbols", [("a", "a"), ("",), ("a b",), ("a\u2581",), ("a\u00a0b",), ("a\x07",)]
)
def test_symbols_that_cannot_be_told_apart(symbols):
    with pytest.raises(ValueError, match="Symbols must differ, and hold neither"):
        check_symbols(symbols)


def test_a_size_that_the_text_cannot_give():
    with pytest.raises(ValueError, match="at most .* 7 symbols besides"):
        SubwordTokenizer.learn_from_lines(TEXT, 4_000, symbols=SYMBOLS)
    with pytest.raises(ValueError, match="an integer of at least 12"):
        SubwordTokenizer.learn_from_lines(TEXT, 11, symbols=SYMBOLS)


def test_a_corpus_of_trees_is_encoded_side_by_side():
    corpus = TreeCorpus.from_trees(parse_trees(["(S (NP (NN dogs)) (VP bark))"] * 2))
    tokenizer = SubwordTokenizer.learn_from_lines(
        corpus.lines(), 26, symbols=corpus.symbols
    )
    encoded = encode_pairs(corpus, tokenizer, 20, 20)
    first = tokenizer.vocabulary_size - len(corpus.symbols)
    assert np.all(encoded.source_tokens < first)
    assert np.all(encoded.target_tokens >= first)
    assert len(encoded.target_tokens) == 2 * 8
