"""What happens to text before any subword model sees it, in Python and in a graph.

Both sides do the same: bytes that are not UTF-8, characters that separate lines and
those that control devices become spaces. (nmt_nfkc of SentencePiece deletes
some of them, such as the vertical tab, which would glue two words into one.)
"""

import re

import tensorflow as tf

SEPARATORS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd"  # U+FFFD: what was no UTF-8
_SEPARATORS = re.compile(f"[{SEPARATORS}]")


def clean_text(text):
    """Returns a str with separators and lone surrogates as spaces.

    Example:

    >>> clean_text("a\\x0bb\\u2028c")
    'a b c'
    """
    return _SEPARATORS.sub(" ", to_bytes(text).decode("utf-8", errors="replace"))


def clean_texts(texts):
    """The same for a tf.string tensor of any shape, in a graph."""
    return tf.strings.regex_replace(valid_utf8(texts), f"[{SEPARATORS}]", " ")


def valid_utf8(texts):
    """Replaces what is not UTF-8 by U+FFFD in a tf.string tensor of any shape."""
    return tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")


def to_bytes(text):
    """Encodes a str that may hold lone surrogates; bytes stay as they are."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
