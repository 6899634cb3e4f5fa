"""Logits equal those of another toolkit, whose numbers are recorded."""

import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention.convert.marian_weights import NEVER, build_marian
from tests.unit.convert.marian_models import RECORD, SOURCE_IDS, TARGET_IDS

ROWS = [12, 1, 12, 0, *range(2, 12)]
CONFIG = ka.TransformerConfig(
    14,
    num_layers=2,
    model_dim=12,
    num_heads=3,
    feed_forward_dim=20,
    activation="silu",
    layer_norm_epsilon=1e-5,
    use_bias=True,
)
SHARED, OUTPUT = "model.shared.weight", "lm_head.weight"
POSITIONS = "model.encoder.embed_positions.weight"
ENCODER_EMBEDDINGS = "model.encoder.embed_tokens.weight"


@pytest.fixture(scope="module")
def record():
    with np.load(RECORD) as arrays:
        return dict(arrays)


@pytest.fixture
def tensors(record):
    return {name: array.copy() for name, array in record.items() if name != "logits"}


def ours(ids, start):
    """Their ids, -1 = padding, as ours; the first of a target is START."""
    ids = np.vectorize(lambda i: 0 if i == -1 else ROWS.index(i))(ids)
    if start:
        ids[:, 0] = ka.START_ID
    return ids


def logits(model):
    inputs = (SOURCE_IDS, False), (TARGET_IDS, True)
    source, target = (ours(ids, start) for ids, start in inputs)
    found = model({"source_ids": source, "target_ids": target})
    return keras.ops.convert_to_numpy(found)


def build(tensors, tied=True, scaled=True):
    return build_marian(CONFIG, tensors, ROWS, tied=tied, scaled=scaled)


@pytest.fixture(scope="module")
def model(record):
    return build({n: array for n, array in record.items() if n != "logits"})


def test_logits_are_those_of_hugging_face(model, record):
    found = logits(model)
    expected = record["logits"][..., ROWS[1:]]
    np.testing.assert_allclose(found[..., 1:], expected, atol=1e-4)
    assert found[..., 0].max() < NEVER / 2  # PAD has no part in any probability
    config = model.transformer_config
    assert config.share_embeddings and config.output_bias
    assert config.position_layout == "interleaved"


def test_channels_and_rows_are_put_into_our_order(model, record):
    order = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]  # a sine, its cosine, the next
    found = keras.ops.convert_to_numpy(model.get_layer("token_embedding").embeddings)
    np.testing.assert_array_equal(found, record[SHARED][ROWS][:, order])


@pytest.mark.parametrize(
    "more",
    [{"tied": False}, {"scaled": False, "tied": False}],
    ids=str,
)
def test_untied_and_unscaled_embeddings_become_matrices_of_their_own(
    tensors, record, more
):
    changed = {**tensors, OUTPUT: tensors[SHARED]}
    if not more.get("scaled", True):  # the same model, spelled the other way
        changed[SHARED] = tensors[SHARED] * 12**0.5
    model = build(changed, **more)
    expected = record["logits"][..., ROWS[1:]]
    np.testing.assert_allclose(logits(model)[..., 1:], expected, atol=1e-4)
    assert not model.transformer_config.share_embeddings


def test_tied_and_unscaled(tensors):
    model = build(dict(tensors), scaled=False)
    read, written = (
        keras.ops.convert_to_numpy(model.get_layer(name).embeddings)
        for name in ("source_embedding", "output_embedding")
    )
    np.testing.assert_allclose(read * 12**0.5, written, rtol=1e-6)


def table(layout):
    found = keras.ops.convert_to_numpy(ka.ops.sinusoids(40, 12, layout=layout))
    if layout == "interleaved":  # as Hugging Face writes it
        found = np.concatenate([found[:, 0::2], found[:, 1::2]], axis=1)
    return found


def test_copies_of_tied_weights_are_not_read(tensors, record):
    names = (ENCODER_EMBEDDINGS, "model.decoder.embed_tokens.weight", OUTPUT)
    copies = {name: np.full_like(tensors[SHARED], np.nan) for name in names}
    model = build({**tensors, **copies, POSITIONS: table("interleaved")})
    expected = record["logits"][..., ROWS[1:]]
    np.testing.assert_allclose(logits(model)[..., 1:], expected, atol=1e-4)


def test_untied_sides_keep_their_own_embeddings(tensors, record):
    changed = {**tensors, OUTPUT: tensors[SHARED]}
    changed[ENCODER_EMBEDDINGS] = 2 * tensors[SHARED]
    model = build(changed, tied=False)
    source, target = (
        keras.ops.convert_to_numpy(model.get_layer(f"{name}_embedding").embeddings)
        for name in ("source", "target")
    )
    np.testing.assert_array_equal(source, 2 * target)


def test_a_table_in_the_file_says_which_sinusoids(tensors, record):
    model = build({**tensors, POSITIONS: table("concatenated")})
    assert model.transformer_config.position_layout == "concatenated"
    found = keras.ops.convert_to_numpy(model.get_layer("token_embedding").embeddings)
    np.testing.assert_array_equal(found, record[SHARED][ROWS])  # no other order
    difference = np.abs(logits(model)[..., 1:] - record["logits"][..., ROWS[1:]])
    assert difference.max() > 1e-3  # another model than the recorded one


def test_other_tables_are_refused(tensors):
    wrong = table("interleaved")
    for array in (wrong + 0.1, wrong[:, :6], wrong[0]):
        with pytest.raises(ValueError, match="must hold sinusoids.*Received: "):
            build({**tensors, POSITIONS: array})


def test_weights_that_do_not_fit_are_refused(tensors):
    with pytest.raises(ValueError, match="lm_head.weight.*Received: none"):
        build(dict(tensors), tied=False)
    deeper = "model.encoder.layers.2.fc1.bias"
    with pytest.raises(ValueError, match=f"Received: {deeper}, which Marian models"):
        build({**tensors, deeper: np.ones(20)})
