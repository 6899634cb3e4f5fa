import types

import pytest
import tensorflow as tf

from keras_attention.config import TrainingConfig
from keras_attention.data.corpora import ParallelCorpus
from keras_attention.models.transformer import Transformer
from keras_attention.training import pictures
from keras_attention.training.pictures import LONGEST, Pictures, choose_pair


class Letters:
    """A tokenizer with a piece a letter."""

    pieces = ["[PAD]", "[UNK]", "[START]", "[END]", *"abcdefgh"]

    def tokenize(self, texts):
        return tf.ragged.constant(
            [[self.pieces.index(letter) for letter in text] for text in texts],
            dtype=tf.int32,
        )

    tokenize_targets = tokenize


def choose(*pairs, longest=50):
    corpus = ParallelCorpus.from_pairs(*zip(*pairs, strict=True))
    training = TrainingConfig(max_source_length=longest, max_target_length=longest)
    return choose_pair(corpus, Letters(), training)


def test_the_pair_nearest_to_a_dozen_pieces_is_chosen():
    short, good, long = ("ab", "cd"), ("a" * 11, "b" * 13), ("a" * 40, "b" * 40)
    assert choose(short, good, long) == good
    assert choose(long, short) == short
    assert choose(good, ("c" * 11, "d" * 13)) == good, "the first of equals"


def test_what_the_model_cannot_take_is_passed_over():
    assert choose(("a" * 12, "b" * 12), ("a", "b"), longest=5) == ("a", "b")
    assert choose(("a" * 12, "b" * 12), longest=5) is None


@pytest.fixture
def board(tmp_path):
    asked = {"pictures": [], "graphs": [], "histograms": []}
    return types.SimpleNamespace(
        asked=asked,
        directory=tmp_path,
        picture=lambda tag, step, png: asked["pictures"].append((tag, step)),
        graph=asked["graphs"].append,
        histograms=lambda step, values: asked["histograms"].append(values),
    )


def small(**fields):
    return Transformer(
        vocabulary_size=12, num_layers=2, model_dim=8, num_heads=2, **fields
    )


def test_heads_of_every_kind_and_block_are_drawn(board):
    Pictures(board, small(), Letters(), ("abc", "de")).show(7)
    assert board.asked["pictures"] == [
        (f"attention_{kind}/block_{number}", 7)
        for kind in ("encoder_self", "decoder_self", "encoder_decoder")
        for number in (1, 2)
    ]
    assert board.asked["histograms"] == []


def test_a_position_between_both_sides_is_named_by_what_it_writes(board, monkeypatch):
    drawn = {}

    def draw(weights, queries, keys, title):
        drawn[title] = [*queries], [*keys]
        return b"PNG"

    monkeypatch.setattr(pictures, "draw_heads", draw)
    Pictures(board, small(), Letters(), ("abc", "de")).show(7)
    source = [*"abc", "[END]"]
    assert drawn["encoder self attention, block 1"] == (source, source)
    read = ["[START]", *"de"]
    assert drawn["decoder self attention, block 1"] == (read, read)
    assert drawn["encoder decoder attention, block 2"] == ([*"de", "[END]"], source)


def test_a_text_that_is_too_long_for_a_picture_is_cut(board):
    model = small(positions="learned", max_length=LONGEST + 1)
    Pictures(board, model, Letters(), ("a" * 90, "b" * 90)).show(7)
    assert len(board.asked["pictures"]) == 6


def test_without_a_pair_the_embeddings_are_shown_still(board):
    model = small(share_embeddings=False)
    Pictures(board, model, Letters(), histograms=True).show(7)
    assert board.asked["pictures"] == []
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(board.directory)))
    assert set(reader.get_variable_to_shape_map()) == {
        "source_embedding",
        "target_embedding",
        "output_embedding",
    }
    (weights,) = board.asked["histograms"]
    assert len(weights) == len(model.trainable_variables)


def test_a_new_run_deletes_the_embeddings_of_another(board):
    pictures = Pictures(board, small(), Letters())
    pictures.embeddings(7)
    pictures.begin()
    assert not any(board.directory.iterdir())
    assert len(board.asked["graphs"]) == 1
