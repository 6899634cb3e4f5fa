"""The sums of a version's weights and subword model, against its manifest."""

import json
import os
import subprocess

import pytest
import tensorflow as tf

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.export import checksums

TOKENIZER = "t" * 64
LINES = ["to be or not to be", "that is the question"] * 4
SIZES = {"bpe": 24, "unigram": 20, "wordpiece": 36}


def save(tokenizer, folder):
    module = tf.Module()
    module.tokenizer, module.scale = tokenizer, tf.Variable([2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def run(text):
        ids = tokenizer.tokenize(text)
        return {"text": tokenizer.detokenize(ids), "y": module.scale * 1.0}

    tf.saved_model.save(module, str(folder), signatures=run)
    return folder


def write(folder, **parts):
    """A manifest as an export writes it, with other sums where they are given."""
    sums = {"tokenizer": TOKENIZER, "weights": checksums.weights_sha256(folder)}
    sums = {part: {"sha256": sha256} for part, sha256 in (sums | parts).items()}
    files = checksums.files_sha256(folder)
    (folder / checksums.MANIFEST).write_text(json.dumps({**sums, "files": files}))


@pytest.fixture
def any_model(monkeypatch):
    """The subword model is right; there is no graph to look for it in."""
    monkeypatch.setitem(checksums._FOUND, "tokenizer", lambda *_: TOKENIZER)


@pytest.fixture(scope="module", params=list(SIZES))
def version(request, tmp_path_factory):
    kind = request.param
    tokenizer = SubwordTokenizer.learn_from_lines(LINES, SIZES[kind], kind)
    return save(tokenizer, tmp_path_factory.mktemp(kind)), tokenizer.sha256


def test_the_right_sums_pass_and_the_subword_model_is_found(version):
    folder, tokenizer = version
    write(folder, tokenizer=tokenizer)
    checksums.check_manifest(folder)
    write(folder, tokenizer="0" * 64)
    with pytest.raises(ValueError, match="Expected the tokenizer of .* 0000.*Received"):
        checksums.check_manifest(folder)


@pytest.fixture
def weights(tmp_path):
    (tmp_path / "variables").mkdir()
    for name in ("variables.index", "variables.data-00000-of-00001"):
        (tmp_path / "variables" / name).write_bytes(name.encode() * 100)
    (tmp_path / "saved_model.pb").write_bytes(b"graph")
    return tmp_path


def test_the_sum_is_that_of_the_shell(weights):
    command = "cat variables/* | sha256sum"
    said = subprocess.run(command, shell=True, cwd=weights, capture_output=True)
    assert checksums.weights_sha256(weights) == said.stdout.decode().split()[0]


def test_a_flipped_bit_is_found(weights, any_model):
    write(weights)
    checksums.check_manifest(weights)
    path = weights / "variables" / "variables.index"
    content = path.read_bytes()
    path.write_bytes(content[:9] + bytes([content[9] ^ 4]) + content[10:])
    with pytest.raises(
        ValueError, match="the weights of .*manifest, .*Received: .*chan"
    ):
        checksums.check_manifest(weights)


def test_every_other_file_is_looked_at(weights, any_model):
    (weights / "assets.extra").mkdir()
    other = weights / "assets.extra" / "requests"
    other.write_bytes(b"a")
    assert set(checksums.files_sha256(weights)) == {
        "assets.extra/requests",
        "saved_model.pb",
    }
    write(weights)
    checksums.check_manifest(weights)
    other.write_bytes(b"b")
    with pytest.raises(ValueError, match="'assets.extra/requests' in .*Received: 3e"):
        checksums.check_manifest(weights)
    other.unlink()
    with pytest.raises(ValueError, match="'assets.extra/requests' in .*no such file"):
        checksums.check_manifest(weights)


@pytest.mark.parametrize("name", ["extra.bin", "assets/evil", "assets.extra/more"])
def test_what_nobody_named_is_refused(weights, any_model, name):
    write(weights)
    (weights / name).parent.mkdir(exist_ok=True)
    (weights / name).write_bytes(b"?")
    with pytest.raises(ValueError, match=f"only files .*Received: {name} beside"):
        checksums.check_manifest(weights)


def test_links_devices_and_folders_of_weights_are_refused(weights, any_model):
    write(weights)
    odd = weights / "odd"
    for make in (
        lambda: odd.symlink_to(weights / "saved_model.pb"),
        lambda: odd.symlink_to("nowhere"),
        lambda: os.mkfifo(odd),
    ):
        make()
        with pytest.raises(ValueError, match="files and folders.*Received: 'odd', a l"):
            checksums.check_manifest(weights)
        odd.unlink()
    checksums.check_manifest(weights)
    (weights / "variables" / "more").mkdir()
    with pytest.raises(ValueError, match="Received: 'variables/more', .*of weights"):
        checksums.check_manifest(weights)


@pytest.mark.parametrize("part", ["files", "tokenizer", "weights", None])
def test_a_manifest_without_sums_is_refused(weights, any_model, part):
    write(weights)
    path = weights / checksums.MANIFEST
    manifest = json.loads(path.read_text())
    if part is None:
        path.unlink()
    else:
        del manifest[part]
        path.write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="with the sums of .*Received: .*Copy the ver"):
        checksums.check_manifest(weights)


def test_the_settings_of_an_export(tmp_path):
    assert checksums.exported_settings(tmp_path) == {}
    (tmp_path / checksums.MANIFEST).write_text('{"decoding": {"beam_size": 3}}')
    assert checksums.exported_settings(tmp_path) == {"beam_size": 3}
    for wrong in ('{"suppress_ids": 5}', '{"suppress_ids": null}', '{"beam_size": {}}'):
        (tmp_path / checksums.MANIFEST).write_text(f'{{"decoding": {wrong}}}')
        with pytest.raises(ValueError, match="Received: "):
            checksums.exported_settings(tmp_path)


def test_a_version_without_weights_or_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="weights in `variables/`. Received: .*has no"):
        checksums.weights_sha256(tmp_path)
    module = tf.Module()
    run = tf.function(lambda x: {"y": x}).get_concrete_function(tf.TensorSpec([None]))
    tf.saved_model.save(module, str(tmp_path), signatures=run)
    write(tmp_path, tokenizer="0" * 64)
    with pytest.raises(ValueError, match="tokenizer of .*Received: "):
        checksums.check_manifest(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", '{"weights": 3}', '{"decoding": 5}', '{"files": []}', "\xff"),
        *("[" * 99_999, '{"files": {}, "files": {}}', '{"bleu": NaN}'),
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path, content):
    (tmp_path / checksums.MANIFEST).write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match="a JSON object of objects. Received: .*manif"):
        checksums.check_manifest(tmp_path)
