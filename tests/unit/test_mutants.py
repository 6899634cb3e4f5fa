"""The mistakes that are drawn: in code that runs, one at a time, the same each time."""

import pathlib

import pytest

from tests.mutation.__main__ import tests_of as stages
from tests.mutation.fixed import FIXED, fixed_mutants
from tests.mutation.mutants import Mutant, draw, sites

SOURCE = '''"""A docstring with 1 < 2."""
import logging


def f(x: int = 3, *, deep=True) -> bool:
    """Not 1 + 1."""
    if x < 4 and not deep:
        raise ValueError(f"{x + 1} is 2")
    logging.warning("%d", x + 5)
    return "ä" + str(x), x * 2
'''
EXPECTED = {
    ("3", "(4)"),
    ("True", "(False)"),
    ("x < 4 and not deep", "(x < 4 or not deep)"),
    ("x < 4", "(x <= 4)"),
    ("4", "(5)"),
    ("not deep", "(deep)"),
    ("x * 2", "(x / 2)"),
    ("2", "(3)"),
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "keras_attention" / "ops").mkdir(parents=True)
    (tmp_path / "keras_attention" / "ops" / "a.py").write_text(SOURCE, "utf-8")
    return tmp_path


def test_what_a_test_could_see_is_exchanged(root):
    path = root / "keras_attention" / "ops" / "a.py"
    found = sites(path, root)
    assert {(each.before, each.after) for each in found} == EXPECTED
    for each in found:
        old = each.apply(root)
        compile(path.read_text("utf-8"), "a.py", "exec")
        assert path.read_bytes() != old == SOURCE.encode()
        path.write_bytes(old)


def test_the_same_seed_draws_the_same(root):
    drawn = draw(root, 4, 7, ["ops"])
    assert drawn == draw(root, 4, 7, ["ops"])
    assert len({each.line for each in drawn}) == len(drawn) == 3  # lines with a site


def test_a_tree_that_has_changed_is_refused(root):
    stale = Mutant("keras_attention/ops/a.py", 1, 0, 3, "abc", "(d)")
    with pytest.raises(ValueError, match="line 1: expected 'abc'. Received"):
        stale.apply(root)


def test_the_fixed_list_is_that_of_the_source(repository, root):
    found = fixed_mutants(repository)
    assert len(found) == len(FIXED)
    with pytest.raises((ValueError, FileNotFoundError)):
        fixed_mutants(root)


def test_the_nearest_tests_come_first(repository):
    mutant = Mutant("keras_attention/ops/masks.py", 1, 0, 1, "a", "b")
    assert stages(mutant) == (
        ["tests/unit/ops/test_masks.py"],
        ["tests/conformance/test_table.py", "tests/unit/ops"],
    )
    alone = Mutant("keras_attention/config.py", 1, 0, 1, "a", "b")
    assert stages(alone) == (["tests/unit/test_config.py"], [])
    for _, paths in (stages(mutant), stages(alone)):
        assert all(pathlib.Path(repository, path).exists() for path in paths)
