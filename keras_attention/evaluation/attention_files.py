"""Files that show the attention of some sentences: pages, pictures, reports."""

import dataclasses
import pathlib

from keras_attention.checks import check_choice, check_integer
from keras_attention.evaluation.attention_figure import draw_lines
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.attention_page import (
    MOST_WEIGHTS,
    attention_page,
    page_weights,
)
from keras_attention.evaluation.head_profiles import HeadReport
from keras_attention.evaluation.head_report import head_report
from keras_attention.files import write_atomically

SUFFIXES = (".html", ".png", ".svg", ".json", ".txt")
PICTURES = (".png", ".svg")


@dataclasses.dataclass(frozen=True)
class PictureChoice:
    """What a picture shows.

    Attributes:
        sentence: number of the sentence, from 1.
        kind: one of `KINDS`.
        layer: from 1; None = the last.
        heads: numbers of heads, from 1; None = all.
        word: a piece, with or without the mark of a word, whose lines alone are drawn,
            wherever it attends; None = all pieces.

    Raises:
        ValueError: no such kind, or a number below 1.
    """

    sentence: int = 1
    kind: str = KINDS[0]
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    word: str | None = None

    def __post_init__(self):
        check_integer("sentence", self.sentence)
        check_choice("kind", self.kind, KINDS)
        check_integer("layer", self.layer, optional=True)
        for head in self.heads or ():
            check_integer("heads", head)


def write_attention(sentences, paths, choice=None, title="Attention"):
    """Writes a file of what the suffix of each path asks for.

    `.html` is a page of the first sentences, as many as it can hold, with the head
    report of all; `.png` and `.svg` a picture of one block for one sentence; `.json`
    and `.txt` the head report. A file is whole or as it was before.

    Args:
        sentences: iterable of `AttendedSentence` of one model; those that no file
            holds are let go at once, and a picture needs none behind its own.
        paths: list of paths.
        choice: `PictureChoice`; None = its defaults.
        title: of the page.

    Returns:
        `Written`.

    Raises:
        ValueError: another suffix, no sentence, or a choice that the sentences or the
            model do not have.
    """
    choice = choice or PictureChoice()
    paths = [pathlib.Path(path) for path in paths]
    suffixes = {path.suffix for path in paths}
    for path in paths:
        if path.suffix not in SUFFIXES:
            raise ValueError(
                f"A file must end in {', '.join(SUFFIXES)}: that says what is written. "
                f"Received: {path}. Name another one."
            )
    kept = _Kept(choice.sentence, has_page=".html" in suffixes)
    report = None
    if suffixes - {*PICTURES}:
        report = head_report(kept.passing(sentences))
    else:
        any(kept.drawn for _ in kept.passing(sentences))  # reads as far as needed
    contents = {}
    for path in paths:  # all of them before the first is written
        if path.suffix in PICTURES:
            contents[path] = draw_choice(kept.drawn, choice, path.suffix[1:])
        elif path.suffix == ".html":
            contents[path] = attention_page(kept.page, report, title)
        elif path.suffix == ".json":
            contents[path] = report.to_json()
        else:
            contents[path] = report.to_text()
    for path, content in contents.items():
        write_atomically(path, content)
    return Written(report, len(kept.page))


@dataclasses.dataclass(frozen=True)
class Written:
    """What was written.

    Attributes:
        report: the `HeadReport`, or None where no file holds it.
        on_page: how many sentences the page holds.
    """

    report: HeadReport | None
    on_page: int


class _Kept:
    """What is kept of a stream of sentences: one by its number, and those of a page."""

    def __init__(self, number, has_page):
        self.drawn = []
        self.page = []
        self._number = number
        self._room = MOST_WEIGHTS if has_page else 0

    def passing(self, sentences):
        """Yields the sentences."""
        for number, sentence in enumerate(sentences, start=1):
            if number == self._number:
                self.drawn.append(sentence)
            self._show(sentence)
            yield sentence

    def _show(self, sentence):
        size = page_weights(sentence)
        # The first is shown even where it alone is more than a page should hold.
        if size <= self._room or (self._room and not self.page):
            self.page.append(sentence)
            self._room -= size
        else:
            self._room = 0  # a page shows the first sentences, not the short ones


def draw_choice(drawn, choice, form):
    """Returns the picture that was chosen.

    Args:
        drawn: list with the `AttendedSentence` of that number, or empty.
        choice: `PictureChoice`.
        form: "png" or "svg".
    """
    if not drawn:
        raise ValueError(
            "A picture shows one of the sentences. Received: number "
            f"{choice.sentence}, and fewer sentences. Name a smaller one, from 1."
        )
    [sentence] = drawn
    blocks = sentence.maps[choice.kind]
    layer = choice.layer or len(blocks)
    for name, numbers, count in (
        ("layer", [layer], len(blocks)),
        ("heads", choice.heads or (), blocks.shape[1]),
    ):
        if any(number > count for number in numbers):
            raise ValueError(
                f"`{name}` must be at most {count} in this model. Received: "
                f"{max(numbers)}. They are counted from 1."
            )
    queries, keys = sentence.pieces(choice.kind)
    return draw_lines(
        blocks[layer - 1],
        queries,
        keys,
        title=f"{choice.kind.replace('_', ' ')} attention, layer {layer}",
        heads=choice.heads and [head - 1 for head in choice.heads],
        words=None if choice.word is None else _places(choice.word, queries),
        form=form,
    )


def _places(word, queries):
    """Returns the positions of a piece, with or without the mark of a word."""
    names = {word, f"\u2581{word}", f"##{word}"}
    found = [place for place, piece in enumerate(queries) if piece in names]
    if not found:
        raise ValueError(
            f"`word` must be one of the pieces that attend: {' '.join(queries)}. "
            f"Received: {word}. Name one of them."
        )
    return found
