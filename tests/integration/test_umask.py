"""The umask of the user decides who may read and write what a run leaves behind."""

import os

import pytest

from tests.integration.small_runs import small_run


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o002, 0o077], ids=oct)
def test_a_workdir_is_made_with_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        small_run(tmp_path / "run", max_steps=4)
    finally:
        os.umask(before)
    found = [tmp_path / "run", *(tmp_path / "run").rglob("*")]
    assert {"model.keras", "config.json", "checkpoints"} <= {x.name for x in found}
    wrong = {
        str(path.relative_to(tmp_path)): oct(path.stat().st_mode & 0o777)
        for path in found
        if path.stat().st_mode & 0o777 != (0o777 if path.is_dir() else 0o666) & ~umask
    }
    assert wrong == {}
