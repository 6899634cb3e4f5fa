"""What a server said as lines of a file, like those of `decoding.formats`."""

from keras_attention.checks import check_choice
from keras_attention.decoding.formats import FORMATS, SCORE_DIGITS, json_line, one_line


class ServedLines:
    """Writes the answers of a `TranslationClient` as "text", "nbest" or "jsonl".

    "text" is the best translation; "nbest" is `number ||| text ||| score` for every
    hypothesis; "jsonl" is one object with all that the server said.

    Args:
        form: one of `decoding.formats.FORMATS`.

    Raises:
        ValueError: `form` is none of them.

    Example:

    >>> from keras_attention.export.client_answers import ServedHypotheses
    >>> said = ServedHypotheses(("ja", "je\\n"), (-0.25, -3.0), (2, 2), False, False)
    >>> print(end=ServedLines("nbest")(7, said))
    7 ||| ja ||| -0.250000
    7 ||| je ||| -3.000000
    """

    def __init__(self, form):
        self._write = getattr(self, f"_{check_choice('form', form, FORMATS)}")

    def __call__(self, number, answer):
        """Returns the lines of an answer, each with its line feed.

        Args:
            number: of the source line, from 0.
            answer: `ServedTranslation` for "text", or `ServedHypotheses`.
        """
        return self._write(number, answer)

    def _text(self, _, answer):
        return one_line(answer.text) + "\n"

    def _nbest(self, number, answer):
        return "".join(
            f"{number} ||| {one_line(text)} ||| {score:.{SCORE_DIGITS}f}\n"
            for text, score in zip(answer.texts, answer.scores, strict=True)
        )

    def _jsonl(self, _, answer):
        scores = [round(score, SCORE_DIGITS) for score in answer.scores]
        rows = zip(answer.texts, scores, answer.lengths, strict=True)
        return json_line(
            {
                "text": answer.text,
                "score": scores[0],
                "truncated": answer.truncated,
                "adjusted": answer.adjusted,
                "hypotheses": [
                    {"text": text, "score": score, "length": length}
                    for text, score, length in rows
                ],
            }
        )
