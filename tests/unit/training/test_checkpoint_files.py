import numpy as np
import pytest

from keras_attention.training.checkpoint_files import (
    checkpoint_step,
    has_checkpoints,
    list_checkpoints,
    read_weights,
)
from tests.unit.training.points import KINDS, damage, write


def test_sorts_by_number_and_keeps_the_last(saved):
    names = [path.name for path in list_checkpoints(saved[0])]
    assert names == ["step-9", "step-10", "step-11"]
    assert [checkpoint_step(name) for name in names] == [9, 10, 11]


@pytest.mark.parametrize("name", ["step-3", "damaged-step-3"])
def test_damaged_checkpoints_are_checkpoints(tmp_path, name):
    assert not has_checkpoints(tmp_path)
    (tmp_path / name).mkdir()
    assert has_checkpoints(tmp_path)


@pytest.mark.parametrize("kind", KINDS[:-1])  # that bit is not one of a weight
def test_weights_of_a_damaged_checkpoint_are_an_error_that_names_it(saved, kind):
    damage(saved[0] / "step-9", kind)
    with pytest.raises(ValueError, match="step-9, which is missing or damaged"):
        read_weights(saved[0] / "step-9")


def test_weights_keep_their_order_past_ten(tmp_path):
    path = write(tmp_path, 1, [np.full((1,), i, "float32") for i in range(12)])
    assert [int(v[0]) for v in read_weights(path).values()] == list(range(12))
