"""The page of an exported version: a text, three sliders, and what came of them."""

import functools
import html

from keras_attention.export import demo_views
from keras_attention.export.demo_model import MOST_CHARACTERS

MOST_ALPHA = 3.0  # of the slider; a version takes up to 10
AT_ONCE, WAITING = 2, 16  # requests that are translated, and that wait
FONTS = ("system-ui", "sans-serif")
STYLE = """
:focus-visible { outline: 3px solid #3b82f6 !important; outline-offset: 2px;
  transition: none !important; }
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


def make_theme(gradio):
    """Returns Gradio's theme with fonts of the system and enough contrast to read."""
    theme = gradio.themes.Default(
        primary_hue="blue", font=FONTS, font_mono=("monospace",)
    )
    return theme.set(
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
    )


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
            functools.partial(answers, model),
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
