"""The page of attention in a real browser, by pointer and by keyboard, offline.

It needs the extra `pages` and Chromium: `apt-get install chromium`.
"""

import contextlib
import importlib.util
import shutil

import numpy as np
import pytest

from keras_attention.evaluation.attention_page import attention_page
from keras_attention.evaluation.head_report import head_report
from tests.unit.evaluation.attended import made_up

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MISSING = [] if importlib.util.find_spec("playwright") else ["playwright"]
MISSING += [] if CHROMIUM else ["Chromium"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}"),
]
SOURCE = ["\u2581a", "\u2581dog", "</script><b>", "דג", "."]
TARGET = ["\u2581ein", "\u2581Hund"]
LAYERS, HEADS = 2, 3
LONG = [f"\u2581w{number}" for number in range(150)]
SECONDS = 60_000  # milliseconds, which the browser waits at most


@pytest.fixture(scope="module")
def sentences():
    return [
        made_up(SOURCE, TARGET, LAYERS, HEADS),
        made_up(LONG, LONG, LAYERS, HEADS, forced=True, truncated=True),
    ]


@pytest.fixture(scope="module")
def path(sentences, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "attention.html"
    page = attention_page(sentences, head_report(sentences), title="<i>T</i>")
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser, path, **options):
    """Yields the page; fails if it complained or asked for any other file."""
    options = {"viewport": {"width": 1000, "height": 800}, **options}
    page = browser.new_page(**options)
    page.set_default_timeout(SECONDS)
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(path.as_uri())
    yield page
    assert complaints == []
    assert asked == [path.as_uri()]
    page.close()


@pytest.fixture
def page(browser, path):
    with opened(browser, path) as page:
        yield page


def lines(page):
    """{head: {(query, key): opacity}} of the lines drawn alone; {} while all are."""
    found = page.evaluate(
        "[...document.querySelectorAll('#one path')].map(x => [+x.dataset.head,"
        " +x.dataset.query, +x.dataset.key, +x.getAttribute('stroke-opacity')])"
    )
    heads = {}
    for head, query, key, opacity in found:
        heads.setdefault(head, {})[query, key] = opacity
    hidden = page.evaluate("getComputedStyle(document.getElementById('all')).display")
    assert (hidden == "none") == bool(found)
    return heads


def drawn(page):
    """The pixels of the figure."""
    import io

    from PIL import Image

    shot = page.locator("#between").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), "int32")


def option(page, side, place):
    return page.locator(f"#{side} [role=option]").nth(place)


def expected(weights, heads, query=None, key=None):
    """What `lines` must give for one position of (H, Q, M) weights."""
    found = {}
    for head in heads:
        for place, weight in np.ndenumerate(weights[head]):
            if query in (None, place[0]) and key in (None, place[1]):
                level = round(float(weight) * 255)
                if level >= 3:
                    opacity = pytest.approx(level / 255, abs=1e-3)
                    found.setdefault(head, {})[place] = opacity
    return found


def test_pointing_at_a_piece_draws_its_lines_alone(page, sentences):
    weights = sentences[0].maps["encoder_self"][LAYERS - 1]
    before = drawn(page)
    assert lines(page) == {}
    option(page, "queries", 1).hover()
    assert lines(page) == expected(weights, range(HEADS), query=1)
    alone = drawn(page)
    assert (before != alone).any(-1).mean() > 0.01
    white = [(image == 255).all(-1).mean() for image in (before, alone)]
    assert white[1] > white[0], "fewer lines are drawn"
    option(page, "keys", 2).hover()
    assert lines(page) == expected(weights, range(HEADS), key=2)
    page.mouse.move(5, 5)
    assert lines(page) == {}
    assert np.array_equal(drawn(page), before)


def test_a_click_keeps_the_lines_and_escape_lets_them_go(page, sentences):
    weights = sentences[0].maps["encoder_self"][LAYERS - 1]
    option(page, "queries", 0).click()
    page.mouse.move(5, 5)
    assert lines(page) == expected(weights, range(HEADS), query=0)
    assert option(page, "queries", 0).get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert lines(page) == {}
    assert page.locator("[aria-selected=true]").count() == 0


def focused(page):
    return page.evaluate(
        "[document.activeElement.id || document.activeElement.dataset.side || "
        "document.activeElement.getAttribute('aria-label'), "
        "+document.activeElement.dataset.place,"
        " getComputedStyle(document.activeElement).outlineStyle]"
    )


def test_everything_can_be_reached_and_done_by_keyboard(page, sentences):
    names = []
    for _ in range(11):
        page.keyboard.press("Tab")
        name, _, outline = focused(page)
        assert outline == "solid", name
        names.append(name)
    heads = [f"Head {head + 1}" for head in range(HEADS)]
    assert names[:8] == ["sentence", "kind", "layer", *heads, "every", "none"]
    assert names[8:10] == ["queries", "keys"]

    page.locator("#kind").focus()
    page.keyboard.press("End")
    page.locator("#layer").focus()
    page.keyboard.press("Home")
    weights = sentences[0].maps["encoder_decoder"][0]
    page.locator("input[type=checkbox]").nth(1).focus()
    page.keyboard.press("Space")
    option(page, "queries", 0).focus()
    page.keyboard.press("ArrowDown")
    assert focused(page) == ["queries", 1, "solid"]
    assert lines(page) == expected(weights, [0, 2], query=1)
    page.keyboard.press("ArrowRight")
    assert focused(page)[:2] == ["keys", 1]
    assert lines(page) == expected(weights, [0, 2], key=1)
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert focused(page)[:2] == ["keys", len(SOURCE)], "no further than the last"
    page.keyboard.press("Enter")
    assert option(page, "keys", len(SOURCE)).get_attribute("aria-selected") == "true"
    page.locator("#kind").focus()
    assert lines(page) == expected(weights, [0, 2], key=len(SOURCE))


def test_the_status_tells_the_strongest(page, sentences):
    status = page.locator("#status")
    assert status.get_attribute("role") == "status"
    assert "Tab" in status.inner_text()
    option(page, "queries", 1).hover()
    text = status.inner_text().replace("\u2068", "").replace("\u2069", "")
    weights = sentences[0].maps["encoder_self"][LAYERS - 1][:, 1]
    names = [piece.removeprefix("\u2581") for piece in sentences[0].source_pieces]
    best = weights.mean(0).argmax()
    share = round(100 * float(weights.mean(0)[best]))
    assert text.startswith("“dog”, 2 of 6, attends to “" + names[best])
    assert any(f"{names[best]}” {x} %" in text for x in (share - 1, share, share + 1))
    for head in range(HEADS):
        assert f"{head + 1}: “{names[weights[head].argmax()]}”" in text
    page.select_option("#kind", "2")
    option(page, "queries", 1).hover()
    assert "after “\u2068ein\u2069” was read" in status.inner_text()


def test_heads_are_switched_on_and_off(page, sentences):
    weights = sentences[0].maps["encoder_self"][LAYERS - 1]
    every = drawn(page)
    page.get_by_role("checkbox", name="Head 1").uncheck()
    assert not np.array_equal(drawn(page), every)
    option(page, "queries", 0).hover()
    assert lines(page) == expected(weights, [1, 2], query=0)
    page.get_by_role("button", name="No head").click()
    assert page.locator("#all path").count() == 0
    assert "No head is switched on" in page.locator("#status").inner_text()
    page.get_by_role("button", name="All heads").click()
    page.mouse.move(5, 5)
    assert np.array_equal(drawn(page), every)


def test_sentence_kind_and_layer_are_chosen(page, sentences):
    page.select_option("#layer", "0")
    for number, kind in enumerate(("encoder_self", "decoder_self", "encoder_decoder")):
        page.select_option("#kind", str(number))
        option(page, "queries", 1).hover()
        weights = sentences[0].maps[kind][0]
        assert lines(page) == expected(weights, range(HEADS), query=1), kind
        queries, keys = sentences[0].pieces(kind)
        assert page.locator("#queries .piece").all_inner_texts() == [*queries]
        assert page.locator("#keys .piece").all_inner_texts() == [*keys]
    assert page.locator("#cut").is_hidden()
    page.select_option("#sentence", "1")
    assert page.locator("#cut").is_visible()
    assert page.locator("#of").inner_text() == "Given translation"


def test_texts_stay_texts(page):
    assert page.locator("b, i:not(.bars i)").count() == 0
    assert page.locator("h1").inner_text() == "<i>T</i>"
    assert "</script><b>" in page.locator("#source").inner_text()
    assert page.get_by_role("listbox", name="source: attends").count() == 1
    options = page.locator(".column").get_by_role("option")
    names = options.evaluate_all("all => all.map(x => x.getAttribute('aria-label'))")
    assert names == ["a", "dog", "</script><b>", "דג", ".", "[END]"] * 2


def test_the_table_tells_the_same_as_the_lines(page, sentences):
    page.locator("#numbers summary").click()
    rows = page.evaluate(
        "[...document.querySelectorAll('#table tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.innerText))"
    )
    pieces = sentences[0].source_pieces
    weights = sentences[0].maps["encoder_self"][LAYERS - 1]
    assert [row[0] for row in rows] == [*pieces]
    for query, row in enumerate(rows):
        for head in range(HEADS):
            assert row[2 + head].startswith(pieces[weights[head, query].argmax()])
    page.select_option("#layer", "0")
    told = page.locator("#table caption").inner_text()
    assert "layer 1" in told


def test_a_head_of_the_report_is_shown_alone(page, sentences):
    page.get_by_role("button", name="Show layer 1, head 2 alone").nth(2).click()
    assert page.input_value("#kind") == "2" and page.input_value("#layer") == "0"
    option(page, "queries", 0).hover()
    weights = sentences[0].maps["encoder_decoder"][0]
    assert lines(page) == expected(weights, [1], query=0)


@pytest.mark.parametrize("width", [320, 1400])
def test_a_long_sentence_scrolls_and_the_status_stays(browser, path, width):
    options = {"viewport": {"width": width, "height": 700}, "color_scheme": "dark"}
    with opened(browser, path, **options) as page:
        page.select_option("#sentence", "1")
        option(page, "queries", 0).focus()
        page.keyboard.press("End")
        assert focused(page)[:2] == ["queries", len(LONG)]
        for element in (option(page, "queries", len(LONG)), page.locator("#status")):
            box = element.bounding_box()
            assert 0 <= box["y"] and box["y"] + box["height"] <= 700
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(18, 18, 20)"
