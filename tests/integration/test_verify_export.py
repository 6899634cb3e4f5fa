"""`ka-verify-export` as an operator runs it, on whole and on damaged versions."""

import json
import shutil

import keras
import numpy as np
import pytest

from keras_attention.decoding.translator import Translator
from keras_attention.export import checksums, export_saved_model, guard, warmup
from tests.integration.test_export import (
    SENTENCES,
    make_workdir,
    save_as_is_obvious,
)

# In one process tests/unit/export/test_verify.py has the same, in the default suite.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workdir")
    make_workdir(folder, "bpe")
    return folder


@pytest.fixture(scope="module")
def version(run_folder, tmp_path_factory):
    translator = Translator.load(run_folder, beam_size=3)
    return export_saved_model(translator, tmp_path_factory.mktemp("models"))


@pytest.fixture
def spoiled(version, tmp_path):
    return shutil.copytree(version, tmp_path / "7")


def change(folder, pattern, edit):
    [path] = folder.glob(pattern)
    path.write_bytes(edit(path.read_bytes()))


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 16]) + content[middle + 1 :]


def sum_again(folder):
    """Gives the manifest the sums of the files as they are, so that others look."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["weights"]["sha256"] = checksums.weights_sha256(folder)
    manifest["files"] = checksums.files_sha256(folder)
    path.write_text(json.dumps(manifest))


def truncate_variables(folder):
    change(folder, "variables/*.data*", lambda content: content[: len(content) // 2])
    sum_again(folder)  # so that the engine has to find it


def flip_a_weight_and_sum_again(folder):
    change(folder, "variables/*.data*", flip)
    sum_again(folder)


def with_graph(folder, edit):
    message = guard.read_saved_model(folder)
    edit(message.meta_graphs[0].graph_def)
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())


def hide_a_callback(folder):
    def edit(graph):
        graph.library.function[-1].node_def.add(name="harm", op="PyFunc")

    with_graph(folder, edit)


def ask_what_fails(folder):
    requests = warmup.read_warmup(folder)
    bad = {"text": np.array([1], np.int32)}
    requests[0] = warmup.WarmupRequest("serving_default", bad)
    warmup.write_warmup(folder, requests, "model")
    sum_again(folder)  # so that the replay has to find it


def export_as_is_obvious(folder):
    shutil.rmtree(folder)
    save_as_is_obvious(folder)


DAMAGES = {
    ask_what_fails: "warm-up|answers 'serving_default'",
    truncate_variables: "the C++ engine can load",
    flip_a_weight_and_sum_again: "the C++ engine can load",
    hide_a_callback: "'PyFunc', the node 'harm' in the function",
    export_as_is_obvious: "'VarIsInitializedOp'|loading fills every variable",
}


def verify(run_binary, folder, *flags):
    done = run_binary("verify_export", "--version_dir", folder, *flags)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_whole_version_is_compared_with_its_run(
    run_binary, version, run_folder, tmp_path
):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{x}\n" for x in SENTENCES * 20), encoding="utf-8")
    flags = ("--workdir", run_folder, "--input", lines)
    code, out, err = verify(run_binary, version, *flags)
    assert (code, out) == (0, f"{version}\n"), err
    assert "1000 translations equal, scores within" in err
    assert "serving_default: " in err


@pytest.mark.parametrize(
    "damage", [pytest.param(damage, id=damage.__name__) for damage in DAMAGES]
)
def test_a_damaged_version_is_refused_in_one_line(run_binary, spoiled, damage):
    damage(spoiled)
    code, out, err = verify(run_binary, spoiled)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    assert any(text in err for text in DAMAGES[damage].split("|")), err


def test_another_run_or_other_settings_are_told_apart(
    run_binary, version, run_folder, tmp_path
):
    other = shutil.copytree(run_folder, tmp_path / "other")
    model = keras.saving.load_model(other / "model.keras")
    for weight in model.trainable_weights:
        weight.assign(weight * 1.1)
    model.save(other / "model.keras")
    code, _, err = verify(run_binary, version, "--workdir", other)
    progress, error = err.splitlines()
    assert code == 2 and "translating 1000 texts, to compare" in progress
    assert "to translate as the translator does" in error


@pytest.mark.parametrize(
    "flags, code, text",
    [
        ([], 2, "--version_dir is required"),
        (["--version_dir=/nowhere/1"], 1, "--version_dir: no such directory: /nowhere"),
        (["--version_dir=/", "--input=x"], 2, "--input has no meaning without --workd"),
        (["--version_dir=/", "--package=/nowhere"], 1, "--package: no such directory"),
        (["--version_dir=/", "--workdir=/nowhere"], 1, "--workdir: no such directory"),
        (["--version_dir=/"], 2, "a SavedModel folder with a `saved_model.pb`"),
    ],
)
def test_wrong_flags(run_binary, flags, code, text):
    done = run_binary("verify_export", *flags)
    assert done.returncode == code
    assert done.stderr.count(b"\n") == 1
    assert text in done.stderr.decode()
