"""What the guides name is there: flags, functions, files."""

import importlib
import pathlib
import re
import shlex

import pytest
from absl.flags import FLAGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = sorted(
    [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("*/README.md")]
)


@pytest.fixture(scope="module")
def flags():
    """Every flag of every binary."""
    for path in (ROOT / "trainers").glob("[a-z]*.py"):
        importlib.import_module(f"trainers.{path.stem}")
    return set(FLAGS)


def commands():
    """Yields (file, words) of every ka-... command of the guides."""
    for path in DOCS:
        text = path.read_text(encoding="utf-8")
        for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL):
            if language not in ("", "sh"):
                continue
            for line in block.replace("\\\n", " ").splitlines():
                line = line.removeprefix("$ ")
                if line.startswith("ka-"):
                    yield path.name, shlex.split(line, comments=True)


def test_commands_name_binaries_and_flags_that_exist(flags):
    found = list(commands())
    assert len(found) > 40
    for name, words in found:
        binary = words[0][3:].replace("-", "_")
        assert (ROOT / "trainers" / f"{binary}.py").is_file(), (name, words[0])
        for word in words:
            if word.startswith("--"):
                assert word[2:].split("=")[0] in flags, (name, word)


def test_flags_in_the_text_exist(flags):
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    found = re.findall(r"--(\w+)", text)
    assert len(found) > 15
    assert set(found) <= flags


def test_links_lead_somewhere():
    for path in DOCS:
        for link in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (path.parent / link).exists(), (path.name, link)


def names(path):
    return re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)(?:\(\w*\))?`", path.read_text())


def test_what_the_architecture_names_is_there():
    found = names(ROOT / "docs" / "architecture.md")
    assert len(found) > 25
    for name in found:
        if name.startswith("keras.") or name.split(".")[-1] in ("py", "md", "keras"):
            continue
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(f"keras_attention.{name}")
        except ModuleNotFoundError:
            parent, _, middle = module.rpartition(".")
            try:
                holder = importlib.import_module(f"keras_attention.{module}")
            except ModuleNotFoundError:
                holder = importlib.import_module(f"keras_attention.{parent}")
                holder = getattr(holder, middle)
            assert hasattr(holder, last), name
