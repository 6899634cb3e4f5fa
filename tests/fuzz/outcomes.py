"""What a reader may do with a damaged file: answer rightly, or refuse it in words."""

import re
import traceback

ALLOWED = (
    *(ValueError, OSError, FileNotFoundError, IsADirectoryError),
    *(NotADirectoryError, PermissionError),
)
MOST_CHARACTERS = 2_000
_SAID = re.compile(
    "expect|must|needs?|takes? |can be |cannot read|is no ", re.IGNORECASE
)


def outcome(reader):
    """Reads; returns ("answered" or "refused: ...", "") or ("", what is wrong)."""
    try:
        answer = reader.read()
    except ALLOWED as error:
        return _refusal(error)
    except Exception as error:
        return "", _told(error)
    try:
        problem = reader.wrong(answer)
    except Exception as error:
        problem = f"an answer to what no independent reader reads, {_told(error)}"
    return ("", problem) if problem else ("answered", "")


def _told(error):
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = f"{type(error).__name__}: {error}"[:200]
    return f"{text} ({place.filename}:{place.lineno})"


def _refusal(error):
    name, text = type(error).__name__, str(error)
    if type(error) not in ALLOWED:
        return "", f"a {name} that nobody put into words: {text[:200]}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"refused: {name}", ""  # the system's own words, with the name
    if len(text) > MOST_CHARACTERS or "\n" in text.strip():
        return "", f"a message of {len(text)} characters in lines: {text[:200]!r}"
    if not _SAID.search(text):
        return "", f"a message that says nothing expected: {text[:200]!r}"
    return f"refused: {name}", ""
