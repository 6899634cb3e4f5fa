"""Rooms stay small enough to be read at once."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_FILE, MAX_BODY, MAX_BINARY = 300, 60, 80
SOURCES = sorted(
    path.relative_to(ROOT)
    for folder in ("keras_attention", "trainers", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)


def body_lines(function):
    """Lines of a function without its signature's first line and its docstring."""
    first = function.body[0]
    doc = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno - doc


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_files_and_bodies(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    binary = path.parts[0] == "trainers" and not path.name.startswith("_")
    limit = MAX_BINARY if binary else MAX_FILE
    assert text.count("\n") <= limit
    long = [
        f"{path}:{node.lineno}: {node.name} has {body_lines(node)} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and body_lines(node) > MAX_BODY
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_assert_and_no_swallowed_exception(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.ExceptHandler) and node.type is None)
    ]
    assert not found, f"{path}: lines {found}"


def test_the_test_tree_has_no_packages():
    assert not list((ROOT / "tests").rglob("__init__.py"))
