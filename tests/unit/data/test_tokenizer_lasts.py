"""A tokenizer outlives what TensorFlow clears when a seed is set."""

import keras
import pytest
import tensorflow as tf

from keras_attention.data.tokenizer import SubwordTokenizer

LINES = ["to be or not to be", "that is the question"] * 4


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece"])
def test_works_after_a_seed_is_set(kind):
    size = {"bpe": 24, "unigram": 20, "wordpiece": 38}[kind]
    tokenizer = SubwordTokenizer.learn_from_lines(LINES, size, kind)
    traced = tf.function(lambda text: tokenizer.tokenize(text).to_tensor())
    text = tf.constant(["to be", "question"])
    before, before_traced = tokenizer.tokenize(text).to_list(), traced(text).numpy()
    keras.utils.set_random_seed(3)
    assert tokenizer.tokenize(text).to_list() == before
    assert (traced(text).numpy() == before_traced).all()
    assert tokenizer.detokenize(before).numpy().tolist() == [b"to be", b"question"]


def test_a_second_tokenizer_of_the_same_model_leaves_the_first_alone():
    first = SubwordTokenizer.learn_from_lines(LINES, 24)
    other = SubwordTokenizer.learn_from_lines(LINES, 22)
    expected = first.tokenize(["to be"]).to_list(), other.tokenize(["to be"]).to_list()
    second = SubwordTokenizer(first.model)
    assert second.tokenize(["to be"]).to_list() == expected[0]
    del second
    keras.utils.set_random_seed(3)
    assert first.tokenize(["to be"]).to_list() == expected[0]
    assert other.tokenize(["to be"]).to_list() == expected[1]
