"""A page on this machine to try an exported version, made with Gradio.

It listens on 127.0.0.1 alone and asks nothing of any other address: fonts are those of
the system, nothing is counted, nothing is shared. It is for trying a model out; for
users there is TensorFlow Serving.
"""

import os
import socket

from keras_attention.export import demo_page
from keras_attention.export.demo_model import DemoModel

HOST, PORT = "127.0.0.1", 7860
MOST_BYTES = 64 * 1024  # of a request's body: a text, and what Gradio adds to it
CLOSING_SECONDS = 2  # that open connections get when the server ends
# What the browser may load: nothing that this server does not send itself.
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "frame-ancestors 'none'; form-action 'self'"
)


def serve_demo(version, port=PORT, announce=print):
    """Serves the page of a version until the process is told to end.

    Args:
        version: the folder of a version, or of versions; then the newest is taken.
        port: 1 to 65 535; 0 = one that is free.
        announce: called with the address of the page when a browser may open it.

    Raises:
        ValueError: no version, or one that a check refuses; no such port; or Gradio is
            not installed.
        OSError: the port is taken.
    """
    _gradio()
    with listening(port) as listener:
        server = make_server(DemoModel(version))
        announce("http://{}:{}".format(*listener.getsockname()))
        server.run(sockets=[listener])


def listening(port):
    """Returns a socket on 127.0.0.1 that accepts connections.

    Raises:
        ValueError: no such port.
        OSError: the port is taken.
    """
    if not 0 <= port <= 65_535:
        raise ValueError(
            f"`port` must be 1 to 65535, or 0 for a free one. Received: {port}."
        )
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OSError(
            f"cannot listen on {HOST}:{port}: {error.strerror}. Name another port; 0 "
            "takes a free one"
        ) from error
    return listener


def make_server(model):
    """Returns the `uvicorn.Server` of the page.

    Args:
        model: `DemoModel`.
    """
    gradio = _gradio()
    import fastapi
    import uvicorn
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Limits)
    # A page of another site whose name resolves to this address is not answered.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    app = gradio.mount_gradio_app(
        app,
        demo_page.make_page(gradio, model),
        path="/",
        server_name=HOST,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        mcp_server=False,
        theme=demo_page.make_theme(gradio),
        css=demo_page.STYLE,
    )
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
    )


def _gradio():
    """Imports Gradio with everything switched off that would call home."""
    os.environ.update(GRADIO_ANALYTICS_ENABLED="False", HF_HUB_DISABLE_TELEMETRY="1")
    try:
        import gradio
    except ImportError as error:
        raise ValueError(
            f"The page needs gradio. Received: {error}. "
            "Run `pip install 'keras-attention[demo]'`."
        ) from error
    return gradio


class Limits:
    """Refuses large requests, and tells browsers to load from this server alone.

    Args:
        app: the ASGI application behind it.
    """

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        async def send_with_policy(message):
            if message["type"] == "http.response.start":
                policy = (b"content-security-policy", POLICY.encode("ascii"))
                message = {**message, "headers": [*message["headers"], policy]}
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _fits(scope):
            await self._app(scope, receive, send_with_policy)
        else:
            await send({"type": "http.response.start", "status": 413, "headers": []})
            await send({"type": "http.response.body", "body": b"too large\n"})


def _fits(scope):
    """Whether a request has no body, or says that it is small enough."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return True
    length = dict(scope["headers"]).get(b"content-length", b"")
    return length.isdigit() and int(length) <= MOST_BYTES
