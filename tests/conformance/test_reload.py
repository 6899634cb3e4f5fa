"""`.keras` files and serialised objects come back in a fresh process."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

from tests.conformance import table
from tests.conformance.harness import array, call, functional, make, run

NAMED = dict(name="x1", dtype="mixed_float16")


def save(case, path, **extra):
    """Writes the object and its inputs; returns its output."""
    made = make(case, **extra)
    np.savez(path.with_suffix(".inputs.npz"), **case.inputs)
    if case in table.OBJECTIVES:
        saved = keras.saving.serialize_keras_object(made)
        path.with_suffix(".json").write_text(json.dumps(saved))
        return array(call(case, made))
    model = made if case in table.MODELS else functional(case, made)
    model.save(path.with_suffix(".keras"))
    return run(case, model)


@pytest.fixture(scope="module")
def reloaded(tmp_path_factory, repository):
    """(name, policy) -> (output before, output after); one process loads all."""
    folder = tmp_path_factory.mktemp("saved")
    before = {}
    for case in table.CASES:
        before[case.id] = save(case, folder / case.id)
        if case not in table.OBJECTIVES:
            name = f"{case.id}_mixed"
            before[name] = save(case, folder / name, **NAMED)
    done = subprocess.run(
        [sys.executable, "-m", "tests.conformance.reload", str(folder)],
        cwd=repository,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return {
        name: (output, np.load((folder / name).with_suffix(".output.npy")))
        for name, output in before.items()
    }


@pytest.mark.parametrize("case", table.CASES, ids=lambda case: case.id)
def test_outputs_are_the_same_after_a_reload(case, reloaded):
    before, after = reloaded[case.id]
    np.testing.assert_allclose(after, before, atol=1e-6)


@pytest.mark.parametrize(
    "case", [*table.LAYERS, *table.MODELS], ids=lambda case: case.id
)
def test_name_and_policy_survive_too(case, reloaded):
    before, after = reloaded[f"{case.id}_mixed"]
    np.testing.assert_allclose(after, before, atol=1e-6)
