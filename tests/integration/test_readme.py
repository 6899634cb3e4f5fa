"""What the README shows runs: its Python as it stands, its commands flag by flag."""

import pathlib
import re
import shlex
import shutil
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPES = (ROOT / "trainers" / "README.md").read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands():
    """Yields (binary, [flags]) of every ka-... command shown."""
    for block in blocks(README, "sh") + blocks(RECIPES, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0].startswith("ka-"):
                flags = [w[2:].split("=")[0] for w in words if w.startswith("--")]
                yield words[0][3:].replace("-", "_"), flags


def test_the_researcher_s_code_runs(tiny_corpus, tmp_path, monkeypatch, capsys):
    for path, name in zip(tiny_corpus, ("train.en", "train.de"), strict=True):
        shutil.copy(path, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    code = blocks(README, "python")[0]
    small = code.replace("8_000", "60").replace("2_048", "64").replace("=5)", "=1)")
    assert small != code
    exec(compile(small, "README.md", "exec"), {})
    assert capsys.readouterr().out.rstrip().endswith("]")


def test_there_are_commands():
    assert {name for name, _ in commands()} >= {"train_translation", "translate"}


@pytest.mark.parametrize("name", sorted({name for name, _ in commands()}))
def test_commands_name_flags_that_exist(run_binary, name):
    root = xml.etree.ElementTree.fromstring(run_binary(name, "--helpxml").stdout)
    known = {flag.findtext("name") for flag in root.iter("flag")}
    for binary, flags in commands():
        if binary == name:
            assert set(flags) <= known


def test_the_map_names_what_exists():
    rows = re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        first, *others = row.split()
        folder = pathlib.Path(first).parent if "." in first else pathlib.Path(first)
        base = folder if "." in first else folder.parent
        for path in (first, *(base / name for name in others)):
            assert (ROOT / path).exists(), path


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", README + contributing, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
