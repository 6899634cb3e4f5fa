import unicodedata

import pytest

from keras_attention.evaluation import lettering as module
from keras_attention.evaluation.lettering import lettering, visible

UNASSIGNED = "\U0003fffd"  # no font has it


@pytest.mark.parametrize(
    "sign", "\x00\n\x7f\x85\xad\u061c\u200b\u200e\u202e\u2066\u2028\ud800"
)
def test_what_acts_or_hides_is_spelled(sign):
    assert visible(f"a{sign}b") == f"a<U+{ord(sign):04X}>b"


@pytest.mark.parametrize(
    "text", ["می\u200cخواهم", "क\u094d\u200dष", "\u0600", "▁é", "👩\u200d🚀"]
)
def test_what_a_language_needs_stays(text):
    assert visible(text) == text


def test_what_every_font_has_needs_no_other():
    letters = lettering(["▁Füße", "Ωμέγα", "Жук", "[END]"])
    assert letters.families == ("DejaVu Sans",)
    assert letters.spell("▁Füße") == "▁Füße"


def test_a_sign_without_a_font_is_spelled():
    letters = lettering([f"a{UNASSIGNED}"])
    assert letters.missing == {UNASSIGNED}
    assert letters.spell(f"a{UNASSIGNED}") == "a<U+3FFFD>"


def test_other_fonts_are_taken_where_they_help(monkeypatch):
    # Fonts for formulas come with matplotlib and stand for those of a system.
    monkeypatch.setattr(module, "_NO_TEXT", ("DejaVu", "Last Resort"))
    usual = module._known(module._usual_path(), map(chr, range(0x2200, 0x2E80)))
    name, path = next(
        x for x in module._other_fonts() if x[0].startswith("STIXGeneral")
    )
    others = module._known(path, map(chr, range(0x2200, 0x2E80))) - usual
    sign = min(others)
    assert unicodedata.name(sign)
    letters = lettering(["a", sign])
    assert letters.families[0] == "DejaVu Sans" and len(letters.families) == 2
    assert letters.missing == frozenset()


def test_a_joiner_without_a_font_is_left_out():
    letters = module.Lettering(("DejaVu Sans",), frozenset("\u200dx"))
    assert letters.spell("a\u200dx") == "a<U+0078>"
