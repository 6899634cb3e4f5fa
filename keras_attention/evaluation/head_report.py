"""What each head of a model does: where its weight goes, and how spread it is."""

import unicodedata

import numpy as np

from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.evaluation.head_profiles import MEASURES, HeadProfile, HeadReport
from keras_attention.vocabulary import END, START

_MARKS = ("\u2581", "##")  # what begins a piece that begins, or goes on with, a word


def head_report(sentences):
    """Measures what each head attends to.

    Attention is no explanation of what a model does: a head that attends to a word may
    take little of it. The report says where the weight goes, nothing else.

    The aligned source piece of a target piece is a consensus: the one to which all
    *other* encoder-decoder heads, of all blocks, give most weight on average where that
    piece is written; END is no candidate. So a head is never compared with itself, and
    a model with one head alone has no aligned pieces.

    Args:
        sentences: iterable of `AttendedSentence`, of one model; one at a time is held.

    Returns:
        `HeadReport`.

    Raises:
        ValueError: no sentence, or sentences of different models.

    Example:

    >>> from keras_attention.evaluation.attended_sentences import AttendedSentence
    >>> one, two = np.ones((1, 1, 1, 1)), np.tile([[1.0, 0.0]], (1, 1, 2, 1))
    >>> maps = dict(encoder_self=one, decoder_self=two, encoder_decoder=two[..., :1])
    >>> pieces = ("[END]",), ("[START]", "."), (".", "[END]")
    >>> sentence = AttendedSentence("", ".", *pieces, maps)
    >>> report = head_report([sentence])
    >>> report.heads[1].previous, report.heads[1].roles
    (1.0, ('previous', 'same', 'boundary'))

    Reference:
        The paper's section 4 and figures 3-5. Measures as in Clark et al. 2019, "What
        Does BERT Look At?", sections 3 and 4; Voita et al. 2019, "Analyzing Multi-Head
        Self-Attention", section 5.
    """
    count, sums = 0, {}
    for count, sentence in enumerate(sentences, start=1):
        shapes = {kind: sentence.maps[kind].shape[:2] for kind in KINDS}
        if len(set(shapes.values())) != 1 or (
            sums and shapes[KINDS[0]] != sums[KINDS[0]].shape
        ):
            raise ValueError(
                "A report is about the sentences of one model. Received: maps of "
                f"{shapes} (blocks, heads) at index {count - 1}. Pass those of one "
                "model."
            )
        for kind in KINDS:
            if kind not in sums:
                sums[kind] = _Sums(shapes[kind])
            sums[kind].add(sentence, kind)
    if not count:
        raise ValueError(
            "A head report needs at least one sentence. Received: none. "
            "Pass some sentences."
        )
    return HeadReport(
        sentences=count,
        positions={kind: sums[kind].positions for kind in KINDS},
        heads=tuple(head for kind in KINDS for head in sums[kind].profiles(kind)),
        uniform={kind: sums[kind].uniform(kind) for kind in KINDS},
    )


class _Sums:
    """Sums of what is measured, over the positions of all sentences, for one kind."""

    def __init__(self, shape):
        self.shape = shape
        self.positions = 0
        self._totals = {name: np.zeros(shape) for name in MEASURES}
        self._hits = {name: np.zeros(shape) for name in MEASURES if name != "entropy"}
        self._chances = dict.fromkeys(MEASURES, 0.0)
        self._counts = dict.fromkeys(MEASURES, 0)

    def add(self, sentence, kind):
        """Adds all positions of a sentence."""
        weights = np.asarray(sentence.maps[kind], "float64")
        allowed = np.ones(weights.shape[2:], bool)
        if kind == "decoder_self":
            allowed = np.tril(allowed)
        uniform = allowed / allowed.sum(1, keepdims=True)
        self.positions += len(allowed)
        for name, looked_at in _places(sentence, kind):
            self._share(name, weights, uniform, looked_at & allowed)
        if kind == "encoder_decoder":
            self._aligned(sentence, weights, uniform)
        self._totals["entropy"] += _entropy(weights).sum(-1)
        self._chances["entropy"] += float(_entropy(uniform).sum())
        self._counts["entropy"] += len(allowed)

    def _share(self, name, weights, uniform, looked_at):
        rows = looked_at.any(1)  # a mean is about those that can attend to it
        self._totals[name] += (weights * looked_at).sum((-2, -1))
        best = weights.argmax(-1)  # (N, H, Q)
        self._hits[name] += looked_at[np.arange(len(rows)), best].sum(-1)
        self._chances[name] += float((uniform * looked_at).sum())
        self._counts[name] += int(rows.sum())

    def _aligned(self, sentence, weights, uniform):
        written = _without_end(sentence.written_pieces)
        source = _without_end(sentence.source_pieces)
        if not (written and source) or np.prod(self.shape) == 1:
            return
        others = weights.sum((0, 1)) - weights
        aligned = others[:, :, :written, :source].argmax(-1)[..., None]  # (N, H, T, 1)
        for name, first in (("aligned", 0), ("aligned_read", 1)):
            rows = weights[:, :, first : first + written]
            places = aligned[:, :, : rows.shape[2]]
            self._totals[name] += np.take_along_axis(rows, places, -1).sum((-2, -1))
            self._hits[name] += (rows.argmax(-1) == places[..., 0]).sum(-1)
            self._chances[name] += float(uniform[first : first + written, 0].sum())
            self._counts[name] += rows.shape[2]

    def profiles(self, kind):
        """Yields the `HeadProfile` of each head."""
        for layer, head in np.ndindex(*self.shape):
            totals, hits = (
                {name: float(x[layer, head]) for name, x in sums.items()}
                for sums in (self._totals, self._hits)
            )
            means = self._means(totals)
            yield HeadProfile(
                kind, layer + 1, head + 1, **means, strongest=self._means(hits)
            )

    def uniform(self, kind):
        """Returns the `HeadProfile` of a head that attends to everything alike."""
        return HeadProfile(kind, 0, 0, **self._means(self._chances), strongest={})

    def _means(self, totals):
        counts = self._counts
        return {n: x / counts[n] if counts[n] else None for n, x in totals.items()}


def _places(sentence, kind):
    """Yields the name of a measure and, boolean (Q, M), the places that it counts."""
    queries, keys = sentence.pieces(kind)
    for name, offset in (("previous", -1), ("same", 0), ("next", 1)):
        yield name, np.eye(len(queries), len(keys), k=offset, dtype=bool)
    for name, test in (("punctuation", is_punctuation), ("boundary", _is_boundary)):
        yield name, np.tile([test(piece) for piece in keys], (len(queries), 1))


def is_punctuation(piece):
    """Tells whether a piece is nothing but punctuation, of any script.

    Args:
        piece: str; U+2581 or ## before it, which tell of words, do not count.

    Example:

    >>> [is_punctuation(piece) for piece in ("\\u2581.", "##.", "。", "\\u2581", "'s")]
    [True, True, True, False, False]
    """
    for mark in _MARKS:
        if len(piece) > len(mark):
            piece = piece.removeprefix(mark)
    signs = [sign for sign in piece if sign != _MARKS[0]]
    return bool(signs) and all(unicodedata.category(x).startswith("P") for x in signs)


def _is_boundary(piece):
    return piece in (START, END)


def _without_end(pieces):
    """Returns the number of pieces before END."""
    return len(pieces) - (pieces[-1] == END)


def _entropy(weights):
    """(..., Q, M) -> (..., Q) in nats; a weight of 0 adds nothing."""
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(-1)
