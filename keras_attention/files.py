"""Files that are whole or absent, and damage that is found when they are read."""

import contextlib
import json
import math
import os
import pathlib
import re
import shutil

_DEEPEST = 50  # levels of a JSON object; the package writes no more than six
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMES = {list: "a list", str: "a text", int: "a number", float: "a number"}
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


def parse_object(content, finite=True):
    """Returns the JSON object that a file of the package holds, as a dictionary.

    Stricter than `json.loads`, so that nothing comes of damage that only fails, or
    says something else, when it is used.

    Args:
        content: bytes of the file, in UTF-8, UTF-16 or UTF-32, or a str.
        finite: False lets NaN and Infinity be numbers.

    Raises:
        ValueError: no JSON, no object, a key twice, a lone surrogate, a number that
            float64 or int64 does not hold, or more than 50 levels. It says what was
            received; the caller says in which file, and how to mend it.

    Example:

    >>> parse_object(b'{"step": 3}')
    {'step': 3}
    >>> parse_object(b'{"step": 3, "step": 4}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'step' twice
    """
    try:
        found = json.loads(content, object_pairs_hook=_without_doubles)
    except UnicodeDecodeError as error:
        raise ValueError(f"no Unicode text ({error.reason})") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"no JSON ({error.msg}, {where})") from error
    except RecursionError as error:
        raise ValueError("lists or objects too deep in each other") from error
    if not isinstance(found, dict):
        raise ValueError(f"{_NAMES.get(type(found), 'a value')} and no object")
    _check_values(found, finite)
    return found


def _without_doubles(pairs):
    values = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {key[:80]!r} twice")
        values[key] = value
    return values


def _check_values(found, finite):
    """Raises ValueError for a value that could not be used or written again."""
    waiting = [(found, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError("lists or objects too deep in each other")
        if isinstance(value, dict):
            waiting += [(key, depth) for key in value]
            value = list(value.values())
        if isinstance(value, list):
            waiting += [(child, depth + 1) for child in value]
        elif isinstance(value, str) and not _is_unicode(value):
            raise ValueError("a text with half a character (a lone surrogate)")
        elif isinstance(value, int) and value.bit_length() > 63:
            raise ValueError("a whole number of more than 64 bits")
        elif isinstance(value, float) and finite and not math.isfinite(value):
            raise ValueError(f"the number {value}")


def _is_unicode(text):
    return text.isascii() or not _SURROGATE.search(text)


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
