"""Tokens as the Moses tokenizer makes them; expected ones come from that program."""

import gzip

import pytest

from keras_attention.evaluation.moses_tokenizer import LANGUAGES, moses_tokenize


def tokens(text, language="de"):
    return " ".join(moses_tokenize(text, language))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ein Satz.", "Ein Satz ."),
        ('Er sagte: "Ja, 3,5 %!"', 'Er sagte : " Ja , 3,5 % ! "'),
        ("Das ist z.B. der Dr. Meier.", "Das ist z.B. der Dr. Meier ."),
        ("Am 3. Oktober kam er an. Dann", "Am 3. Oktober kam er an . Dann"),
        ("Es kam im Jahr 1990. Danach", "Es kam im Jahr 1990 . Danach"),
        ("Punkt. klein", "Punkt. klein"),  # a small letter follows
        ("auf 26.", "auf 26."),  # an abbreviation at the end stays one
        ("Reuters I/B/E/S.", "Reuters I / B / E / S."),
        ("so ... und so...", "so ... und so ..."),
        ("so....Ja", "so .... Ja"),
        ("Karl's 'Rich-Text'", "Karl ' s ' Rich-Text '"),
        ("1,000,00, a,b,c", "1,000,00 , a , b , c"),
        ("Im Jahr 1990,", "Im Jahr 1990 ,"),
        ("80 m², ½ l", "80 m ² , ½ l"),
        ("„Nein“ – €5", "„ Nein “ – € 5"),
        ("a\u00a0b\tc\u2009d", "a b c d"),
        ("a\x1cb\x00c", "abc"),
        ("a_b@c.de", "a _ b @ c.de"),
        ("  ", ""),
        ("", ""),
        (".", "."),
        ("`a'", "`a '"),
    ],
)
def test_german(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It's John's, isn't it?", "It 's John 's , isn 't it ?"),
        ("en", "'Tis 'the 1990's", "'Tis ' the 1990 's"),
        ("en", "No. 5 is No. One. Art. II", "No. 5 is No . One . Art . II"),
        ("en", "the dogs' tails.'", "the dogs ' tails . '"),
        ("fr", "L'homme d'aujourd'hui.", "L' homme d' aujourd' hui ."),
        ("fr", "C'est p.ex. 10 %, cf. Nord", "C' est p.ex. 10 % , cf. Nord"),
        ("de", "L'homme 5. Nord", "L ' homme 5. Nord"),
        ("fr", "L'homme 5. Nord", "L' homme 5 . Nord"),
    ],
)
def test_apostrophes_and_abbreviations_of_a_language(language, text, expected):
    assert tokens(text, language) == expected


def test_another_language_is_refused():
    with pytest.raises(ValueError, match=r"`language`.*de, en, fr.*'cs'"):
        moses_tokenize("a", "cs")


@pytest.mark.parametrize("language", LANGUAGES)
def test_tokens_hold_the_text_and_are_never_empty(language):
    text = 'Ein "Text", z.B. mit L\'eau; 1,5... (sic) ‚so‘ 中文, é–è.'
    found = moses_tokenize(text, language)
    assert all(found)
    assert "".join(found) == "".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "file", "count"),
    [
        ("de", "newstest2014.en-de.de", 63_078),
        ("en", "newstest2014.en-de.en", 67_617),
        ("fr", "newstest2014.en-fr.fr", 81_194),
    ],
)
def test_newstest_has_the_tokens_of_the_program(shared_data, language, file, count):
    path = shared_data / "mt" / "newstest" / f"{file}.gz"
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]
    assert sum(len(moses_tokenize(line, language)) for line in lines) == count
