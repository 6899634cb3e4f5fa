"""How pieces of any script are spelled in pictures and pages."""

import dataclasses
import unicodedata

# Letters of some languages and joined emoji need them; they change nothing else.
_JOINERS = "\u200c\u200d"
_MARKS = "\u061c\u200e\u200f"  # of direction
_INVISIBLE = ("BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
_USUAL = "DejaVu Sans"  # comes with matplotlib
# What matplotlib needs for formulas, and a font of boxes.
_NO_TEXT = ("STIX", "cm", "DejaVu", "Last Resort")
_REGULAR = (400, "normal", "regular", "book")  # what matplotlib calls its weight


def visible(text):
    """Returns a text whose controls are spelled, so that nothing in it acts or hides.

    Line breaks, marks of direction and the like become `<U+202E>`; the joiners that
    the spelling of some languages needs stay.

    Example:

    >>> visible("a\\u202eb\\u2028")
    'a<U+202E>b<U+2028>'
    """
    return "".join(_code(x) if _is_control(x) else x for x in text)


def _code(sign):
    return f"<U+{ord(sign):04X}>"


def _is_control(sign):
    kind = unicodedata.category(sign)
    hidden = kind == "Cf" and unicodedata.bidirectional(sign) in _INVISIBLE
    is_control = kind in ("Cc", "Cs", "Zl", "Zp") or hidden or sign in _MARKS
    return is_control and sign not in _JOINERS


@dataclasses.dataclass(frozen=True)
class Lettering:
    """Fonts for some texts.

    Attributes:
        families: names for matplotlib; a sign is drawn with the first that has it.
        missing: signs that no font has.
    """

    families: tuple[str, ...]
    missing: frozenset[str]

    def spell(self, text):
        """Returns a text as it can be drawn: `<U+72D7>` for a sign without a font."""
        signs = (x for x in visible(text) if not self._is_needless(x))
        return "".join(_code(x) if x in self.missing else x for x in signs)

    def _is_needless(self, sign):
        return sign in self.missing and sign in _JOINERS


def lettering(texts):
    """Returns the fonts of this system with which matplotlib can draw some texts.

    DejaVu Sans, then as few others as are needed, in the order of their names. What
    none has is spelled by its number instead of drawn as a box: install a font, such as
    Noto, to see it. Matplotlib before 3.11 draws letters one by one from left to right;
    Arabic and Indic scripts need 3.11.

    Args:
        texts: iterable of str.

    Returns:
        `Lettering`.

    Example:

    >>> lettering(["a dog", "ein Hund"])
    Lettering(families=('DejaVu Sans',), missing=frozenset())
    """
    needed = {sign for text in texts for sign in visible(text)}
    families = [_USUAL]
    needed -= _known(_usual_path(), needed)
    for family, path in _other_fonts():
        if not needed:
            break
        found = _known(path, needed)
        if found:
            families.append(family)
            needed -= found
    return Lettering(tuple(families), frozenset(needed))


def _usual_path():
    from matplotlib import font_manager

    return font_manager.findfont(_USUAL)


def _known(path, signs):
    from matplotlib import font_manager

    font = font_manager.get_font(path)
    return {sign for sign in signs if font.get_char_index(ord(sign))}


def _other_fonts():
    """Yields (family, path) of the system's upright fonts, the usual one left out."""
    from matplotlib import font_manager

    names = {
        entry.name
        for entry in font_manager.fontManager.ttflist
        if (entry.style, entry.weight) in [("normal", x) for x in _REGULAR]
        and not entry.name.startswith(_NO_TEXT)
    }
    for name in sorted(names):
        # What `findfont` gives for a family is what a figure will draw with.
        yield name, font_manager.findfont(name)
