"""What is refused before a server sees it, and what is told of a version that passes.

Each kind of damage also goes through the binary, in `tests/integration`.
"""

import copy
import json
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.export import (
    checksums,
    engine,
    export_saved_model,
    guard,
    saved_model,
    verify,
    warmup,
)

NAN = float("nan")
TEXTS = ["to be", "", "that is the question " * 3, b"\xff\xfe", "not"]


@pytest.fixture(scope="module")
def version(translator, module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    with pytest.MonkeyPatch.context() as patch:  # the tests do it themselves
        patch.setattr(saved_model, "verify_saved_model", lambda *_: None)
        patch.setattr(saved_model, "TranslationModule", lambda *_: module)
        return export_saved_model(translator, folder)


@pytest.fixture(scope="module")
def signatures(version):
    return warmup.signature_inputs(guard.load_meta_graph(version))


@pytest.fixture
def spoiled(version, tmp_path):
    """A copy of the version, to be spoiled."""
    return shutil.copytree(version, tmp_path / "7")


@pytest.fixture(scope="module")
def verified(version, translator):
    """The report of a version that passes, and what its engine answered."""
    told = {}
    run = engine.answers
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "answers", lambda *x: told.update(run(*x)) or told)
        report = verify.verify_saved_model(version, translator, TEXTS)
    return report, told


@pytest.fixture
def said(verified, monkeypatch):
    """These answers, to be changed, in place of an engine's."""
    answers = copy.deepcopy(verified[1])
    monkeypatch.setattr(engine, "answers", lambda *_: answers)
    return answers


def test_a_version_passes_and_it_is_said_what_was_measured(
    verified, version, signatures
):
    report, _ = verified
    assert (report.version, report.engine) == (version, tf.__version__)
    assert report.load_seconds > 0
    assert report.replayed == 3 * len(signatures)
    for seconds in (report.cold_seconds, report.first_seconds, report.steady_seconds):
        assert set(seconds) == set(signatures)
        assert all(value > 0 for value in seconds.values())
    key = "serving_default"
    assert report.cold_seconds[key] > report.steady_seconds[key]
    assert report.compared == len(TEXTS)
    assert 0 <= report.largest_difference < 1e-5


def test_made_up_texts_are_compared_when_there_are_none(translator):
    texts = verify._compared_texts(translator, None)
    assert len(texts) == 1_000 and len(set(texts)) > 990
    assert verify._compared_texts(None, ["a"]) == []
    assert len(verify._compared_texts(translator, ["a"] * 1_500)) == 1_000
    with pytest.raises(ValueError, match="`texts` must be a list of texts"):
        verify._compared_texts(translator, "a")


def test_the_library_of_an_operation_is_missing(version, tmp_path):
    installed = pathlib.Path(tf.__file__).parent
    (tmp_path / "tensorflow").symlink_to(installed)
    with pytest.raises(
        ValueError, match="Op type not registered.*package tensorflow-t"
    ):
        verify.verify_saved_model(version, package=tmp_path)


def test_an_operation_that_is_not_allowed_stops_it_before_anything_is_loaded(
    spoiled, monkeypatch
):
    message = guard.read_saved_model(spoiled)
    function = message.meta_graphs[0].graph_def.library.function[0]
    function.node_def.add(name="harm", op="EagerPyFunc")
    (spoiled / "saved_model.pb").write_bytes(message.SerializeToString())
    monkeypatch.delattr(engine, "answers")
    with pytest.raises(ValueError, match="listed operations.*'EagerPyFunc'.*'harm'"):
        verify.verify_saved_model(spoiled)


def test_weights_that_are_not_the_manifest_s(spoiled, monkeypatch):
    [path] = (spoiled / "variables").glob("*data*")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)
    monkeypatch.delattr(engine, "answers")
    with pytest.raises(ValueError, match="Expected the weights of .*changed"):
        verify.verify_saved_model(spoiled)


def test_the_signatures_are_all_asked(spoiled, signatures, translator, monkeypatch):
    monkeypatch.delattr(engine, "answers")
    monkeypatch.setattr(verify, "check_manifest", lambda _: None)  # it would notice
    requests = warmup.warmup_requests(signatures, translator, ["to be"])
    warmup.write_warmup(spoiled, requests[1:], "model")
    with pytest.raises(ValueError, match=r"for the signatures \[.*Received: .*Export"):
        verify.verify_saved_model(spoiled)
    other = warmup.WarmupRequest("other", requests[0].inputs)
    warmup.write_warmup(spoiled, [*requests, other], "model")
    with pytest.raises(ValueError, match="requests for .*'other'"):
        verify.verify_saved_model(spoiled)
    (spoiled / warmup.WARMUP_FILE).unlink()
    with pytest.raises(ValueError, match="requests that a server can replay"):
        verify.verify_saved_model(spoiled)


def test_answers_that_a_server_could_not_give(version, translator, said):
    whole = copy.deepcopy(said)
    outputs = said["answers"][0]["outputs"].values()
    next(x for x in outputs if isinstance(x["values"][0], float))["values"][0] = NAN
    with pytest.raises(ValueError, match="a value of .* that is no finite number"):
        verify.verify_saved_model(version, translator, TEXTS)
    said.update(copy.deepcopy(whole))
    for array in said["answers"][0]["outputs"].values():
        array["shape"] = []
    with pytest.raises(ValueError, match=r"the shape \[\] of .*, not a row for each t"):
        verify.verify_saved_model(version, translator, TEXTS)
    said.update(copy.deepcopy(whole))
    said["answers"][3] = {"error": "[9] Could not find variable x", "code": 9}
    with pytest.raises(ValueError, match="that answers .*Could not find variable x"):
        verify.verify_saved_model(version, translator, TEXTS)
    said.update({"load_error": "[15] truncated"})
    with pytest.raises(
        ValueError, match=r"can load. Received: .*\[15\] truncated. A s"
    ):
        verify.verify_saved_model(version, translator, TEXTS)


@pytest.mark.parametrize(
    "name, change",
    [
        ("translation", lambda text: text + "x"),
        ("truncated", lambda flag: not flag),
        ("score", lambda score: score - 1e-3),
        ("score", lambda score: score * 0 + 1e30),
    ],
)
def test_a_version_that_says_something_else(version, translator, said, name, change):
    values = said["answers"][-1]["outputs"][name]["values"]
    values[-1] = change(values[-1])
    with pytest.raises(ValueError, match="as the translator does.*for text 5 of 5. Is"):
        verify.verify_saved_model(version, translator, TEXTS)


def test_the_requests_are_spelled_as_json():
    inputs = {
        "text": np.array([b"\xff\x00", b""], object),
        "ids": np.array([[1, 2], [3, 4]], np.int32),
        "alpha": np.array([0.5, 1.0], np.float32),
    }
    request = verify._request("key", inputs)
    assert json.loads(json.dumps(request)) == {
        "signature": "key",
        "inputs": {
            "text": {"values": ["\xff\x00", ""], "shape": [2]},
            "ids": {"values": [1, 2, 3, 4], "shape": [2, 2]},
            "alpha": {"values": [0.5, 1.0], "shape": [2]},
        },
    }


def test_the_settings_of_the_export_are_known(version, translator):
    settings = checksums.exported_settings(version)
    assert settings == translator.decoding_config.to_dict()
