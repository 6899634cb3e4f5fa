"""The flags of `visualize_attention`, and what of them goes together."""

import pathlib

from absl import app, flags

from trainers import _flags, _paths, _streams

flags.disclaim_key_flags()  # they belong to the binary

KINDS = ("encoder_self", "decoder_self", "encoder_decoder")
SUFFIXES = (".html", ".png", ".svg", ".json", ".txt")
PICTURES = (".png", ".svg")


def text_flags():
    """Defines what names the sentences.

    Returns:
        A function that gives the sides of `attended_lines`, and the paths of the files
        that they read, None for stdin.
    """
    _flags.define("input", str, "text file, plain or .gz (default: stdin)")
    _flags.define("text", str, "one sentence instead of a file")
    _flags.define(
        "target", str, "file of translations to force (default: it translates)"
    )
    _flags.define("target_text", str, "the translation of --text to force")

    def sides():
        names = ("input", "text", "target", "target_text")
        source, text, target, target_text = (_flags.FLAGS[n].value for n in names)
        if source and text is not None:
            raise app.UsageError("--input has no meaning beside --text")
        if target_text is not None and (text is None or target):
            raise app.UsageError("--target_text has a meaning with --text alone")
        if target:
            _paths.readable(target, "--target")
        if text is None:
            _streams.checked_input(source)
            sources = source or "stdin", _streams.lines(source, "--input")
        else:
            sources = "--text", [text]
        targets = None
        if target:
            targets = target, _streams.lines(target, "--target")
        elif target_text is not None:
            targets = "--target_text", [target_text]
        files = [source] if text is None else []
        return (sources, targets), [*files, *filter(None, [target])]

    return sides


def output_flags():
    """Defines what names the files to write.

    Returns:
        A function that takes the paths of the files that are read, and gives those of
        the files to write and the keyword arguments of `PictureChoice`.
    """
    _flags.define(
        "output", list, f"files, their kind by their end: {' '.join(SUFFIXES)}"
    )
    _flags.define("sentence", int, "of a picture: number of the line (default: 1)")
    _flags.define(
        "kind", KINDS, "of a picture: which attention (default: encoder_self)"
    )
    _flags.define("layer", int, "of a picture: number of the block (default: the last)")
    _flags.define(
        "heads", list, "of a picture: numbers of heads, from 1 (default: all)"
    )
    _flags.define("word", str, "of a picture: the piece that alone has lines")

    def outputs(read):
        paths = [pathlib.Path(path) for path in _flags.required("output")]
        for path in paths:
            if path.suffix not in SUFFIXES:
                raise app.UsageError(
                    f"--output: {path} must end in {', '.join(SUFFIXES)}, which says "
                    "what is written"
                )
        paths = [_streams.checked_output(path, *(read or [None])) for path in paths]
        return paths, _choice(any(path.suffix in PICTURES for path in paths))

    return outputs


def _choice(draws):
    names = ("sentence", "kind", "layer", "heads", "word")
    given = {name: _flags.FLAGS[name].value for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if not draws:
            raise app.UsageError(
                f"--{name} has no meaning without a picture in --output"
            )
    if "heads" in given:
        if not all(head.isascii() and head.isdigit() for head in given["heads"]):
            raise app.UsageError(
                f"--heads must be numbers from 1; received {','.join(given['heads'])}"
            )
        given["heads"] = tuple(map(int, given["heads"]))
    return given
