import json

import pytest

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.training import workdir as workdirs


def config(**training):
    return {
        "preset": "tiny",
        "transformer": TransformerConfig.from_preset("tiny", vocabulary_size=50),
        "training": TrainingConfig.from_preset("tiny", **training),
        "decoding": DecodingConfig(),
        "data": {"sha256": "a", "pairs": 3},
        "versions": workdirs.versions(),
    }


def test_config_is_read_as_it_was_written(tmp_path):
    assert workdirs.read_config(tmp_path) is None
    workdirs.write_config(tmp_path, config())
    assert workdirs.read_config(tmp_path) == config()
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"transformer": 3}', '{"training": {}}', '{"a": 1, "a": 2}'),
        *("[" * 99_999, '{"a": ' + "9" * 5_000 + "}", "\xff", '{"a": NaN}'),
    ],
)
def test_damaged_config_is_an_error(tmp_path, text):
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match="is not the configuration of a run.*Received"):
        workdirs.read_config(tmp_path)


@pytest.mark.parametrize("data", [None, [], 3])
def test_config_without_its_data_is_an_error(tmp_path, data):
    workdirs.write_config(tmp_path, {**config(), "data": data})
    with pytest.raises(ValueError, match="is not the configuration of a run.*data"):
        workdirs.read_config(tmp_path)
    without = {k: v for k, v in config().items() if k != "data"}
    workdirs.write_config(tmp_path, without)
    with pytest.raises(ValueError, match="Received: KeyError.'data'"):
        workdirs.read_config(tmp_path)


def test_unknown_field_is_an_error(tmp_path):
    workdirs.write_config(tmp_path, config())
    record = json.loads((tmp_path / "config.json").read_text())
    record["training"]["momentum"] = 0.9
    (tmp_path / "config.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match="no field named momentum"):
        workdirs.read_config(tmp_path)


def test_what_does_not_touch_the_updates_may_change():
    changed = config(max_steps=7, max_minutes=1.0, patience=2, log_steps=1)
    changed["decoding"] = DecodingConfig(beam_size=9)
    workdirs.check_same_run(config(), changed)


def test_a_difference_is_named_with_both_values():
    with pytest.raises(
        ValueError, match=r"training\.seed: 1 in the workdir, 2 asked for"
    ):
        workdirs.check_same_run(config(), config(seed=2))
    changed = config()
    changed["transformer"] = changed["transformer"].replace(num_layers=2)
    with pytest.raises(ValueError, match=r"transformer\.num_layers: 4 .* 2 asked for"):
        workdirs.check_same_run(config(), changed)


def test_other_pairs_are_another_run():
    changed = {**config(), "data": {"sha256": "b"}}
    expected = "training pairs are not those of the workdir, pairs 3 there, None now"
    with pytest.raises(ValueError, match=expected):
        workdirs.check_same_run(config(), changed)


def test_other_validation_pairs_are_another_history():
    old, new = config(), config()
    new["data"] = {"sha256": "a", "pairs": 3, "valid_sha256": "c"}
    workdirs.check_same_run(old, new)  # recorded before it was said
    for recorded in ("b", None):
        old["data"] = {"sha256": "a", "pairs": 3, "valid_sha256": recorded}
        with pytest.raises(ValueError, match="validation pairs are not those"):
            workdirs.check_same_run(old, new)


def test_another_tokenizer_is_another_run():
    recorded = config()
    wanted = {**config(), "data": {"sha256": "a", "tokenizer_sha256": "b"}}
    workdirs.check_same_run(recorded, wanted)  # recorded before it was said
    recorded["data"]["tokenizer_sha256"] = "c"
    with pytest.raises(ValueError, match="tokenizer is not the one the run began with"):
        workdirs.check_same_run(recorded, wanted)


def test_changeable_fields_exist():
    for part, cls in workdirs.PARTS.items():
        assert set(workdirs.CHANGEABLE[part]) <= set(cls.__dataclass_fields__)
