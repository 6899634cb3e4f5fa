"""Versions: numbered, whole or absent, never overwritten."""

import logging
import os

import keras
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig
from keras_attention.decoding.translator import Translator
from keras_attention.export import saved_model, verify
from keras_attention.export.saved_model import export_saved_model
from keras_attention.export.warmup import read_warmup


class Quick(tf.Module):
    """Stands for the real module where only files matter."""

    def __init__(self, translator, max_beam_size):
        super().__init__()
        weight = tf.Variable([1.0])
        function = tf.function(lambda text: {"score": weight}).get_concrete_function(
            tf.TensorSpec([None], tf.string, name="text")
        )
        self.weights = list(function.graph.variables)
        self.signatures_ = {"serving_default": function}

    @property
    def signatures(self):
        return self.signatures_


class Wrong(Quick):
    """Tracks a Keras layer, as the obvious export does."""

    def __init__(self, translator, max_beam_size):
        super().__init__(translator, max_beam_size)
        self.layer = keras.layers.Dense(1)
        self.layer.build((None, 1))
        self.weights = []
        self.signatures_ = {
            "serving_default": tf.function(
                lambda text: {"score": self.layer.bias.value}
            ).get_concrete_function(tf.TensorSpec([None], tf.string, name="text"))
        }


@pytest.fixture
def quick(monkeypatch):
    """Exports of a module that no engine has to load; returns what was verified."""
    verified = []
    monkeypatch.setattr(saved_model, "TranslationModule", Quick)
    monkeypatch.setattr(
        saved_model, "verify_saved_model", lambda *asked: verified.append(asked)
    )
    return verified


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_versions_count_up_from_what_is_there(quick, translator, tmp_path):
    directory = tmp_path / "not" / "yet"
    assert export_saved_model(translator, str(directory)) == directory / "1"
    (directory / "9").mkdir()
    (directory / "README.md").write_text("11")
    (directory / "12-old").mkdir()
    (directory / "\u0663\u0663").mkdir()  # digits, and no number to a server
    (directory / "9223372036854775807").mkdir()  # nor the one behind it
    assert export_saved_model(translator, directory) == directory / "10"
    (directory / "0021").touch()
    assert export_saved_model(translator, directory) == directory / "22"
    assert (directory / "1" / "saved_model.pb").is_file()


@pytest.fixture(params=[0o002, 0o022, 0o027], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_who_may_read_a_version_is_the_users_to_say(quick, translator, tmp_path, umask):
    version = export_saved_model(translator, tmp_path)
    for path in (version, *version.rglob("*")):
        whole = 0o777 if path.is_dir() else 0o666
        assert path.stat().st_mode & 0o777 == whole & ~umask, path


def test_a_number_taken_in_the_meantime_is_passed_over(
    quick, translator, tmp_path, monkeypatch
):
    taken = tmp_path / "1"
    taken.mkdir()
    (taken / "theirs").touch()
    last_version, answers = saved_model._last_version, [0]
    monkeypatch.setattr(
        saved_model,
        "_last_version",
        lambda directory: answers.pop() if answers else last_version(directory),
    )
    assert export_saved_model(translator, tmp_path) == tmp_path / "2"
    assert names(taken) == ["theirs"]


def test_a_rename_that_cannot_work_is_not_tried_for_ever(tmp_path, monkeypatch):
    with pytest.raises(OSError):
        saved_model._publish(tmp_path / "missing", tmp_path)


def test_an_export_that_no_server_fills_is_stopped(translator, tmp_path, monkeypatch):
    monkeypatch.setattr(saved_model, "TranslationModule", Wrong)
    with pytest.raises(ValueError, match="Received: 'VarIsInitializedOp'|1 unfilled"):
        export_saved_model(translator, tmp_path)
    assert names(tmp_path) == []


def test_nothing_looks_like_a_version_before_it_is_whole(
    quick, translator, tmp_path, monkeypatch
):
    seen = []

    def interrupted(folder):
        seen.extend(names(tmp_path))
        raise KeyboardInterrupt

    monkeypatch.setattr(saved_model, "flush_folder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_saved_model(translator, tmp_path)
    assert len(seen) == 1
    assert seen[0].startswith(".unfinished-")
    assert not seen[0].isdigit()
    assert names(tmp_path) == []


def test_leftovers_of_a_killed_export_do_no_harm(quick, translator, tmp_path):
    (tmp_path / ".unfinished-123456").mkdir()
    assert export_saved_model(translator, tmp_path).name == "1"


def test_a_path_of_this_machine_is_refused(quick, translator, tmp_path, monkeypatch):
    monkeypatch.setattr(
        saved_model,
        "write_manifest",
        lambda translator, signatures, folder, workdir: (
            folder / "manifest.json"
        ).write_text(str(tmp_path)),
    )
    with pytest.raises(ValueError, match="needs no file of this machine"):
        export_saved_model(translator, tmp_path)
    assert names(tmp_path) == []


def test_refuses_what_is_no_translator_or_no_folder(translator, tmp_path):
    with pytest.raises(ValueError, match="must be a keras_attention.Translator"):
        export_saved_model(translator.model, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="folder or not exist.*which is a file"):
        export_saved_model(translator, tmp_path / "file")


def test_a_version_is_verified_before_it_has_a_number(quick, translator, tmp_path):
    version = export_saved_model(translator, tmp_path, texts=["a text"])
    [(verified, compared_with, texts)] = quick
    assert compared_with is translator and texts == ["a text"]
    assert verified.parent == tmp_path
    assert verified.name.startswith(".unfinished-")
    assert not verified.exists()
    assert version.exists()


def test_a_thousand_texts_are_compared_unless_some_are_given(
    quick, translator, tmp_path
):
    export_saved_model(translator, tmp_path)
    [(_, compared_with, texts)] = quick
    assert len(verify._compared_texts(compared_with, texts)) == 1_000


def test_what_does_not_verify_gets_no_number(quick, translator, tmp_path, monkeypatch):
    def refuse(*_):
        raise ValueError("no server runs this")

    monkeypatch.setattr(saved_model, "verify_saved_model", refuse)
    with pytest.raises(ValueError, match="no server runs this"):
        export_saved_model(translator, tmp_path)
    assert names(tmp_path) == []


def test_the_widest_beam_is_no_narrower_than_the_translator_s(
    translator, tmp_path, monkeypatch
):
    asked = []

    class Asked(Exception):
        pass

    def module(_, max_beam_size):
        asked.append(max_beam_size)
        raise Asked

    monkeypatch.setattr(saved_model, "TranslationModule", module)
    wide = Translator(
        translator.model, translator.tokenizer, DecodingConfig(beam_size=21)
    )
    for one, widest in ((translator, None), (wide, None), (wide, 30)):
        with pytest.raises(Asked):
            export_saved_model(one, tmp_path, max_beam_size=widest)
    assert asked == [16, 21, 30]


@pytest.mark.parametrize(
    "kind", [tf.errors.ResourceExhaustedError, tf.errors.OutOfRangeError]
)
def test_a_full_disk_is_told(quick, translator, tmp_path, monkeypatch, kind):
    def full(*_, **__):
        raise kind(None, None, "/x/part-0; No space left on device\n[Op:SaveV2]")

    monkeypatch.setattr(tf.saved_model, "save", full)
    pattern = "Cannot write to .*: /x/part-0; No space left on device. Nothing was exp"
    with pytest.raises(OSError, match=pattern):
        export_saved_model(translator, tmp_path)
    assert names(tmp_path) == []


def test_a_name_that_no_server_can_be_told(quick, translator, tmp_path):
    with pytest.raises(ValueError, match="name in UTF-8.*Received"):
        export_saved_model(translator, tmp_path / os.fsdecode(b"\xffx"))
    assert names(tmp_path) == []


def test_tensorflow_makes_no_remarks(quick, translator, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        export_saved_model(translator, tmp_path)
    assert [record.getMessage() for record in caplog.records] == []
    assert logging.getLogger("absl").level != logging.ERROR
    assert logging.getLogger("tensorflow").level != logging.ERROR


def test_a_version_brings_its_batching_and_its_warm_up(
    quick, translator, tmp_path, repository
):
    version = export_saved_model(translator, tmp_path)
    shipped = (repository / "saved_models" / "batching_parameters.txt").read_text()

    def settings(text):
        return [line for line in text.splitlines() if not line.startswith("#")]

    found = (version / "batching_params.pbtxt").read_text()
    assert settings(found) == settings(shipped)
    assert len(read_warmup(version)) == 3


@pytest.mark.slow
def test_the_real_module_passes_the_guards(translator, tmp_path):
    version = export_saved_model(translator, tmp_path)
    stored = sum(x.stat().st_size for x in (version / "variables").glob("*.data*"))
    weights = 4 * translator.model.count_params()
    assert weights <= stored < weights + 20_000  # and the map of the objects
