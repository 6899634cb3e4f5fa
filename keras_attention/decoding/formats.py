"""Translations and scores as lines of a file; no line ends inside one of them."""

import json
import math

FORMATS = ("text", "nbest", "jsonl")
SCORE_FORMATS = ("text", "jsonl")
# Digits behind the point: float32 has no more of a score, nobody sees more of a weight.
SCORE_DIGITS, WEIGHT_DIGITS = 6, 4
# JSON lets these stand in a string, and many readers end a line at them.
_LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}


def one_line(text):
    """Returns a text with spaces for its line breaks, which byte pieces can spell.

    Example:

    >>> one_line("a\\nb\\u2028c")
    'a b c'
    """
    return " ".join(text.splitlines())


class TranslationLines:
    """Writes `Translation`s as "text", "nbest" or "jsonl".

    "text" is the best translation; "nbest" is `number ||| text ||| score` for every
    hypothesis; "jsonl" is one object with all that was found.

    Args:
        form: one of `FORMATS`.
        translator: the `Translator`, for its pieces and for what it was asked for.

    Raises:
        ValueError: `form` is none of them.
    """

    def __init__(self, form, translator):
        _check(form, FORMATS)
        self._write = getattr(self, f"_{form}")
        self._pieces = translator.tokenizer.pieces
        self._config = translator.decoding_config

    def __call__(self, number, translation):
        """Returns the lines of a translation, each with its line feed.

        Args:
            number: of the source line, from 0.
            translation: `Translation`.
        """
        return self._write(number, translation)

    def _text(self, _, translation):
        return one_line(translation.text) + "\n"

    def _nbest(self, number, translation):
        return "".join(
            f"{number} ||| {one_line(each.text)} ||| {each.score:.{SCORE_DIGITS}f}\n"
            for each in translation.hypotheses
        )

    def _jsonl(self, _, translation):
        told = {
            "text": translation.text,
            "score": _rounded(translation.score),
            "length": translation.length,
            "truncated": translation.truncated,
            "source_length": translation.source_length,
            "hypotheses": [self._hypothesis(x) for x in translation.hypotheses],
        }
        if self._config.return_attention_weights:
            told["source_pieces"] = [self._pieces[x] for x in translation.source_ids]
        return json_line(told)

    def _hypothesis(self, each):
        told = {
            "text": each.text,
            "score": _rounded(each.score),
            "length": each.length,
            "pieces": [self._pieces[piece] for piece in each.ids],
        }
        if self._config.return_token_log_probs:
            values = each.token_log_probs or ()
            told["token_log_probabilities"] = [_rounded(value) for value in values]
        if self._config.return_attention_weights:
            weights = each.attention_weights
            told["attention"] = [
                [round(float(weight), WEIGHT_DIGITS) for weight in row]
                for row in ([] if weights is None else weights)
            ]
        return told


class ScoreLines:
    """Writes scores as "text", the log-probability of a target, or as "jsonl".

    Args:
        form: one of `SCORE_FORMATS`.
        translator: the `Translator`, for its pieces.

    Raises:
        ValueError: `form` is none of them.
    """

    def __init__(self, form, translator):
        _check(form, SCORE_FORMATS)
        self._is_text = form == "text"
        self._pieces = translator.tokenizer.pieces

    def __call__(self, ids, log_probs):
        """Returns the line of a target, with its line feed.

        Args:
            ids: of its pieces, END the last.
            log_probs: list of float, of each of them.
        """
        total = math.fsum(log_probs)
        if self._is_text:
            return f"{total:.{SCORE_DIGITS}f}\n"
        return json_line(
            {
                "log_probability": _rounded(total),
                "tokens": len(ids),
                "token_log_probabilities": [_rounded(value) for value in log_probs],
                "pieces": [self._pieces[piece] for piece in ids],
            }
        )


def json_line(value):
    """Returns a value as JSON in one line, whatever a reader takes for a line's end.

    Example:

    >>> json_line({"text": "é\\u2028\\n"})
    '{"text": "é\\\\u2028\\\\n"}\\n'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.translate(_LINE_ENDS) + "\n"


def _rounded(value):
    """Returns a score for JSON, which has no infinity: None in its place."""
    return round(value, SCORE_DIGITS) if math.isfinite(value) else None


def _check(form, forms):
    if form not in forms:
        raise ValueError(
            f"A format must be one of {', '.join(forms)}. Received: {form!r}."
        )
