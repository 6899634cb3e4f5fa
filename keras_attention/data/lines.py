"""Lines of text files, a block at a time, so that a file may exceed the memory.

Every reader of the package counts lines in the same way: only a line feed ends a
line. `str.splitlines` and text mode also split at U+2028, U+0085, form feeds and
lone carriage returns, which shifts one side of a corpus against the other.
"""

import gzip
import hashlib
import os
import zlib
from typing import NamedTuple

BLOCK_BYTES = 1 << 20
# A few megabytes of gzip can unpack to terabytes without a line feed.
MOST_LINE_BYTES = 1 << 28
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FileFacts(NamedTuple):
    """What one pass over the bytes of a text file finds.

    Args:
        lines: number of lines, as `read_lines` counts them.
        sha256: of the text as bytes, unpacked if the file is gzip.
    """

    lines: int
    sha256: str


def read_lines(path):
    """Reads a text file, plain or gzip (by its `.gz` name), as a list of lines.

    Only LF ends a line. A CR directly before it is dropped; any other CR becomes a
    space, so the words at its sides stay two words. Bytes that are not valid UTF-8
    become U+FFFD. A last line without LF counts; a byte order mark at the start of
    the file is dropped.

    Args:
        path: str or path-like.

    Returns:
        list of str, without line ends.

    Raises:
        ValueError: the file is missing, unreadable or damaged, or a line has more than
            256 MiB; the path is named.
    """
    return list(iterate_lines(path))


def iterate_lines(path):
    """Reads the lines of `read_lines` one after the other, in little memory.

    Args:
        path: str or path-like.

    Returns:
        Iterator over str.

    Raises:
        ValueError: as `read_lines`, when the iterator gets there.
    """
    parts, start, size = [], _BYTE_ORDER_MARK, 0
    for block in _byte_blocks(path):
        cut = block.rfind(b"\n") + 1
        if cut:
            text = b"".join([*parts, block[:cut]]).removeprefix(start)
            yield from _split(text)
            parts, start, size = [], b"", 0
        parts.append(block[cut:])
        size += len(parts[-1])
        if size > MOST_LINE_BYTES:
            raise ValueError(
                f"Expected lines of at most {MOST_LINE_BYTES} bytes. Received: "
                f"{os.fspath(path)} with a longer one. Is it text, with line feeds?"
            )
    rest = b"".join(parts).removeprefix(start)
    if rest:
        yield from _split(rest + b"\n")


def scan_file(path):
    """Returns the `FileFacts` of a text file; raises as `read_lines`.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "text"
    >>> _ = path.write_text("a\\nb")
    >>> scan_file(path).lines
    2
    """
    digest = hashlib.sha256()
    lines, size, last = 0, 0, b""
    for block in _byte_blocks(path):
        digest.update(block)
        lines += block.count(b"\n")
        # A byte order mark alone is no line, whatever the blocks it comes in.
        size, last = size + len(block), (last + block)[-3:]
    unended = size > 0 and not last.endswith(b"\n")
    if size == 3 and last == _BYTE_ORDER_MARK:
        unended = False
    return FileFacts(lines + unended, digest.hexdigest())


def _split(text):
    """Bytes that end with LF -> list of lines."""
    text = text.decode("utf-8", errors="replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    lines = text.split("\n")
    lines.pop()
    return lines


def _byte_blocks(path):
    path = os.fspath(path)
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            while block := file.read(BLOCK_BYTES):
                yield block
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"Cannot read the text file {path}: {reason}. "
            "Expected a readable UTF-8 text file, gzip if it is named .gz."
        ) from error
