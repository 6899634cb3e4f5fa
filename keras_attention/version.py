"""The version of the package, where every room and the packaging find it."""

__version__ = "0.1.0"
