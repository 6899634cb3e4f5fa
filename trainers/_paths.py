"""Checks of the files and directories that flags name, before anything is done."""

import contextlib
import gzip
import os
import pathlib
import zlib


def readable(path, what):
    """Returns `path` if it is a file that can be read."""
    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{what}: no such file: {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{what}: a file was expected, not a directory: {path}")
    if path.is_file():
        opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
        with naming_damage(path, what), opened as stream:
            stream.read(1)
    elif not os.access(path, os.R_OK):  # what is read from a pipe is gone
        raise PermissionError(f"{what}: cannot read {path}")
    return path


@contextlib.contextmanager
def naming_damage(path, what):
    """Names the file when reading it in the block finds damaged gzip."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(f"{what}: {path} is no whole gzip file: {error}") from error


def existing_run(path, what, *needed):
    """Returns `path` if it is the directory of a run that holds what is needed."""
    directory = pathlib.Path(path)
    if not directory.is_dir():
        raise FileNotFoundError(f"{what}: no such directory: {directory}")
    for name in ("config.json", *needed):
        if not (directory / name).exists():
            raise FileNotFoundError(
                f"{what}: {directory} holds no {name}; train a model there first"
            )
    return directory


def existing_directory(path, what):
    """Returns `path` if it is a directory."""
    directory = pathlib.Path(path)
    if not directory.is_dir():
        raise FileNotFoundError(f"{what}: no such directory: {directory}")
    return directory


def writable_directory(path, what="--workdir"):
    """Returns `path` as a directory that exists and can be written to."""
    path = pathlib.Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"{what}: cannot make {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(f"{what}: cannot write to {path}")
    return path


def new_directory(path, what):
    """Returns `path` if it is free and the directory above it can be made."""
    path = pathlib.Path(path)
    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{what}: {path} exists; name another folder")
    writable_directory(path.parent, what)
    return path


def new_file(path, what, source=None):
    """Returns `path`, links resolved, if a file can be written there; makes nothing.

    It may not be the file that is read: `source`, or stdin when that is None.
    """
    path = pathlib.Path(path).resolve()
    read = os.fstat(0) if source is None else os.stat(source)
    if path.is_file() and os.path.samestat(read, path.stat()):
        raise ValueError(f"{what}: {path} is the input itself; name another file")
    if path.is_dir():
        raise IsADirectoryError(f"{what}: a file was expected, not a directory: {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{what}: cannot write {path}: no such directory")
    needed = [path.parent] if path.is_file() or not path.exists() else []
    for place in [*needed, path] if path.exists() else needed:
        if not os.access(place, os.W_OK):
            raise PermissionError(f"{what}: cannot write {path}: permission denied")
    return path
