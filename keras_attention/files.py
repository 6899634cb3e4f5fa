"""Files that are whole or absent, whatever happens while they are written."""

import contextlib
import os
import pathlib


def flush_to_disk(path):
    """Waits until the disk holds a file, or the names in a directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def replacing(path):
    """Gives a path to write to, which then takes the place of `path` in one step.

    Nothing is replaced when the block raises.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> path.read_text()
    'whole'
    """
    path = pathlib.Path(path)
    temporary = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    try:
        yield temporary
        flush_to_disk(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path, content):
    """Writes text (as UTF-8) or bytes to a file that is either whole or absent."""
    content = content.encode() if isinstance(content, str) else content
    with replacing(path) as temporary:
        temporary.write_bytes(content)
