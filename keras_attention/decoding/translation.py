"""What a search found, as text."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """One translation of a text.

    Attributes:
        text: the pieces joined, "" for none.
        score: its log-probability over the length penalty (plus coverage, if asked).
        length: its pieces, END counted.
        ids: its pieces' ids; END is the last, unless the limit cut it off.
        token_log_probs: the natural logarithm of each id's probability, if asked for.
        attention_weights: float32 (length, source pieces + END), the mean over the
            heads, if asked for.
    """

    text: str
    score: float
    length: int
    ids: tuple[int, ...] = ()
    token_log_probs: tuple[float, ...] | None = None
    attention_weights: np.ndarray | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class Translation:
    """What a translator says about one text.

    Attributes:
        text: the best translation, "" for a source without pieces.
        score: its log-probability over the length penalty.
        length: its pieces, END counted; 0 if nothing was searched.
        hypotheses: a `Hypothesis` for all that were found, best first.
        truncated: whether the source was cut at the maximum.
        source_length: pieces of the source before it was cut, without END.
        source_ids: the pieces that were read, END the last: what a row of the
            attention weights speaks of; told with them.
    """

    hypotheses: tuple[Hypothesis, ...]
    truncated: bool
    source_length: int
    source_ids: tuple[int, ...] = ()

    @property
    def text(self):
        return self.hypotheses[0].text

    @property
    def score(self):
        return self.hypotheses[0].score

    @property
    def length(self):
        return self.hypotheses[0].length


def read_hypotheses(tokenizer, output):
    """Yields the hypotheses of each row of a `BeamSearchOutput`, as tuples.

    A row without any gives "" with the score of its first slot.
    """
    rows, slots, longest = output.ids.shape
    ids, lengths, scores = map(np.asarray, output)
    texts = tokenizer.detokenize(np.reshape(ids, (rows * slots, longest)))
    texts = np.reshape(texts.numpy(), (rows, slots))
    for row in range(rows):
        yield tuple(
            Hypothesis(
                text=texts[row, slot].decode("utf-8", errors="replace"),
                score=float(scores[row, slot]),
                length=int(lengths[row, slot]),
                ids=tuple(ids[row, slot, : lengths[row, slot]].tolist()),
            )
            for slot in range(slots)
            if scores[row, slot] > -np.inf or slot == 0
        )
