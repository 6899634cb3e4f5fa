"""What stands in `saved_models/` beside the exports, read as servers read it."""

import re

import pytest

from keras_attention.export import saved_model


@pytest.fixture
def folder(repository):
    return repository / "saved_models"


def test_models_config_is_what_the_server_reads(folder):
    pytest.importorskip(
        "tensorflow_serving", reason="needs tensorflow-serving-api for its messages"
    )
    from google.protobuf import text_format
    from tensorflow_serving.config import model_server_config_pb2

    text = (folder / "models.config").read_text()
    parsed = text_format.Parse(text, model_server_config_pb2.ModelServerConfig())
    [config] = parsed.model_config_list.config
    assert config.name == "quickstart"
    assert config.base_path == "/models/quickstart"
    assert config.model_platform == "tensorflow"
    assert config.model_version_policy.latest.num_versions == 1


@pytest.mark.parametrize("name", ["batching_parameters.txt", "batching"])
def test_batching_never_splits_a_request(folder, name):
    text = saved_model.BATCHING_PARAMETERS
    if name != "batching":
        text = (folder / name).read_text()
    settings = dict(
        re.match(r"(\w+)(?: \{ value: (\w+) \}|: (\w+))$", line).group(1, 2)
        for line in text.splitlines()
        if not line.startswith("#")
    )
    assert settings["enable_large_batch_splitting"] == "false"
    assert int(settings["max_batch_size"]) >= 1
    assert "allowed_batch_sizes" not in settings


def test_monitoring_is_on(folder):
    text = (folder / "monitoring.config").read_text()
    assert re.search(r"prometheus_config \{\s+enable: true", text)


def test_the_deployment_reads_files_that_are_here(folder):
    manifest = (folder / "kubernetes.yaml").read_text()
    documents = manifest.split("\n---\n")
    assert [re.search(r"^kind: (\w+)", x, re.M)[1] for x in documents] == [
        "Deployment",
        "Service",
    ]
    named = re.findall(r"=/models/(\S+)", manifest)
    assert set(named) == {
        "models.config",
        "monitoring.config",
        "batching_parameters.txt",
    }
    for name in named:
        assert (folder / name).is_file()
    ignored = (folder / ".gitignore").read_text().split()
    tracked = {path.name for path in folder.iterdir() if path.is_file()}
    assert {f"!{name}" for name in tracked} <= set(ignored)
