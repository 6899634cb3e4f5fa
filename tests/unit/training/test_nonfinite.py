"""The first bad update, its batch and its lines are named, wherever it is found."""

import types

import numpy as np
import pytest

from keras_attention.training.checkpoints import RunState
from keras_attention.training.nonfinite import check_finite, place_of_update


class Batches:
    """Three batches an epoch, of two pairs each."""

    encoded = types.SimpleNamespace(line_numbers=lambda rows: np.array(rows) + 101)

    def plan(self, epoch):
        return [
            ([10 * epoch + 2 * i + 1, 10 * epoch + 2 * i], (2, 8)) for i in (0, 1, 2)
        ]


@pytest.mark.parametrize(
    ("state", "step", "place"),
    [
        ((3, 0, 3), 3, (0, 2)),
        ((3, 0, 3), 1, (0, 0)),
        ((8, 2, 2), 8, (2, 1)),
        ((8, 2, 2), 7, (2, 0)),
        ((8, 2, 2), 6, (1, 2)),  # the epoch before
        ((8, 2, 2), 3, (0, 2)),  # and the one before that
        ((6, 2, 0), 6, (1, 2)),
    ],
)
def test_an_update_is_traced_to_its_batch(state, step, place):
    step_now, epoch, batch = state
    now = RunState(step=step_now, epoch=epoch, batch=batch)
    assert place_of_update(Batches(), now, step) == place


def parts_of(bad, directory, weights=()):
    return types.SimpleNamespace(
        steps=types.SimpleNamespace(first_bad_step=lambda: bad),
        state=RunState(step=8, epoch=2, batch=2),
        batches=Batches(),
        model=types.SimpleNamespace(weights=weights),
        metrics_log=[],
        checkpoints=types.SimpleNamespace(directory=directory),
    )


def check(parts, **options):
    records = []
    parts.metrics_log = types.SimpleNamespace(write=records.append)
    with pytest.raises(FloatingPointError) as caught:
        check_finite(parts, lambda update: 0.001 * update, **options)
    return str(caught.value), records


def test_the_message_names_update_rate_batch_pairs_and_checkpoint(tmp_path):
    (tmp_path / "step-2").mkdir()
    (tmp_path / "step-3").mkdir()
    message, records = check(parts_of(6, tmp_path))
    for part in (
        "not finite since update 6 (learning rate 0.005)",
        "batch 2 of epoch 1, with the pairs 115, 116 of the training text",
        f"last good checkpoint: {tmp_path / 'step-3'}.",
    ):
        assert part in message
    place = {"step": 6, "epoch": 1, "batch": 2, "pairs": [115, 116]}
    assert records == [{"kind": "not_finite", **place}]


def test_many_pairs_are_all_recorded_and_some_shown(tmp_path):
    parts = parts_of(8, tmp_path)
    parts.batches.plan = lambda epoch: [(list(range(30)), (30, 8))] * 3
    message, records = check(parts)
    assert "120 and 10 more (all in metrics.jsonl)" in message and "121" not in message
    assert records[0]["pairs"] == list(range(101, 131))
    assert "checkpoint: none" in message


def test_weights_are_looked_at_when_asked(tmp_path):
    weights = [types.SimpleNamespace(value=np.array(v)) for v in ([1.0], [np.nan])]
    parts = parts_of(None, tmp_path, weights)
    check_finite(parts, None)
    message, _ = check(parts, weights=True)
    assert "since update 8" in message
    parts.model.weights = weights[:1]
    check_finite(parts, None, weights=True)
