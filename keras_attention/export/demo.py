"""A page on this machine to try an exported version, made with Gradio.

It listens on 127.0.0.1 alone and asks nothing of any other address: fonts are those of
the system, nothing is counted, nothing is shared. It is for trying a model out; for
users there is TensorFlow Serving.
"""

import html
import os
import socket

from keras_attention.export import demo_views
from keras_attention.export.demo_model import MOST_CHARACTERS, DemoModel

HOST, PORT = "127.0.0.1", 7860
MOST_ALPHA = 3.0  # of the slider; a version takes up to 10
MOST_BYTES = 64 * 1024  # of a request's body: a text, and what Gradio adds to it
AT_ONCE, WAITING = 2, 16  # requests that are translated, and that wait
CLOSING_SECONDS = 2  # that open connections get when the server ends
FONTS = ("system-ui", "sans-serif")
# What the browser may load: nothing that this server does not send itself.
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "frame-ancestors 'none'; form-action 'self'"
)
STYLE = """
:focus-visible { outline: 3px solid #1d4ed8 !important; outline-offset: 2px; }
.answer table { border-collapse: collapse; margin: 0.5em 0; }
.answer caption { text-align: left; font-weight: 600; padding: 0.25em 0; }
.answer th, .answer td { border: 1px solid #71717a; padding: 0.25em 0.6em; }
.answer img { max-width: 100%; height: auto; background: white; }
.answer .scroll { overflow-x: auto; }
.answer summary { cursor: pointer; }
.answer .error { border-left: 4px solid #b91c1c; padding-left: 0.6em; }
"""
# A region that is there before it is filled is read aloud when it changes.
ANNOUNCE = """() => {
  const status = document.getElementById("status");
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");
}"""


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
        make_page(gradio, model),
        path="/",
        server_name=HOST,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        mcp_server=False,
        theme=gradio.themes.Default(font=FONTS, font_mono=("monospace",)),
        css=STYLE,
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


def make_page(gradio, model):
    """Returns the `gradio.Blocks` of a version.

    Args:
        gradio: the module.
        model: `DemoModel`.
    """
    title = f"{model.version.parent.name}, version {model.version.name}"
    with gradio.Blocks(analytics_enabled=False, title=title) as page:
        gradio.HTML(_heading(title, model.manifest))
        text = gradio.Textbox(
            label="Text",
            info=f"Enter translates. At most {MOST_CHARACTERS:,} characters.",
            lines=1,
            max_lines=8,
            autofocus=True,
            elem_id="text",
        )
        with gradio.Row():
            settings = _sliders(gradio, model)
        button = gradio.Button("Translate", variant="primary", elem_id="translate")
        outputs = [
            gradio.HTML(elem_id=name, elem_classes="answer", min_height=height)
            for name, height in (("status", 40), ("hypotheses", 0), ("alignment", 0))
        ]
        page.load(None, js=ANNOUNCE)
        gradio.on(
            [text.submit, button.click],
            lambda *values: answers(model, *values),
            inputs=[text, *settings],
            outputs=outputs,
            show_progress="minimal",
            show_progress_on=outputs[0],
            api_visibility="private",
            concurrency_limit=AT_ONCE,
        )
    return page.queue(max_size=WAITING, api_open=False)


def _heading(title, manifest):
    bleu = manifest.get("bleu") or {}
    told = ""
    if "score" in bleu:
        told = f"<p>BLEU {bleu['score']:.2f}, {html.escape(str(bleu['signature']))}</p>"
    return f"<h1>{html.escape(title)}</h1>{told}"


def _sliders(gradio, model):
    """Returns the components for beam size, alpha and number of hypotheses."""
    usual = model.setting("beam_size")
    return [
        gradio.Slider(
            1,
            model.largest_beam,
            usual,
            step=1,
            label="Beam size",
            info=f"The version's own is {usual}.",
            elem_id="beam_size",
        ),
        gradio.Slider(
            0.0,
            MOST_ALPHA,
            model.setting("length_penalty_alpha"),
            step=0.1,
            label="Length penalty alpha",
            info="0 compares sums of log-probabilities; more prefers longer texts.",
            elem_id="length_penalty_alpha",
        ),
        gradio.Slider(
            1,
            model.largest_beam,
            min(usual, model.largest_beam),
            step=1,
            label="Hypotheses",
            info="No more than beams.",
            elem_id="num_hypotheses",
        ),
    ]


def answers(model, text, *settings):
    """Yields what the page shows while a request runs, then what came of it.

    Args:
        model: `DemoModel`.
        text: what was typed.
        *settings: beam size, alpha and number of hypotheses of the sliders.

    Yields:
        HTML of the status, the hypotheses and the alignment.
    """
    yield "<p>Translating …</p>", "", ""
    try:
        answer = model.ask(text, *settings)
    except ValueError as error:
        yield demo_views.error_line(error), "", ""
        return
    alignment = demo_views.alignment_note(answer)
    if answer.explanation is not None:
        alignment += demo_views.alignment_figure(answer.explanation)
    yield (
        demo_views.status_line(answer, model.largest_beam),
        demo_views.hypotheses_table(answer.hypotheses),
        f"<h2>Alignment</h2>{alignment}",
    )
