"""Fixtures for every test: a quiet TensorFlow, fixed seeds, the shared data."""

import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository():
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real text and expected numbers; skips where it is missing."""
    default = ROOT.parent / "shared" / "data"
    folder = pathlib.Path(os.environ.get("KERAS_ATTENTION_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set KERAS_ATTENTION_DATA to run this")
    return folder


@pytest.fixture
def seeded():
    """Seeds Python, NumPy and the Keras backend."""
    import keras

    keras.utils.set_random_seed(1)


@pytest.fixture
def tiny_corpus(tmp_path):
    """Two files of six parallel lines: (source path, target path)."""
    pairs = [
        ("the dog runs .", "der Hund läuft ."),
        ("the cat sleeps .", "die Katze schläft ."),
        ("a child plays .", "ein Kind spielt ."),
        ("the small dog sees a cat .", "der kleine Hund sieht eine Katze ."),
        ("a cat sees the child .", "eine Katze sieht das Kind ."),
        ("the child runs .", "das Kind läuft ."),
    ]
    source, target = tmp_path / "corpus.en", tmp_path / "corpus.de"
    source.write_text("".join(f"{s}\n" for s, _ in pairs), encoding="utf-8")
    target.write_text("".join(f"{t}\n" for _, t in pairs), encoding="utf-8")
    return source, target


@pytest.fixture
def run_binary():
    """Runs `python -m trainers.NAME FLAGS` as a user would and returns what it said."""

    def run(name, *arguments, stdin=None, timeout=300):
        return subprocess.run(
            [sys.executable, "-m", f"trainers.{name}", *map(str, arguments)],
            cwd=ROOT,
            input=stdin if stdin is not None else b"",
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    return run
