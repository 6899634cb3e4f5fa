"""An exported version as a page asks it: one text, its hypotheses, its alignment."""

import dataclasses
import math
import pathlib
import time

import numpy as np
import tensorflow as tf

from keras_attention.decoding_config import DecodingConfig
from keras_attention.export.allowed_ops import check_ops
from keras_attention.export.checksums import check_manifest, read_manifest
from keras_attention.export.client_answers import (
    Columns,
    ServedExplanation,
    ServedHypotheses,
    read_explanations,
    read_hypotheses,
)

MOST_CHARACTERS = 2_000  # of a text; what fits is cut by the model at its own maximum
_LARGEST = np.iinfo(np.int32).max
_WARMUP_TEXT = "a"


@dataclasses.dataclass(frozen=True)
class DemoAnswer:
    """What a version says about one text.

    Attributes:
        hypotheses: `ServedHypotheses` of `nbest`, searched as was asked.
        search_seconds: that `nbest` took, tokenizer included.
        explanation: `ServedExplanation` of the translation that the version makes with
            its own settings; None where it has no signature `explain`.
        explain_seconds: that `explain` took; 0.0 without it.
    """

    hypotheses: ServedHypotheses
    search_seconds: float
    explanation: ServedExplanation | None = None
    explain_seconds: float = 0.0

    @property
    def milliseconds_per_token(self):
        """Of the search, for each token of its best hypothesis, END counted."""
        return 1e3 * self.search_seconds / max(1, self.hypotheses.lengths[0])

    @property
    def explains_the_best(self):
        """Whether the alignment is that of the best hypothesis."""
        return (
            self.explanation is not None
            and self.explanation.text == self.hypotheses.text
        )


def newest_version(folder):
    """Returns the folder of a version: `folder` itself, or the largest number in it.

    Args:
        folder: `saved_models/NAME/VERSION`, or `saved_models/NAME`.

    Returns:
        `pathlib.Path`.

    Raises:
        ValueError: neither is an exported version.

    Example:

    >>> import tempfile
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> for number in ("9", "10"):
    ...     (home / number).mkdir()
    ...     _ = (home / number / "saved_model.pb").write_bytes(b"")
    >>> newest_version(home).name
    '10'
    """
    folder = pathlib.Path(folder)
    numbered = [x for x in folder.glob("*") if x.name.isdecimal() and _is_version(x)]
    if _is_version(folder):
        return folder
    if not numbered:
        raise ValueError(
            "Expected an exported version, or a folder of versions named by their "
            f"numbers. Received: {str(folder)!r}, which holds no saved_model.pb. "
            "Write one with `ka-export-translation`."
        )
    return max(numbered, key=lambda path: int(path.name))


def _is_version(folder):
    return (folder / "saved_model.pb").is_file()


class DemoModel:
    """An exported version in this process; nothing of its training run is needed.

    Its operations and sums are checked before anything is loaded. Loading ends with
    a first request, so that the times of later ones are those of a warm server. Several
    threads may ask at once.

    Args:
        version: the folder of a version, or of versions; then the newest is taken.

    Attributes:
        version: `pathlib.Path` of the version.
        manifest: what `manifest.json` says, {} without one.
        decoding: `DecodingConfig` fields that it was exported with, where told.
        largest_beam: the beam size that `nbest` goes up to.
        explains: whether it has the signature `explain`; that of an ensemble has not.

    Raises:
        ValueError: it is no version, it has no signature `nbest`, or a check fails.
    """

    def __init__(self, version):
        import tensorflow_text  # noqa: F401  its operations are in the graph

        self.version = newest_version(version)
        check_ops(self.version)
        check_manifest(self.version)
        self.manifest = read_manifest(self.version)
        self.decoding = self.manifest.get("decoding", {})
        # The functions do not keep the variables alive that they read.
        self._loaded = tf.saved_model.load(str(self.version))
        if "nbest" not in self._loaded.signatures:
            raise ValueError(
                "Expected a version with the signature `nbest`. Received: "
                f"{str(self.version)!r} with {', '.join(self._loaded.signatures)}. "
                "Export the model again."
            )
        self.explains = "explain" in self._loaded.signatures
        self.largest_beam = self._find_largest_beam()
        self.ask(_WARMUP_TEXT, self.largest_beam)
        self.ask(_WARMUP_TEXT)

    def setting(self, name):
        """Returns a field of the version's `DecodingConfig`, else its default."""
        return self.decoding.get(name, getattr(DecodingConfig, name))

    def ask(self, text, beam_size=None, length_penalty_alpha=None, num_hypotheses=None):
        """Returns the `DemoAnswer` for a text.

        A value that is out of the version's range is moved into it by the version,
        which flags the answer as adjusted.

        Args:
            text: str of 1 to 2 000 characters that are not all spaces.
            beam_size, num_hypotheses: integers; None = as it was exported, 1.
            length_penalty_alpha: number; None = as it was exported.

        Raises:
            ValueError: a text that is empty or too long, a value that is no number,
                or what the version itself could not do.
        """
        text = _checked(text)
        asked = {
            "beam_size": _int32("beam_size", beam_size, self.setting("beam_size")),
            "num_hypotheses": _int32("num_hypotheses", num_hypotheses, 1),
            "max_extra_length": np.int32(self.setting("max_extra_length")),
            "length_penalty_alpha": np.float32(
                _number(
                    "length_penalty_alpha",
                    length_penalty_alpha,
                    self.setting("length_penalty_alpha"),
                )
            ),
        }
        columns, seconds = self._call("nbest", text, asked)
        [hypotheses] = read_hypotheses(columns)
        if not self.explains:
            return DemoAnswer(hypotheses, seconds)
        columns, explain_seconds = self._call("explain", text)
        [explanation] = read_explanations(columns)
        return DemoAnswer(hypotheses, seconds, explanation, explain_seconds)

    def _find_largest_beam(self):
        # A text of nothing is not searched, and gets as many slots as a row may have.
        most = np.int32(_LARGEST)
        values = {"beam_size": most, "num_hypotheses": most, "max_extra_length": 0}
        asked = {**values, "length_penalty_alpha": np.float32(0.0)}
        columns, _ = self._call("nbest", "", asked)
        return len(columns("translations", 2)[0])

    def _call(self, signature, text, values=None):
        """Returns the outputs of a request of one row, and its seconds."""
        started = time.perf_counter()
        inputs = {name: tf.constant([value]) for name, value in (values or {}).items()}
        encoded = text.encode("utf-8", "replace")  # half a character cannot be sent
        try:
            found = self._loaded.signatures[signature](
                text=tf.constant([encoded]), **inputs
            )
            outputs = {name: value.numpy() for name, value in found.items()}
        except tf.errors.OpError as error:
            reason = error.message.splitlines()[0]
            raise ValueError(
                f"The model could not do it. Received: {reason}. Try a shorter text or "
                "a smaller beam."
            ) from error
        seconds = time.perf_counter() - started
        request = {"address": str(self.version), "signature": signature}
        return Columns(outputs, 1, request), seconds


def _checked(text):
    """Returns the text if there is one and it is not too long."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(
            "Expected a sentence to translate. Received: no text. Type one and press "
            "Enter."
        )
    if len(text) > MOST_CHARACTERS:
        raise ValueError(
            f"Expected at most {MOST_CHARACTERS:,} characters. Received: "
            f"{len(text):,}. Translate it in parts."
        )
    return text


def _number(name, value, default):
    """Returns a finite float."""
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"`{name}` must be a number. Received: {value!r}.")
    if not math.isfinite(value):
        raise ValueError(f"`{name}` must be finite. Received: {value!r}.")
    return value


def _int32(name, value, default):
    """Returns the integer, moved into the range of the type."""
    value = int(_number(name, value, default))
    return np.int32(min(max(value, -_LARGEST), _LARGEST))
