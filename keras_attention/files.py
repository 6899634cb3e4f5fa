"""Files that are whole or absent, whatever happens while they are written."""

import contextlib
import os
import pathlib
import re
import shutil

_TEMPORARY = re.compile(r"\.tmp-(\d+)(-.*)?")  # the number is that of its process


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


def delete_leftovers(directory):
    """Deletes the `.tmp-*` that processes left in a directory when they were killed.

    What a living process of this machine is writing stays.
    """
    for path in pathlib.Path(directory).glob(".tmp-*"):
        owner = _TEMPORARY.fullmatch(path.name)
        if owner and _is_another_process(int(owner.group(1))):
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _is_another_process(number):
    if number == os.getpid():  # in a container every start gets the same number
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
