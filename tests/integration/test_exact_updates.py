"""One update is one update: replicas, micro-batches, ragged batches, both doors.

Each trap of Keras that design lists has a test that fails when we fall into it:

- the mean of the replicas' means: `test_four_tokens_of_loss_1_and_one_of_loss_5`;
- replicas of different shapes, whose sum fails: `test_own_arrays_are_exact`;
- the empty step after finite data: the counts of updates in `test_the_table`;
- an update inside a condition of one replica: `test_no_update_changes_nothing`;
- metrics of other keys, averaged by replica: the keys in `test_own_arrays_are_exact`;
- `test_step`, which doubles an unreduced loss: the evaluation in `test_the_table`;
- `global_clipnorm`, which acts before the sum: `test_clipping_is_that_of_the_sum` and
  `test_what_cannot_be_exact_is_refused`;
- the finiteness of the first replica alone: the same test;
- dropout generators that no format of Keras saves:
  `test_restores_weights_optimizer_generators_and_state` in
  tests/unit/training/test_checkpoints.py and tests/integration/test_resume.py.
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.integration.exact_updates import CLIPPING, PAIRS, PART, WHOLE

# An element near 0 has few right digits left in float32, whatever computes it: the
# unit in the last place of the largest weight is what sums in another order differ by.
LIMITS = {"sgd": 1e-6, "adam": 1e-5, "halved": 1e-6}


def results_of(size, folder, repository):
    path = folder / f"{size}.pickle"
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.exact_updates", size, str(path)],
        cwd=repository,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return pickle.loads(path.read_bytes())


@pytest.fixture(scope="module")
def part(tmp_path_factory, repository):
    """What the program gave for a part of the table, and beside it; it runs once."""
    return results_of("part", tmp_path_factory.mktemp("part"), repository)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, repository):
    """What it gave for the whole table, and for arrays of a user's own."""
    return results_of("whole", tmp_path_factory.mktemp("whole"), repository)


def difference(one, other):
    """Largest difference of two lists of weights, relative to each one's largest."""
    pairs = zip(one, other, strict=True)
    return max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs)


def assert_same(one, other, limit=1e-6):
    assert difference(one["weights"], other["weights"]) <= limit
    for figures in ("trained", "evaluated"):
        assert one[figures] == pytest.approx(other[figures], rel=1e-6)
        assert one[figures].keys() == other[figures].keys()
    assert one["updates"] == other["updates"]
    assert one.get("rates") == other.get("rates")


def assert_moved(result, rule):
    moves = [
        np.abs(a - b).max()
        for a, b in zip(result["start"], result["weights"], strict=True)
    ]
    assert max(moves) > (0.1 if rule == "sgd" else 1e-3)
    assert min(moves) > 1e-4, "a weight that does not move proves nothing"


def check_table(table, combinations):
    first = {combination[-1]: combination for combination in reversed(combinations)}
    for combination in combinations:
        rule = combination[-1]
        for kind in PAIRS:
            result, expected = table[*combination, kind], table[*first[rule], kind]
            assert_moved(expected, rule)
            assert result["updates"] == len(result["rates"]) == 5
            assert_same(result, expected, LIMITS[rule])


def test_four_tokens_of_loss_1_and_one_of_loss_5(part):
    # Averaging by replica would give w = -2.0 and a loss of 3.0.
    for w, loss in part["line"]:
        assert (w, loss) == pytest.approx((-0.8, 1.8), rel=1e-6)


def test_the_table(part):
    check_table(part["table"], [c for c in PART if c[-1] == "sgd"])


@pytest.mark.slow
def test_the_whole_table(whole):
    check_table(whole["table"], WHOLE)
    rates = whole["table"][1, 1, "steps", "adam", "full"]["rates"]
    assert len(set(rates)) > 2 and max(rates) == pytest.approx(1e-3, rel=0.01)


@pytest.mark.parametrize("kind", PAIRS)
def test_the_table_would_see_half_a_gradient(part, kind):
    table = part["table"]
    halved = table[1, 1, "steps", "halved", kind]
    right = table[1, 1, "fit", "sgd", kind]
    assert difference(halved["weights"], right["weights"]) > 1e-3
    with pytest.raises(AssertionError):
        assert_same(halved, right)


@pytest.mark.slow
def test_clipping_is_that_of_the_sum(whole):
    moves, norm = whole["free"]
    assert np.sqrt(sum((m**2).sum() for m in moves)) == pytest.approx(norm, rel=1e-5)
    assert norm > 0.2
    clipped, told = whole["clipped"]
    assert told == pytest.approx(norm, rel=1e-5)
    for move, free in zip(clipped, moves, strict=True):
        np.testing.assert_allclose(move, free * (0.1 / norm), rtol=1e-4, atol=1e-7)


@pytest.mark.slow
def test_own_arrays_are_exact(whole):
    for one, two in whole["own"].values():
        assert_same(two, one)
        assert one["updates"] == 3
        assert two["keys"] == ["loss", "nll", "perplexity", "token_accuracy"]


@pytest.mark.slow
def test_no_update_changes_nothing(whole):
    (one, bad), (two, also_bad) = whole["overflow"]
    assert bad is also_bad is None, "a finite loss ends no run"
    for seen in (one, two):
        first, overflown, padding, last = seen
        assert [s["updates"] for s in seen] == [1, 1, 1, 2]
        assert first["rate"] == overflown["rate"] == padding["rate"] < last["rate"]
        assert overflown["scale"] == last["scale"] == first["scale"] / 2
        for skipped in (overflown, padding):
            for before, after in zip(first["state"], skipped["state"], strict=True):
                np.testing.assert_array_equal(before, after)
    for a, b in zip(one[-1]["state"], two[-1]["state"], strict=True):
        np.testing.assert_allclose(a, b, rtol=0.02, atol=1e-3)


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("fit", "`fit` of Keras .*many workers.*Received.*trainers.train_translation"),
        ("evaluate", "`evaluate` of Keras .*many workers.*training.run.train"),
        ("jit", "one replica only.*Received: jit_compile=True.*replicas=2"),
        ("many", "one replica only.*steps_per_execution=2, replicas=2"),
        *(
            (name, f"`gradient_clip_norm` instead.*Received: {name}=1.0")
            for name in CLIPPING
        ),
    ],
)
def test_what_cannot_be_exact_is_refused(part, what, pattern):
    assert part["refused"][what] is not None, "it was not refused"
    with pytest.raises(ValueError, match=pattern):
        raise ValueError(part["refused"][what])
