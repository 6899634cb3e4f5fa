"""A plan behaves as the list of its batches."""

import numpy as np
import pytest

from keras_attention.data.plan import Plan

ORDER = np.array([4, 2, 0, 1, 3, 5, 6], np.uint32)
PLAN = Plan(ORDER, np.array([2, 0, 5]), np.array([1, 0, 1]), [(2, 9), (3, 12)])
LIST = [([0, 1, 3], (3, 12)), ([4, 2], (2, 9)), ([5, 6], (3, 12))]


def as_list(plan):
    return [(rows.tolist(), shape) for rows, shape in plan]


def test_batches():
    assert len(PLAN) == 3
    assert as_list(PLAN) == LIST
    assert as_list([PLAN[0], PLAN[-1]]) == [LIST[0], LIST[-1]]
    with pytest.raises(IndexError):
        PLAN[3]


@pytest.mark.parametrize("start", range(4))
def test_slices(start):
    part = PLAN[start:]
    assert isinstance(part, Plan)
    assert as_list(part) == LIST[start:]
    assert as_list(part) == LIST[start:]  # again from the front
