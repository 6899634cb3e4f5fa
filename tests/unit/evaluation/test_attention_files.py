import importlib
import json

import pytest

from keras_attention.evaluation.attention_figure import draw_lines
from keras_attention.evaluation.attention_files import (
    PICTURES,
    SUFFIXES,
    PictureChoice,
    write_attention,
)
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.attention_page import page_weights
from keras_attention.evaluation.head_report import head_report
from tests.unit.evaluation.attended import made_up
from trainers import _attention_flags

module = importlib.import_module("keras_attention.evaluation.attention_files")


@pytest.fixture
def sentences():
    words = ["\u2581a", "\u2581dog", "##x"]
    return [made_up(words[: 1 + n], words[:1], seed=n) for n in range(3)]


def test_the_suffix_says_what_is_written(sentences, tmp_path):
    paths = [tmp_path / f"x{suffix}" for suffix in SUFFIXES]
    written = write_attention(iter(sentences), paths, title="T & T")
    page, png, svg, as_json, text = (path.read_bytes() for path in paths)
    assert b"<title>T &amp; T</title>" in page and b"What the heads do" in page
    assert png.startswith(b"\x89PNG") and b"<svg" in svg
    report = head_report(sentences)
    assert json.loads(as_json) == json.loads(report.to_json())
    assert text.decode() == report.to_text()
    assert (written.report, written.on_page) == (report, 3)
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@pytest.mark.parametrize("word", ["dog", "\u2581dog"])
def test_a_picture_is_what_was_chosen(sentences, tmp_path, word):
    choice = PictureChoice(3, "encoder_self", layer=1, heads=(2,), word=word)
    write_attention(sentences, [tmp_path / "a.svg"], choice)
    queries, keys = sentences[2].pieces("encoder_self")
    expected = draw_lines(
        sentences[2].maps["encoder_self"][0],
        queries,
        keys,
        title="encoder self attention, layer 1",
        heads=[1],
        words=[1],
        form="svg",
    )
    assert (tmp_path / "a.svg").read_bytes() == expected


def test_a_picture_of_the_last_layer_reads_no_further_than_its_sentence(tmp_path):
    def endless():
        while True:
            yield made_up(["a"], ["b"])

    written = write_attention(endless(), [tmp_path / "a.svg"], PictureChoice(4))
    assert b"layer 2" in (tmp_path / "a.svg").read_bytes()
    assert (written.report, written.on_page) == (None, 0)


def test_a_page_holds_the_first_that_fit_and_the_report_all(
    sentences, tmp_path, monkeypatch
):
    sizes = [page_weights(sentence) for sentence in sentences]
    # The fourth would fit where the third does not, but comes behind it.
    monkeypatch.setattr(module, "MOST_WEIGHTS", 2 * sizes[0] + sizes[1])
    path = tmp_path / "a.html"
    written = write_attention([*sentences, sentences[0]], [path])
    assert written.on_page == 2
    assert written.report.sentences == 4
    monkeypatch.setattr(module, "MOST_WEIGHTS", 1)
    assert write_attention(sentences, [path]).on_page == 1


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"sentence": 4}, "Received: number 4, and fewer sentences"),
        ({"layer": 3}, "`layer` must be at most 2 in this model. Received: 3"),
        ({"heads": (1, 4)}, "`heads` must be at most 3 in this model. Received: 4"),
        ({"word": "cat"}, r"one of the pieces that attend: .a \[END\]. Received: cat"),
    ],
)
def test_a_choice_that_is_not_there_writes_nothing(
    sentences, tmp_path, choice, message
):
    paths = [tmp_path / "a.txt", tmp_path / "a.png"]
    with pytest.raises(ValueError, match=message):
        write_attention(sentences, paths, PictureChoice(**choice))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"sentence": 0}, "`sentence` must be an integer of at least 1"),
        ({"kind": "self"}, "`kind` must be one of encoder_self"),
        ({"layer": 0}, "`layer` must be an integer of at least 1"),
        ({"heads": (0,)}, "`heads` must be an integer of at least 1"),
    ],
)
def test_a_choice_that_cannot_be(choice, message):
    with pytest.raises(ValueError, match=message):
        PictureChoice(**choice)


def test_another_suffix(sentences, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html, .*Received: .*a\.pdf"):
        write_attention(sentences, [tmp_path / "a.pdf"])


def test_no_sentence(tmp_path):
    with pytest.raises(ValueError, match="at least one sentence"):
        write_attention([], [tmp_path / "a.html"])


def test_the_flags_know_the_same_names():
    assert _attention_flags.KINDS == KINDS
    assert _attention_flags.SUFFIXES == SUFFIXES
    assert _attention_flags.PICTURES == PICTURES
