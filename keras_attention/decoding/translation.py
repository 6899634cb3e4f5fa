"""What a search found, as text."""

import dataclasses

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Translation:
    """What a translator says about one text.

    Attributes:
        text: the best translation, "" for a source without pieces.
        score: its log-probability over the length penalty.
        length: its pieces, END counted; 0 if nothing was searched.
        hypotheses: (text, score) of all that were found, best first.
        truncated: whether the source was cut at the maximum.
        source_length: pieces of the source before it was cut, without END.
    """

    text: str
    score: float
    length: int
    hypotheses: list[tuple[str, float]]
    truncated: bool
    source_length: int


def read_hypotheses(tokenizer, output):
    """Yields (text, score, length, hypotheses) of each row of an output."""
    rows, slots, longest = output.ids.shape
    texts = tokenizer.detokenize(tf.reshape(output.ids, (rows * slots, longest)))
    texts = np.reshape(texts.numpy(), (rows, slots))
    scores, lengths = output.scores.numpy(), output.lengths.numpy()
    for row in range(rows):
        hypotheses = [
            (text.decode("utf-8", errors="replace"), float(score))
            for text, score in zip(texts[row], scores[row], strict=True)
            if score > -np.inf
        ]
        text = hypotheses[0][0] if hypotheses else ""
        yield text, float(scores[row, 0]), int(lengths[row, 0]), hypotheses
