"""What exports share: folders that are finished under another name, and a check."""

import contextlib
import pathlib
import shutil
import uuid

from keras_attention.decoding.translator import Translator
from keras_attention.files import flush_to_disk


@contextlib.contextmanager
def unfinished_folder(directory):
    """Yields a new folder inside `directory`; removes what is left of it.

    Its name is hidden and no number, so no server takes it for a model. Rename the
    finished folder before the block ends.

    Example:

    >>> import pathlib, tempfile
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> with unfinished_folder(home) as folder:
    ...     _ = (folder / "model").write_text("whole")
    ...     _ = folder.rename(home / "1")
    >>> [path.name for path in home.iterdir()]
    ['1']
    """
    # With the umask of the user: a server is another one, whom mkdtemp would lock out.
    folder = pathlib.Path(directory) / f".unfinished-{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def flush_folder(folder):
    """Waits until the disk holds every file, so that a crash cannot halve one.

    TensorFlow makes folders that no group may write to; the umask decides here too.
    """
    for path in (*folder.rglob("*"), folder):
        if path.is_dir():
            path.chmod(folder.stat().st_mode)
        flush_to_disk(path)


def check_translator(translator):
    """Raises a ValueError unless it is a `Translator`."""
    if not isinstance(translator, Translator):
        raise ValueError(
            f"`translator` must be a keras_attention.Translator. Received: "
            f"{translator!r}. Make one of a model, a tokenizer and a DecodingConfig."
        )
