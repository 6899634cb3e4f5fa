"""What the workers that are not the chief have where the chief writes: nothing."""

import contextlib


class _Nothing(contextlib.nullcontext):
    def __bool__(self):
        return False


class Mute:
    """Stands in for a log, whatever is to be written to it.

    Every method may be called with anything. What it gives is false, and a context
    in which nothing happens.

    Example:

    >>> bool(Mute().is_due())
    False
    """

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: _Nothing()
