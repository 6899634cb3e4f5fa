"""Two replicas give the update of one."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="module")
def results(repository):
    """What the program printed; it runs once."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.models.two_replicas"],
        cwd=repository,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def assert_same(first, second):
    assert first["updates"] == second["updates"]
    assert first["metrics"] == pytest.approx(second["metrics"], rel=1e-5)
    for a, b in zip(first["weights"], second["weights"], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_four_tokens_of_loss_1_and_one_of_loss_5(results):
    # Averaging by replica would give a loss of 3.0 and w = -2.0.
    for result in results["line"]:
        np.testing.assert_allclose(result["weights"], [-0.8], rtol=1e-6)
        np.testing.assert_allclose(result["metrics"]["loss"], 1.8, rtol=1e-6)


@pytest.mark.parametrize("case", ["transformer", "clipped", "fit"])
def test_two_replicas_equal_one(results, case):
    assert_same(*results[case])


@pytest.mark.parametrize("case", ["transformer", "clipped", "fit"])
def test_a_batch_of_padding_is_no_update(results, case):
    assert [result["updates"] for result in results[case]] == [5, 5]


def test_fit_equals_the_steps(results):
    for steps, fit in zip(results["transformer"], results["fit"], strict=True):
        for a, b in zip(steps["weights"], fit["weights"], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
        assert fit["history"] == pytest.approx(steps["metrics"], rel=1e-5)


def test_evaluate_is_the_same_on_both(results):
    one, two = results["fit"]
    assert one["evaluated"] == pytest.approx(two["evaluated"], rel=1e-5)
