"""Texts that people, programs and mischief send: bytes, or str with half characters.

`draw(seed)` returns the text of a seed, the same one on every machine.
"""

import random

from tests.fuzz.small import LINES

LONG = 1 << 20  # bytes of the longest lines
LONG_ONE_IN = 3_000
WORDS = [word for line in LINES for word in line.split()]
SPECIALS = (
    *("[PAD]", "[UNK]", "[START]", "[END]", "<s>", "</s>", "<unk>", "<pad>", "[CLS]"),
    *("\u2581", "\u2047", " \u2047 ", "<0x0A>", "##to", "\u2581to", "[END][END]"),
    *("\u2581[START]", "[PAD", "PAD]", "[end]", "\uff3bEND\uff3d", "<2de>", "|||"),
)
SPACES = " \t\u00a0\u1680\u2000\u2003\u2009\u200a\u202f\u205f\u3000\u200b\ufeff"
SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\x1f\r"
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
MARKS = "\u0300\u0301\u0323\u0345\u0483\u0591\u064b\u0e31\u0f71\u20d0\u3099\ufe20"
EMOJI = (
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764"),
    *("\U0001f44b\U0001f3fd", "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e007f"),
    *("\U0001f1e9", "\u200d", "\ufe0f", "\U0001f3fd"),
)
SCRIPTS = (
    *((0x41, 0x250), (0x370, 0x400), (0x400, 0x500), (0x590, 0x600), (0x600, 0x700)),
    *((0x900, 0x980), (0xE00, 0xE80), (0xF00, 0x1000), (0x1100, 0x1200)),
    *((0x3040, 0x3100), (0x4E00, 0x9FFF), (0xAC00, 0xD7A4), (0xFB00, 0xFE00)),
    *((0xFF00, 0xFFF0), (0x1D400, 0x1D800), (0x20000, 0x2A6D0), (0xE000, 0xF8FF)),
)
NOT_UTF8 = (
    *(b"\xff", b"\xfe", b"\x80", b"\xc0\xaf", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc3"),
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"),
    *(b"\xe0\x80\x80", b"\xef\xbb", b"\xef\xbb\xbf", b"\x00"),
)
# Compatibility characters that NFKC makes longer, and those that it reorders.
EXPANDING = "\ufdfa\ufdfb\u3300\u33a5\ufb03\u0390\u1e9b\u2126\u00bd\u2460"


def _words(source):
    return " ".join(source.choices(WORDS, k=source.randrange(1, 12)))


def _signs(signs):
    return lambda source: "".join(source.choices(signs, k=source.randrange(1, 20)))


def _tower(source):
    marks = "".join(source.choices(MARKS, k=source.choice((1, 3, 30, 300))))
    return source.choice("aeio\u05d0\u0e01") + marks + _words(source)


def _script(source):
    low, high = source.choice(SCRIPTS)
    count = source.randrange(1, 12)
    return "".join(chr(source.randrange(low, high)) for _ in range(count))


def _scripts(source):
    return source.choice(("", " ")).join(_script(source) for _ in range(4))


def _any_characters(source):
    count = source.randrange(1, 16)
    return "".join(chr(source.randrange(0x110000)) for _ in range(count))


def _surrogates(source):
    count = source.randrange(1, 4)
    return "".join(chr(source.randrange(0xD800, 0xE000)) for _ in range(count))


def _not_utf8(source):
    return b"".join(source.choices(NOT_UTF8, k=source.randrange(1, 5)))


def _noise(source):
    return source.randbytes(source.choice((1, 2, 3, 8, 40, 200)))


def _controls(source):
    return "".join(chr(source.choice((*range(32), *range(127, 160)))) for _ in range(9))


def _nothing(source):
    return ""


KINDS = (
    *(_words, _words, _tower, _script, _scripts, _any_characters, _surrogates),
    *(_not_utf8, _noise, _controls, _nothing, _signs(SPECIALS), _signs(SPACES)),
    *(_signs(SEPARATORS), _signs(BIDI), _signs(EMOJI), _signs(EXPANDING)),
)
LONG_PARTS = (
    *("a", " ", "to be ", "\u0301", "\U0001f468\u200d", "\ufdfa", "[PAD]", "\u2028"),
    *(b"\xff", b"\x00", "\u3000", "der Hund l\u00e4uft ", "\u202e", "\ue000"),
)


def to_bytes(text):
    """UTF-8, in which half characters are the three bytes of their number."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def draw(seed):
    """Returns bytes or a str, most of them short, one in some thousand a long line."""
    source = random.Random(f"text {seed}")
    if source.randrange(LONG_ONE_IN) == 0:
        return _long(source)
    parts = [source.choice(KINDS)(source) for _ in range(source.choice((1, 1, 2, 3)))]
    if source.random() < 0.5:
        parts.insert(source.randrange(len(parts) + 1), _words(source))
    between = source.choice(("", " ", "\n", "\r", "\u2028", "\x0b"))
    if all(isinstance(part, str) for part in parts) and source.random() < 0.5:
        return between.join(parts)
    return to_bytes(between).join(map(to_bytes, parts))


def _long(source):
    part = to_bytes(source.choice(LONG_PARTS))
    text = part * (LONG // len(part))
    if source.random() < 0.5:
        place = source.randrange(len(text))
        text = text[:place] + to_bytes(_words(source)) + text[place:]
    return text


def as_line(text):
    """Returns the text as bytes that a file can hold in one line."""
    return to_bytes(text).replace(b"\n", b" ").removesuffix(b"\r")
