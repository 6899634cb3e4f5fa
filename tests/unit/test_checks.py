"""Every check accepts its range, ends included where it says so, and nothing else."""

import math

import pytest

from keras_attention.checks import (
    check_boolean,
    check_choice,
    check_integer,
    check_number,
)


@pytest.mark.parametrize("value", [1, 2, 10**9])
def test_integers_pass_through(value):
    assert check_integer("size", value) == value


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_what_is_no_positive_integer_is_refused(value):
    with pytest.raises(ValueError, match=r"`size` must be an integer of at least 1"):
        check_integer("size", value)


def test_the_minimum_itself_is_allowed():
    assert check_integer("seed", 0, minimum=0) == 0
    with pytest.raises(ValueError, match="at least 5. Received: seed=4. Pass"):
        check_integer("seed", 4, minimum=5)


def test_the_maximum_itself_is_allowed():
    assert check_integer("seed", 9, maximum=9) == 9
    with pytest.raises(ValueError, match="at least 1 and at most 9. Received: seed=10"):
        check_integer("seed", 10, maximum=9)


def test_none_is_allowed_only_where_optional():
    assert check_integer("size", None, optional=True) is None
    assert check_number("rate", None, optional=True) is None
    with pytest.raises(ValueError, match="`rate`"):
        check_number("rate", None)


@pytest.mark.parametrize("value", [0, 0.0, 0.5, 0.999])
def test_numbers_of_a_half_open_range_pass_through(value):
    assert check_number("rate", value, high=1.0) == value


@pytest.mark.parametrize("value", [-0.1, 1, 1.0, math.nan, math.inf, "0.5", True])
def test_numbers_outside_are_refused(value):
    with pytest.raises(ValueError, match=r"at least 0.0 and below 1.0. Received: rate"):
        check_number("rate", value, high=1.0)


@pytest.mark.parametrize("value", [0, 0.0, -1, math.inf])
def test_an_open_range_leaves_its_end_out(value):
    with pytest.raises(ValueError, match=r"a finite number above 0.0\. Received"):
        check_number("norm", value, open_low=True)


def test_choices_and_booleans():
    assert check_choice("layout", "a", ("a", "b")) == "a"
    assert check_boolean("flag", True) is True
    with pytest.raises(ValueError, match="`layout` must be one of a, b. Received"):
        check_choice("layout", "c", ("a", "b"))
    with pytest.raises(ValueError, match="`flag` must be True or False. Received"):
        check_boolean("flag", 1)
