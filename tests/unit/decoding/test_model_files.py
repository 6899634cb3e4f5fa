"""A `.keras` file is looked at as a whole before Keras makes anything of it."""

import io
import json
import zipfile

import keras
import numpy as np
import pytest

from keras_attention.config import TransformerConfig
from keras_attention.decoding.loading import load_transformer
from keras_attention.decoding.model_files import least_weights
from keras_attention.models.build import build_transformer


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.keras"
    config = TransformerConfig(9, num_layers=1, model_dim=4, num_heads=2)
    build_transformer(config).save(path)
    return path.read_bytes()


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, values):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in values.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def with_config(saved, tmp_path):
    """Packs the model with fields of its configuration replaced, its sums made anew."""

    def pack(**fields):
        found = members(saved)
        record = json.loads(found["config.json"])
        record["config"].update(fields)
        found["config.json"] = json.dumps(record)
        return packed(tmp_path / "model.keras", found)

    return pack


def test_a_flipped_bit_of_a_weight_is_found(saved, tmp_path):
    weights = members(saved)["model.weights.h5"]
    changed = bytearray(saved)
    changed[saved.index(weights) + len(weights) // 2] ^= 64
    path = tmp_path / "model.keras"
    path.write_bytes(saved)
    assert load_transformer(path).transformer_config.vocabulary_size == 9
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="model.weights.h5 has another checksum"):
        load_transformer(path)


@pytest.mark.parametrize(
    "fields",
    [
        {"vocabulary_size": 10**12},
        {"num_layers": 10**9},
        {"num_heads": 2**40, "key_dim": 1, "value_dim": 1},
        {"positions": "learned", "max_length": 10**15},
    ],
)
def test_a_size_that_the_file_cannot_fill_is_refused_before_it_is_made(
    with_config, fields, monkeypatch
):
    monkeypatch.setattr(keras.models, "load_model", None)  # nothing is built
    with pytest.raises(ValueError, match="bytes of weights for a model that has at le"):
        load_transformer(with_config(**fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({"num_heads": "2"}, "num_heads. must be"), ({"colour": 1}, "no field named col")],
)
def test_a_configuration_of_no_model_is_refused(with_config, fields, expected):
    with pytest.raises(ValueError, match=expected):
        load_transformer(with_config(**fields))


def test_only_the_members_that_keras_writes_are_allowed(saved, tmp_path):
    found = members(saved)
    more = {**found, "assets/../../evil": b"x"}
    with pytest.raises(ValueError, match="expected config.json, .*received assets/"):
        load_transformer(packed(tmp_path / "more", more))
    del found["metadata.json"]
    with pytest.raises(ValueError, match="received config.json, model.weights.h5"):
        load_transformer(packed(tmp_path / "less", found))
    found = {**members(saved), "config.json": b" " * (1 << 21)}
    with pytest.raises(ValueError, match="config.json of more than 1048576 bytes"):
        load_transformer(packed(tmp_path / "large", found))
    found["config.json"] = b'{"registered_name": "keras_attention>Transformer"}'
    with pytest.raises(ValueError, match="without the configuration of a model"):
        load_transformer(packed(tmp_path / "bare", found))


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    config = TransformerConfig(9, num_layers=1, model_dim=4, num_heads=2)
    model = build_transformer(config)
    model.weights[0].assign(np.full(model.weights[0].shape, np.nan))
    model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="embeddings is not finite everywhere"):
        load_transformer(tmp_path / "model.keras")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"share_embeddings": False, "num_layers": 2, "key_dim": 3, "value_dim": 5},
        {"positions": "learned", "max_length": 7},
    ],
)
def test_least_weights_are_no_more_than_there_are(fields):
    config = TransformerConfig(9, model_dim=4, num_heads=2, **fields)
    count = build_transformer(config).count_params()
    assert 0.8 * count < least_weights(config) < count
