"""The server of the page without Gradio: where it listens and what it refuses."""

import asyncio
import builtins
import socket

import pytest

from keras_attention.export import demo


def test_it_listens_on_this_machine_alone():
    with demo.listening(0) as listener:
        host, port = listener.getsockname()
        assert (listener.family, host) == (socket.AF_INET, "127.0.0.1")
        with socket.create_connection(("127.0.0.1", port), timeout=10):
            pass
        with pytest.raises(OSError, match=f":{port}: .*in use. Name another port"):
            demo.listening(port)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_is_a_number_of_16_bits(port):
    with pytest.raises(ValueError, match=f"`port` must be 1 to 65535.*: {port}"):
        demo.listening(port)


def test_a_missing_extra_is_one_line_before_anything_is_loaded(monkeypatch, tmp_path):
    real = builtins.__import__

    def without_gradio(name, *rest, **options):
        if name == "gradio":
            raise ImportError("No module named 'gradio'")
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_gradio)
    monkeypatch.setattr(demo, "DemoModel", None)  # calling it would be a TypeError
    with pytest.raises(ValueError, match=r"pip install 'keras-attention\[demo\]'"):
        demo.serve_demo(tmp_path, 0)


async def inner(scope, receive, send):
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"page"})


def ask(method, **headers):
    """The status, headers and body that `Limits` lets through."""
    said = []

    async def send(message):
        said.append(message)

    given = [(k.replace("_", "-").encode(), v) for k, v in headers.items()]
    scope = {"type": "http", "method": method, "headers": given}
    asyncio.run(demo.Limits(inner)(scope, None, send))
    start, body = said
    return start["status"], dict(start["headers"]), body["body"]


def test_answers_tell_the_browser_to_load_from_here_alone():
    status, headers, body = ask("GET")
    assert (status, body) == (200, b"page")
    assert headers[b"content-type"] == b"text/plain"
    assert headers[b"content-security-policy"].startswith(b"default-src 'self' ")
    assert b"http" not in headers[b"content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_length": b"2"}, 200),
        ({"content_length": str(demo.MOST_BYTES).encode()}, 200),
        ({"content_length": str(demo.MOST_BYTES + 1).encode()}, 413),
        ({"content_length": b"-1"}, 413),
        ({}, 413),  # sent in chunks, of which nobody knows how many follow
    ],
)
def test_large_requests_are_refused(headers, status):
    assert ask("POST", **headers)[0] == status


def test_what_is_no_request_passes():
    seen = []

    async def lifespan(scope, receive, send):
        seen.append((scope, receive, send))

    asyncio.run(demo.Limits(lifespan)({"type": "lifespan"}, 1, 2))
    assert seen == [({"type": "lifespan"}, 1, 2)]
