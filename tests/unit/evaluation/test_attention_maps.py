import io

import numpy as np
import pytest

import keras_attention as ka
from keras_attention.evaluation.attention_maps import (
    KINDS,
    attention_weights,
    draw_heads,
)
from keras_attention.models.transformer import Transformer
from keras_attention.vocabulary import PAD_ID, START_ID

SOURCE, TARGET = [5, 6, 7, 3], [START_ID, 8, 9]


def small(**fields):
    return Transformer(
        vocabulary_size=12, num_layers=2, model_dim=8, num_heads=2, **fields
    )


@pytest.fixture(scope="module")
def model():
    return small(dropout_rate=0.9)


@pytest.fixture(scope="module")
def maps(model):
    return attention_weights(model, SOURCE, TARGET)


def test_names_of_the_package():
    assert ka.evaluation.attention_maps.attention_weights is attention_weights
    for name in ("attended_sentences", "attention_page", "draw_lines", "head_report"):
        assert callable(getattr(ka.evaluation, name))


def test_every_kind_block_and_head_is_there(maps):
    shapes = {kind: value.shape for kind, value in maps.items()}
    assert tuple(shapes) == KINDS
    assert shapes == {
        "encoder_self": (2, 2, 4, 4),
        "decoder_self": (2, 2, 3, 3),
        "encoder_decoder": (2, 2, 3, 4),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_shares(maps, kind):
    assert maps[kind].dtype == np.float32
    assert np.all(maps[kind] >= 0)
    np.testing.assert_allclose(maps[kind].sum(-1), 1.0, atol=1e-6)


def test_the_decoder_does_not_look_ahead(maps):
    assert np.all(np.triu(maps["decoder_self"], 1) == 0)
    assert np.all(maps["decoder_self"][:, :, 0, 0] == 1)


def test_dropout_is_off(model, maps):
    again = attention_weights(model, SOURCE, TARGET)
    for kind in KINDS:
        assert np.array_equal(maps[kind], again[kind])


@pytest.mark.parametrize(
    "norm_position, share_embeddings", [("post", True), ("pre", False)]
)
def test_they_are_those_of_the_forward_pass(norm_position, share_embeddings):
    # The last position's own weights, recomputed by hand from the first block: only
    # the embedding and the two projections take part.
    model = small(norm_position=norm_position, share_embeddings=share_embeddings)
    parts = model._parts
    ids = np.array([SOURCE])
    x = parts.source_positions(parts.source_embedding(ids))
    block = parts.encoder_blocks[0]
    if norm_position == "pre":
        x = block.self_attention_norm.prepare(x)
    query = np.asarray(block.self_attention.project_query(x))[0]
    key = np.asarray(block.self_attention.project_memory(x)[0])[0]
    scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]))
    expected = scores / scores.sum(-1, keepdims=True)
    found = attention_weights(model, SOURCE, TARGET)["encoder_self"][0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_memory_is_that_of_encode():
    # Weights over the memory use the memory that `encode` gives, final norm included.
    model = small(norm_position="pre")
    block = model._parts.decoder_blocks[0]
    seen = {}
    call = block.call

    def spy(inputs, memory, **options):
        seen["memory"] = np.asarray(memory)
        return call(inputs, memory, **options)

    block.call = spy
    attention_weights(model, SOURCE, TARGET)
    expected = np.asarray(model.encode(np.array([SOURCE])))
    np.testing.assert_allclose(seen["memory"], expected, atol=1e-6)


def test_padding_of_a_batch_gets_nothing(model, maps):
    source = np.array([[*SOURCE, PAD_ID], [5, 6, 7, 8, 3]])
    target = np.array([[*TARGET, PAD_ID], [START_ID, 8, 9, 10]])
    batch = model.attention_weights(source, target)
    found = np.asarray(batch["encoder_decoder"][1])[0]
    assert np.all(found[:, :3, 4] == 0)
    np.testing.assert_allclose(found[:, :3, :4], maps["encoder_decoder"][1], atol=1e-5)


@pytest.mark.parametrize("ids", [[], [[4, 3]], [4.0, 3.0]])
def test_ids_of_something_else(model, ids):
    with pytest.raises(ValueError, match="`source_ids` must be the ids of one.*shape"):
        attention_weights(model, ids, TARGET)


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture)).convert("L"), "int32")


def test_a_picture_shows_the_weights():
    dark = pixels(draw_heads(np.ones((1, 2, 2)), "ab", "cd", "x"))
    light = pixels(draw_heads(np.zeros((1, 2, 2)), "ab", "cd", "x"))
    assert dark.shape == light.shape
    assert (dark < 100).mean() - (light < 100).mean() > 0.1


def test_a_picture_grows_with_heads_and_pieces():
    def shape(heads, queries, keys):
        weights = np.zeros((heads, queries, keys))
        return pixels(draw_heads(weights, "q" * queries, "k" * keys, "x")).shape

    assert shape(8, 4, 4)[0] > shape(4, 4, 4)[0]  # a third row
    assert shape(4, 4, 20)[1] > shape(4, 4, 4)[1]
    assert shape(1, 120, 4)[0] <= 1600  # and stays a picture


def test_labels_are_drawn_as_they_are():
    weights = np.ones((1, 2, 1))
    one = draw_heads(weights, [r"$\frac{$", "狗"], ["$"], r"$\frac{$")
    other = draw_heads(weights, ["x", "狗"], ["$"], r"$\frac{$")
    assert not np.array_equal(pixels(one), pixels(other))


def test_signs_without_a_font_need_no_box():
    # Warnings are errors: a box would be one.
    spelled = draw_heads(np.ones((1, 1, 1)), ["\U0003fffd"], ["a"], "x")
    assert spelled == draw_heads(np.ones((1, 1, 1)), ["<U+3FFFD>"], ["a"], "x")


def test_labels_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(heads, queries, keys\).*1 queries"):
        draw_heads(np.ones((1, 2, 2)), ["a"], ["b", "c"], "x")
