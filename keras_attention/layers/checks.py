"""Checks of constructor arguments that the layers share."""


def check_size(name, value, optional=False):
    """Raises a `ValueError` unless `value` is a positive integer (or None)."""
    if optional and value is None:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(
            f"`{name}` must be a positive integer. Received: {name}={value!r}."
        )
    return value


def check_rate(name, value):
    """Raises a `ValueError` unless `value` is a number in [0, 1)."""
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number of at least 0 and below 1, the share of "
            f"activations that is dropped. Received: {name}={value!r}."
        )
    return value


def check_epsilon(name, value):
    """Raises a `ValueError` unless `value` is a positive finite number."""
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong or not 0 < value < float("inf"):
        raise ValueError(
            f"`{name}` must be a positive finite number. Received: {name}={value!r}."
        )
    return value


def check_choice(name, value, choices):
    """Raises a `ValueError` unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {', '.join(choices)}. Received: {name}={value!r}."
        )
    return value
