"""Checks of values that people pass: configurations, layers and objectives share them.

Each returns the value, or raises a `ValueError` that says what was expected, what was
received and how to mend it.
"""

import math


def _fail(name, expected, value):
    raise ValueError(
        f"`{name}` must be {expected}. Received: {name}={value!r}. "
        f"Pass a value of that kind, or leave `{name}` out for the default."
    )


def check_integer(name, value, minimum=1, maximum=math.inf, optional=False):
    """Checks for an integer in [minimum, maximum] (or None, if `optional`).

    Example:

    >>> check_integer("num_heads", 8)
    8
    """
    if optional and value is None:
        return value
    wrong = isinstance(value, bool) or not isinstance(value, int)
    if wrong or not minimum <= value <= maximum:
        most = "" if maximum == math.inf else f" and at most {maximum}"
        _fail(name, f"an integer of at least {minimum}{most}", value)
    return value


def check_number(name, value, low=0.0, high=math.inf, open_low=False, optional=False):
    """Checks for a number in [low, high), or in (low, high) if `open_low`.

    Example:

    >>> check_number("dropout_rate", 0.1, high=1.0)
    0.1
    """
    if optional and value is None:
        return value
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong or not low <= value < high or (open_low and value == low):
        above = "above" if open_low else "of at least"
        below = "" if high == math.inf else f" and below {high}"
        _fail(name, f"a finite number {above} {low}{below}", value)
    return value


def check_choice(name, value, choices):
    """Checks for one of `choices`.

    Example:

    >>> check_choice("norm_position", "post", ("post", "pre"))
    'post'
    """
    if value not in choices:
        _fail(name, f"one of {', '.join(choices)}", value)
    return value


def check_boolean(name, value):
    """Checks for True or False.

    Example:

    >>> check_boolean("use_bias", False)
    False
    """
    if not isinstance(value, bool):
        _fail(name, "True or False", value)
    return value


def check_chunks(chunk_length, window, dropout_rate):
    """Checks that attention in chunks is asked for alone; returns `chunk_length`.

    Example:

    >>> check_chunks(512, window=None, dropout_rate=0.0)
    512
    """
    if chunk_length is not None and (window is not None or dropout_rate):
        raise ValueError(
            "Attention in chunks of keys has no weights to drop out, and a window "
            "needs no chunks. Expected: a chunk length without a window and an "
            f"attention dropout rate of 0. Received: chunk length {chunk_length}, "
            f"window {window}, attention dropout rate {dropout_rate}."
        )
    return chunk_length
