"""What a version says it was made of."""

import json

import pytest
import tensorflow as tf

from keras_attention.decoding.ensemble import Ensemble
from keras_attention.decoding.translator import Translator
from keras_attention.export import manifest
from keras_attention.export.checksums import weights_sha256


@pytest.fixture
def version(tmp_path):
    """A folder with something that stands for weights."""
    (tmp_path / "version" / "variables").mkdir(parents=True)
    (tmp_path / "version" / "variables" / "variables.index").write_bytes(b"weights")
    return tmp_path / "version"


def written(version, translator, workdir=None):
    manifest.write_manifest(translator, ["b", "a"], version, workdir)
    return json.loads((version / "manifest.json").read_text("utf-8"))


def test_says_what_the_version_was_made_of(version, translator):
    found = written(version, translator)
    assert found["transformer"] == [translator.model.transformer_config.to_dict()]
    assert found["decoding"] == json.loads(
        json.dumps(translator.decoding_config.to_dict())
    )
    assert found["tokenizer"]["sha256"] == translator.tokenizer.sha256
    assert found["weights"]["sha256"] == weights_sha256(version)
    assert found["versions"]["tensorflow"] == tf.__version__
    assert found["signatures"] == ["a", "b"]
    assert "bleu" not in found
    assert "averaged_steps" not in found


def test_says_what_the_run_knows(version, translator, tmp_path):
    records = [
        {"kind": "average", "step": 20, "steps": [10, 20]},
        {"kind": "train", "step": 25, "loss": 1.0, "note": "average"},
        {"kind": "average", "step": 30, "steps": [20, 30]},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "metrics.jsonl").write_text(lines + '{"kind": "average", "st')
    bleu = {"score": 37.3, "signature": "nrefs:1", "sentences": 9, "decoding": {"a": 1}}
    (tmp_path / "bleu.json").write_text(json.dumps({**bleu, "seconds": 3.0}))
    found = written(version, translator, tmp_path)
    assert found["averaged_steps"] == [20, 30]
    assert found["bleu"] == bleu


def test_says_what_the_run_does_not_know(version, translator, tmp_path):
    found = written(version, translator, tmp_path)
    assert found["averaged_steps"] is None
    assert found["bleu"] is None


@pytest.mark.parametrize("name", ["bleu.json", "metrics.jsonl"])
@pytest.mark.parametrize("content", ['{"average"\n', '\xff"average"\n', "[" * 99_999])
def test_a_damaged_run_is_named(version, translator, tmp_path, name, content):
    content = content if name == "bleu.json" else f'{content} "average"\n'
    (tmp_path / name).write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=f"a JSON object in .*{name}.*Received: "):
        written(version, translator, tmp_path)


def test_tells_all_models_of_an_ensemble(version, translator):
    ensemble = Ensemble([translator.model] * 2)
    found = written(version, Translator(ensemble, translator.tokenizer))
    assert len(found["transformer"]) == 2


def test_a_package_that_is_not_installed_has_no_version():
    assert manifest._installed_version("no-such-package-as-this") is None
