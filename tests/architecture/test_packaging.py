"""Versions agree wherever they are written."""

import pathlib
import re

import pytest
from packaging.requirements import Requirement

from keras_attention.version import __version__

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTED = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)
REQUIREMENTS = re.findall(
    r'"([a-z][a-z0-9-]+>=[^"]+)"', (ROOT / "setup.py").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", ["CITATION.cff", "CHANGELOG.md"])
def test_the_version_is_the_package_s(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(rf"^(version: |## ){re.escape(__version__)}\b", text, re.MULTILINE)


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_constraints_are_inside_the_ranges(text):
    requirement = Requirement(text)
    assert requirement.name in TESTED
    assert requirement.specifier.contains(TESTED[requirement.name])


def test_the_ranges_were_found():
    found = {Requirement(text).name for text in REQUIREMENTS}
    assert {"tensorflow", "tensorflow-text", "keras", "pytest"} <= found


def test_one_tensorflow_only():
    assert "tensorflow_cpu" not in TESTED and "tensorflow-cpu" not in TESTED
