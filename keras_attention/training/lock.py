"""One process trains in a workdir at a time, and a disk that fails it is named."""

import contextlib
import errno
import fcntl
import os
import pathlib
import platform
import warnings

import tensorflow as tf

LOCK = ".lock"
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextlib.contextmanager
def locked(workdir):
    """Holds a workdir against other processes that would train in it.

    The kernel releases the lock when its holder ends, however it ends. Readers
    (averaging, evaluation, translation) need no lock: what they read is whole.

    Args:
        workdir: directory of the run.

    Raises:
        BlockingIOError: another process, which is named, trains in it.
    """
    with open(pathlib.Path(workdir) / LOCK, "a+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            stream.seek(0)
            raise BlockingIOError(
                "Expected a workdir that no other process trains in. Received: "
                f"{workdir}, in use by {stream.read().strip() or 'another process'}. "
                "Wait for its end, or take another workdir."
            ) from error
        except OSError as error:  # some network file systems know no locks
            warnings.warn(
                f"{workdir} cannot be locked ({error.strerror}): take care that no "
                "other process trains in it.",
                stacklevel=3,
            )
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {platform.node()}\n")
        stream.flush()
        yield


@contextlib.contextmanager
def naming_disk_errors(workdir):
    """Turns what a full or broken disk makes fail in the block into one OSError.

    Args:
        workdir: directory of the run, which the message names.

    Raises:
        OSError: nothing could be written any more; whatever was whole before still is.
    """
    try:
        yield
    except (OSError, tf.errors.OpError) as error:
        reason = _disk_error(error)
        if reason is None:
            raise
        raise OSError(
            f"Cannot write to {workdir}: {reason}. What was saved before is whole; "
            "once there is room, the same command goes on from the last checkpoint."
        ) from error


def _disk_error(error):
    # TensorFlow, h5py and our own messages carry the system's words in their text.
    for code in _DISK_ERRORS:
        if getattr(error, "errno", None) == code or os.strerror(code) in str(error):
            return os.strerror(code)
    return None
