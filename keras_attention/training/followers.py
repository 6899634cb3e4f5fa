"""What the workers that are not the chief do where the chief writes: nothing."""

import contextlib


class Mute:
    """Stands in for a log, whatever is to be written to it.

    Every method may be called with anything; what it returns may be entered.

    Example:

    >>> with Mute().update(3):
    ...     Mute().write({"kind": "train"})
    <contextlib.nullcontext ...>
    """

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: contextlib.nullcontext()
