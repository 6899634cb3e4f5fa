"""Files appear whole or not at all."""

import os
import subprocess
import sys

import pytest

from keras_attention import files


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("content", ["zwölf", "zwölf".encode(), ""])
def test_content_is_written(tmp_path, content):
    path = tmp_path / "file"
    files.write_atomically(path, content)
    expected = content.encode() if isinstance(content, str) else content
    assert path.read_bytes() == expected
    assert names(tmp_path) == ["file"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_atomically(path, "old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_an_error_inside_the_block_replaces_nothing(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="halfway"):
        with files.replacing(path) as temporary:
            temporary.write_text("ne")
            raise RuntimeError("halfway")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_what_killed_processes_left_is_deleted(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f".tmp-{ended.pid}-a", f".tmp-{os.getpid()}-b", f".tmp-{ended.pid}"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".tmp-step-3").mkdir()
    (tmp_path / f".tmp-{os.getppid()}-c").write_text("being written")
    (tmp_path / "d").write_text("whole")
    files.delete_leftovers(tmp_path)
    assert names(tmp_path) == sorted([f".tmp-{os.getppid()}-c", "d"])
    files.delete_leftovers(tmp_path / "missing")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\xfa", "no Unicode text"),
        (b"{", "no JSON .*line 1, column 2"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "digits"),
        (b"[" * 100_000, "too deep in each other"),
        (b'{"a": ' + b"[" * 90 + b"]" * 90 + b"}", "too deep in each other"),
        (b"[]", "a list and no object"),
        (b"null", "a value and no object"),
        (b'{"a": {"b": 1, "b": 2}}', "the key 'b' twice"),
        (b'{"a": ["\\ud800"]}', "half a character"),
        (b'{"\\udc00": 1}', "half a character"),
        (b'{"a": -9223372036854775809}', "more than 64 bits"),
        (b'{"a": NaN}', "the number nan"),
        (b'{"a": [1e999]}', "the number inf"),
    ],
)
def test_what_only_fails_later_is_no_object(content, expected):
    with pytest.raises(ValueError, match=expected) as raised:
        files.parse_object(content)
    assert type(raised.value) is ValueError  # no class that says it in other words


def test_objects_are_those_of_json():
    text = '{"a": [1, -2.5, "schläft \U0001f600", null, true], "b": {}}'
    for content in (text, text.encode(), text.encode("utf-16")):
        found = files.parse_object(content)
        assert found == {"a": [1, -2.5, "schläft \U0001f600", None, True], "b": {}}
    assert str(files.parse_object('{"a": Infinity}', finite=False)) == "{'a': inf}"
