import base64
import hashlib
import html.parser
import importlib
import json
import re

import numpy as np
import pytest

from keras_attention.evaluation.attended_sentences import SIDES
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.attention_page import attention_page, page_weights
from keras_attention.evaluation.head_colours import ON_BLACK, ON_WHITE
from keras_attention.evaluation.head_report import head_report
from tests.unit.evaluation.attended import made_up

module = importlib.import_module("keras_attention.evaluation.attention_page")
ODD = [
    *(
        "</script><script>alert(1)</script>",
        "<!--",
        "\"'`&amp;",
        "\u2028",
        "\u202eevil",
    ),
    *("]]>", "\\u003c", "\u2581דגים", "日本", "\x00", "{}", "@@DATA@@", "\ud800"),
]
VOID = {"meta", "br", "input", "link", "hr", "img"}


class Reader(html.parser.HTMLParser):
    """Collects elements; refuses open ends."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.texts = [], [], {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def sentences():
    return [
        made_up(ODD, ODD[::-1]),
        made_up(["\u2581a"], ["\u2581b", "."], forced=True),
    ]


@pytest.fixture(scope="module")
def page(sentences):
    return attention_page(sentences, head_report(sentences), title="<b>&\u202e")


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page)


def data_of(reader):
    return json.loads(reader.texts["script"][0])


def test_it_holds_two_scripts_and_one_style_whatever_is_in_a_text(reader):
    assert [x.get("type") for x in reader.all("script")] == ["application/json", None]
    assert len(reader.all("style")) == 1
    assert len(reader.texts["script"]) == 2, "a script was ended by a text"
    assert "b" not in {tag for tag, _ in reader.elements}
    assert reader.texts["title"] == ["<b>&<U+202E>"]


def test_the_policy_allows_exactly_what_the_page_holds(reader):
    [policy] = [
        x["content"]
        for x in reader.all("meta")
        if x.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text):
        value = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{value}'"

    assert rules == {
        "default-src": "'none'",
        "script-src": digest(reader.texts["script"][1]),
        "style-src": digest(reader.texts["style"][0]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_nothing_is_asked_for_and_nothing_is_inline(reader):
    for tag, attributes in reader.elements:
        for name, value in attributes.items():
            assert name not in ("style", "src", "href", "action", "srcset"), tag
            assert not name.startswith("on")
            assert "//" not in (value or "")
    assert "url(" not in reader.texts["style"][0] + reader.texts["script"][1]
    assert "@import" not in reader.texts["style"][0]
    program = reader.texts["script"][1]
    for name in (
        "innerHTML",
        "insertAdjacentHTML",
        "eval(",
        "fetch(",
        "document.write",
    ):
        assert name not in program


def test_data_hold_no_sign_that_html_or_a_reader_of_lines_understands(reader):
    text = reader.texts["script"][0]
    assert not set(text) & set("<>&\n\r\x00\x7f\x85\u2028\u2029\u202e\ud800")


def test_the_page_can_be_written_and_read_as_utf8(page):
    assert page.encode("utf-8").decode("utf-8") == page
    assert page.startswith(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    )


def test_pieces_and_weights_are_those_of_the_sentences(reader, sentences):
    data = data_of(reader)
    assert (data["layers"], data["heads"]) == (2, 3)
    assert [kind["id"] for kind in data["kinds"]] == [*KINDS]
    assert [x["forced"] for x in data["sentences"]] == [False, True]
    assert data["sentences"][1]["written"] == ["\u2581b", ".", "[END]"]
    assert "\u2581דגים" in data["sentences"][0]["source"]
    assert "<U+202E>evil" in data["sentences"][0]["source"]
    for told, sentence in zip(data["sentences"], sentences, strict=True):
        for kind, packed, names in zip(
            KINDS, told["weights"], data["kinds"], strict=True
        ):
            levels = np.frombuffer(base64.b64decode(packed), "uint8")
            weights = sentence.maps[kind]
            assert len(told[names["queries"]]) == weights.shape[2]
            assert len(told[names["keys"]]) == weights.shape[3]
            levels = levels.reshape(weights.shape) / 255
            np.testing.assert_allclose(levels, weights, atol=0.5 / 255 + 1e-6)


def test_a_kind_is_described_by_its_sides(reader):
    for kind, told in zip(KINDS, data_of(reader)["kinds"], strict=True):
        assert (told["queries"], told["keys"]) == SIDES[kind]


def test_colours_are_those_of_both_grounds(reader):
    style = reader.texts["style"][0]
    light, dark = style.split("@media (prefers-color-scheme: dark)", 1)
    for number, (one, other) in enumerate(zip(ON_WHITE, ON_BLACK, strict=True)):
        assert f".c{number} {{ color: {one}; }}" in light
        assert f".c{number} {{ color: {other}; }}" in dark


def test_controls_have_labels_and_lists_have_names(reader):
    identities = [x["id"] for _, x in reader.elements if "id" in x]
    assert len(identities) == len(set(identities))
    assert len(reader.all("label")) == 3 == len(reader.all("select"))
    lists = [x for x in reader.all("div") if x.get("role") == "listbox"]
    assert [x["aria-labelledby"] for x in lists] == ["from", "to"]
    assert {"from", "to", "report"} <= set(identities)
    assert {"role": "status", "id": "status"} in reader.all("p")
    assert reader.all("noscript")
    assert all(
        x.get("aria-label") for _, x in reader.elements if x.get("role") == "region"
    )


def test_the_program_finds_every_element_that_it_asks_for(reader):
    identities = {x["id"] for _, x in reader.elements if "id" in x}
    asked = re.findall(r'getElementById\("(\w+)"\)', reader.texts["script"][1])
    assert len(asked) > 10 and set(asked) <= identities


def test_the_report_is_there_without_a_program(reader, sentences):
    report = head_report(sentences)
    captions = reader.texts["caption"]
    assert captions == [
        "Encoder self-attention, 16 positions",
        "Decoder self-attention, 17 positions",
        "Encoder-decoder attention, 17 positions",
    ]
    rows = [x for x in reader.all("th") if "data-head" in x]
    assert len(rows) == len(report.heads) == 18
    assert rows[-1]["data-kind"] == "encoder_decoder" and rows[-1]["data-layer"] == "2"
    numbers = [x for x in reader.texts["td"] if re.fullmatch(r"\d\.\d\d|–", x)]
    assert len(numbers) == 7 * 6 + 7 * 6 + 7 * 8
    assert numbers[0] == f"{report.heads[0].previous:.2f}"


def test_a_role_is_marked():
    [sentence] = [made_up(["a", "b", "c"], ["d"], heads=1)]
    sentence.maps["encoder_self"][:] = np.eye(4)[[0, 0, 1, 2]]
    page = attention_page([sentence], head_report([sentence]))
    assert page.count('<td class="number high">1.00</td>') == 2  # one a layer
    assert "<td>previous 100%</td>" in page


def test_the_files_of_the_page_are_packaged(repository):
    setup = (repository / "setup.py").read_text(encoding="utf-8")
    [pattern] = re.findall(r'"keras_attention\.evaluation": \["(.+)"\]', setup)
    folder = repository / "keras_attention" / "evaluation"
    assert {x.name for x in folder.glob(pattern)} >= {"page.html", "style.css"}
    assert {x for x in folder.rglob("*") if x.suffix in (".html", ".css", ".js")} == {
        x for x in folder.glob(pattern)
    }


def test_without_a_report(sentences):
    assert "What the heads do" not in attention_page(sentences)


def test_no_sentence_or_those_of_two_models():
    with pytest.raises(ValueError, match="one sentence or more.*Received: 0 sentences"):
        attention_page([])
    with pytest.raises(
        ValueError, match="one sentence or more.*2 sentences.*2, 3.*2, 4"
    ):
        attention_page([made_up(["a"], ["b"]), made_up(["a"], ["b"], heads=4)])


def test_too_many_weights(sentences, monkeypatch):
    total = sum(map(page_weights, sentences))
    monkeypatch.setattr(module, "MOST_WEIGHTS", total)
    attention_page(sentences)
    monkeypatch.setattr(module, "MOST_WEIGHTS", total - 1)
    with pytest.raises(ValueError, match=f"at most {total - 1} weights.*{total} of 2"):
        attention_page(sentences)
    attention_page(sentences[:1])
