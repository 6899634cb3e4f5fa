"""`ka-demo` in a real browser, by keyboard, cut off from the network.

It needs the extra `pages` and Chromium: `apt-get install chromium`.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

from keras_attention.export import demo, demo_page
from tests.serving.conftest import make_translator

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MISSING = [n for n in ("gradio", "playwright") if not importlib.util.find_spec(n)]
MISSING += [] if CHROMIUM else ["Chromium"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}"),
]
ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT, MOST_PIECES, LARGEST_BEAM = "to be or not", 12, 5
SECONDS = 60_000  # milliseconds, which the browser waits at most
PROXIES = [n + "_proxy" for n in ("http", "https", "all")]


@pytest.fixture(scope="module")
def translator():
    return make_translator(max_source_length=MOST_PIECES)


@pytest.fixture(scope="module")
def models(translator, tmp_path_factory):
    """The folder of a model with one exported version."""
    import tensorflow as tf

    from keras_attention.export.manifest import write_manifest
    from keras_attention.export.translation_module import TranslationModule

    # What an export writes, without the minute that warming up and verifying take.
    folder = tmp_path_factory.mktemp("models") / "en <b>de"
    module = TranslationModule(translator, max_beam_size=LARGEST_BEAM)
    functions = {name: module.signatures[name] for name in ("nbest", "explain")}
    tf.saved_model.save(module, str(folder / "1"), signatures=functions)
    write_manifest(translator, functions, folder / "1")
    return folder


@pytest.fixture(scope="module")
def outside():
    """(variables that send a process's requests to a trap, what fell into it)."""
    caught = []

    def listen():
        while True:
            try:
                connection, _ = trap.accept()
            except OSError:  # the trap was closed
                return
            with connection:
                caught.append(connection.recv(200))

    with socket.create_server(("127.0.0.1", 0)) as trap:
        address = f"http://127.0.0.1:{trap.getsockname()[1]}"
        names = [*PROXIES, *(name.upper() for name in PROXIES)]
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield dict.fromkeys(names, address) | {"no_proxy": "", "NO_PROXY": ""}, caught
        trap.shutdown(socket.SHUT_RDWR)
        thread.join(10)


@contextlib.contextmanager
def running(log, module, *arguments, **variables):
    """Yields (process, address of the page) of a server; ends it afterwards."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with open(log, "wb") as errors:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    with server:
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), log.read_text()
            yield server, address
        finally:
            server.terminate()
            server.wait(60)


@pytest.fixture(scope="module")
def served(models, outside, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "stderr"
    flags = "--version_dir", models, "--port", 0
    with running(log, "trainers.demo", *flags, **outside[0]) as server:
        yield server
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    # What is not this machine has no address.
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        options = {"executable_path": CHROMIUM, "args": ["--no-sandbox", rules]}
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser, address):
    """Yields a page; fails if it complained or asked for anything elsewhere."""
    page = browser.new_page()
    page.set_default_timeout(SECONDS)
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def failed(request):
        # The page itself ends the stream of a request that was answered.
        if request.failure != "net::ERR_ABORTED" or "/queue/data?" not in request.url:
            complaints.append(f"{request.url}: {request.failure}")

    page.on("requestfailed", failed)

    def console(message):
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", console)
    page.goto(address)
    page.wait_for_function("document.activeElement.tagName == 'TEXTAREA'")
    yield page
    assert complaints == []
    allowed = address + "/", "data:", "blob:"
    assert [url for url in asked if not url.startswith(allowed)] == []
    assert len(asked) > 5
    page.close()


@pytest.fixture
def page(browser, served):
    with opened(browser, served[1]) as page:
        yield page


def type_in(page, text):
    """Replaces the text and presses Enter, then waits for an answer."""
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    press_and_wait(page, "Enter")


def press_and_wait(page, key):
    # An answer is a new paragraph; what is there now is marked as old.
    page.evaluate(
        "document.querySelectorAll('#status p').forEach(x => x.className = 'old')"
    )
    page.keyboard.press(key)
    page.wait_for_selector("#status p:not(.old):not(:text('Translating'))")


def move_to(page, name):
    """Presses Tab until the element of that accessible name has the focus."""
    for _ in range(30):
        page.keyboard.press("Tab")
        label, outline = page.evaluate(
            "[document.activeElement.ariaLabel ?? document.activeElement.innerText,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        if label.strip() == name:
            assert outline == "solid"
            return
    raise AssertionError(f"Tab never comes to {name}")


def table(page, selector):
    return page.evaluate(
        "selector => [...document.querySelectorAll(selector + ' tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.innerText))",
        selector,
    )


def expected(translator, **search):
    [found] = translator.translate([TEXT], **search)
    return [
        [
            str(rank),
            x.text or "(nothing)",
            str(x.length),
            pytest.approx(x.score, abs=1e-3),
        ]
        for rank, x in enumerate(found.hypotheses, start=1)
    ]


def listed(page):
    rows = table(page, "#hypotheses")
    return [[rank, text, n, float(score)] for rank, text, score, n in rows]


def test_a_sentence_is_translated_by_keyboard_alone(page, translator):
    type_in(page, TEXT)
    assert listed(page) == expected(translator, num_hypotheses=2)
    assert "ms per token" in page.inner_text("#status")
    image = page.locator("#alignment img")
    assert image.get_attribute("alt").startswith("Heat map of the alignment. ")
    assert image.evaluate("x => x.complete && x.naturalWidth") > 100

    move_to(page, "range slider for Beam size")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    move_to(page, "range slider for Length penalty alpha")
    page.keyboard.press("Home")
    move_to(page, "range slider for Hypotheses")
    page.keyboard.press("ArrowRight")
    move_to(page, "Translate")
    press_and_wait(page, "Space")
    search = {"beam_size": 4, "num_hypotheses": 3, "length_penalty_alpha": 0.0}
    assert listed(page) == expected(translator, **search)
    assert "Adjusted" not in page.inner_text("#status")

    move_to(page, "Alignment and tokens as tables")
    page.keyboard.press("Enter")
    page.wait_for_selector("#alignment table", state="visible")
    tokens = table(page, "#alignment details > table")
    [found] = translator.translate([TEXT], return_token_log_probs=True)
    log_probs = [float(row[1]) for row in tokens]
    expected_log_probs = found.hypotheses[0].token_log_probs
    assert log_probs == pytest.approx(expected_log_probs, abs=1e-3)


def test_elements_have_names_and_answers_are_announced(page):
    assert page.get_by_role("textbox", name="Text").count() == 1
    for name in ("Beam size", "Length penalty alpha", "Hypotheses"):
        assert page.get_by_role("slider", name=f"range slider for {name}").count() == 1
    assert page.get_by_role("button", name="Translate").count() == 1
    assert page.get_by_role("heading", name="en <b>de, version 1").count() == 1
    assert page.locator("#status").get_attribute("role") == "status"
    assert page.locator("#status").get_attribute("aria-live") == "polite"


def test_flags_and_errors_are_told(page):
    type_in(page, "to be " * MOST_PIECES)
    assert "its end was cut off" in page.inner_text("#status")
    assert table(page, "#hypotheses")
    type_in(page, "x" * 2_001)
    assert "at most 2,000 characters. Received: 2,001." in page.inner_text("#status")
    assert not table(page, "#hypotheses")
    assert page.locator("#alignment img").count() == 0
    type_in(page, "   ")
    assert "Received: no text. Type one and press Enter" in page.inner_text("#status")
    move_to(page, "range slider for Hypotheses")
    page.keyboard.press("End")
    for _ in range(10):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.tagName") == "TEXTAREA":
            break
    type_in(page, TEXT)
    assert f"(beams: 1 to {LARGEST_BEAM};" in page.inner_text("#status")
    assert len(table(page, "#hypotheses")) == 2


def test_it_listens_on_this_machine_alone_and_asks_nobody(served, outside):
    server, address = served
    port = int(address.rpartition(":")[2])
    assert listening_sockets(server.pid) == [("tcp", f"0100007F:{port:04X}")]
    assert outside[1] == []


def listening_sockets(pid):
    """(table of the kernel, local address) of all that a process listens on."""
    links = pathlib.Path(f"/proc/{pid}/fd").iterdir()
    inodes = {os.readlink(x)[8:-1] for x in links if "socket:" in os.readlink(x)}
    found = []
    for name in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and rest[5] in inodes:
                found.append((name, local))
    return found


def status_of(address, data=None, **headers):
    request = urllib.request.Request(address, data, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_foreign_names_and_large_requests_are_refused(served):
    _, address = served
    assert status_of(address) == 200
    assert status_of(address, Host="evil.example") == 400
    assert status_of(address + "/gradio_api/upload", b"x" * demo.MOST_BYTES * 2) == 413


def test_a_slow_request_freezes_nothing_and_the_queue_ends(browser, tmp_path):
    release = tmp_path / "release"
    log = tmp_path / "stderr"
    with running(log, "tests.integration.slow_page", release) as (_, address):
        with opened(browser, address) as slow, opened(browser, address) as other:
            slow.keyboard.type("slow")
            slow.keyboard.press("Enter")
            slow.wait_for_selector("#status :text('Translating')")
            slow.keyboard.type("er")
            assert slow.input_value("#text textarea") == "slower"
            type_in(other, "quick")
            assert table(other, "#hypotheses")[0][1] == "quick"
            assert not table(slow, "#hypotheses")

            event = {"data": ["slow", 2, 0.6, 1], "fn_index": 1, "session_hash": "x"}
            body = json.dumps(event).encode()
            join, kind = address + "/gradio_api/queue/join", "application/json"
            codes = [
                status_of(join, body, **{"Content-Type": kind})
                for _ in range(demo_page.WAITING + demo_page.AT_ONCE + 1)
            ]
            assert codes[: demo_page.WAITING] == [200] * demo_page.WAITING
            assert codes[-1] == 503
            assert status_of(address) == 200
            release.touch()
            slow.wait_for_selector("#hypotheses table")
            assert table(slow, "#hypotheses")[0][1] == "slow"


def test_an_unknown_folder_and_a_taken_port_are_one_line(models, run_binary):
    with demo.listening(0) as taken:
        port = taken.getsockname()[1]
        said = run_binary("demo", "--version_dir", models, "--port", port)
    assert said.returncode == 1
    assert said.stderr.count(b"\n") == 1 and b"Name another port" in said.stderr
    said = run_binary("demo", "--version_dir", models.parent, "--port", 0)
    assert said.returncode == 2
    assert said.stderr.count(b"\n") == 1 and b"ka-export-translation" in said.stderr
