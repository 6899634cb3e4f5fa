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
