"""What a client returns: the outputs of a signature, one object a row."""

import dataclasses

import numpy as np

from keras_attention.export.client_errors import unexpected


@dataclasses.dataclass(frozen=True)
class ServedTranslation:
    """The best translation of a text.

    Attributes:
        text: of the translation.
        score: its log-probability over the length penalty.
        truncated: whether the source was cut at the model's maximum.
    """

    text: str
    score: float
    truncated: bool


@dataclasses.dataclass(frozen=True)
class ServedHypotheses:
    """The best translations of a text, best first.

    Attributes:
        texts, scores, lengths: tuples, one element a hypothesis; lengths in pieces,
            END counted.
        truncated: whether the source was cut at the model's maximum.
        adjusted: whether a value of the search was out of range and moved into it.
    """

    texts: tuple[str, ...]
    scores: tuple[float, ...]
    lengths: tuple[int, ...]
    truncated: bool
    adjusted: bool

    @property
    def text(self):
        return self.texts[0]

    @property
    def score(self):
        return self.scores[0]


@dataclasses.dataclass(frozen=True)
class ServedScore:
    """How probable a given translation is.

    Attributes:
        log_probability: of the target, END counted; natural logarithm.
        tokens: its pieces, END counted.
        truncated: whether the source was cut at the model's maximum.
    """

    log_probability: float
    tokens: int
    truncated: bool


@dataclasses.dataclass(frozen=True)
class ServedExplanation:
    """A translation, its pieces and what each of them attended to.

    Attributes:
        text, score, truncated: as of `ServedTranslation`.
        pieces: of the source, END the last; S of them.
        output_pieces: of the translation; T of them.
        alignment: float32 (T, S), rows sum to 1.
        token_log_probabilities: of each of the output's pieces.
    """

    text: str
    score: float
    truncated: bool
    pieces: tuple[str, ...]
    output_pieces: tuple[str, ...]
    alignment: np.ndarray = dataclasses.field(repr=False)
    token_log_probabilities: tuple[float, ...]


class Columns:
    """The outputs of one answer, looked at before they are believed.

    Args:
        outputs: {name: array}.
        rows: the first dimension of each of them.
        request: for messages, as `explained` takes it.

    Raises:
        ServingError: an output has another number of rows.
    """

    def __init__(self, outputs, rows, request):
        self._outputs = outputs
        self._request = request
        for name, values in outputs.items():
            if values.shape[:1] != (rows,):
                raise unexpected(
                    request, f"{name} has shape {values.shape}, not {rows} rows"
                )

    def __call__(self, name, rank=1):
        """Returns an output, as lists where it has one axis; texts as str.

        Raises:
            ServingError: the answer has no such output, or it has another rank or
                texts that are no UTF-8.
        """
        if name not in self._outputs:
            names = ", ".join(sorted(self._outputs))
            raise unexpected(self._request, f"it has no output {name}, only {names}")
        values = self._outputs[name]
        if values.ndim != rank and values.size:
            raise unexpected(self._request, f"{name} has shape {values.shape}")
        try:
            return _decoded(values.tolist())
        except UnicodeDecodeError as error:
            raise unexpected(
                self._request, f"{name} holds no UTF-8: {error}"
            ) from error

    def rows(self, *names_and_ranks):
        """Yields a tuple of the outputs of each row."""
        columns = [self(name, rank) for name, rank in names_and_ranks]
        return zip(*columns, strict=True)


def _decoded(values):
    if isinstance(values, list):
        return [_decoded(value) for value in values]
    return values.decode("utf-8") if isinstance(values, bytes) else values


def read_translations(columns):
    """Returns the rows of `serving_default`."""
    names = ("translation", 1), ("score", 1), ("truncated", 1)
    return [ServedTranslation(*row) for row in columns.rows(*names)]


def read_hypotheses(columns):
    """Returns the rows of `nbest`, without the slots that nothing was found for.

    The first slot stays: a row in which nothing was found has "" there.
    """
    names = (
        *(("translations", 2), ("scores", 2), ("lengths", 2)),
        *(("truncated", 1), ("adjusted", 1)),
    )
    missing = float(np.finfo(np.float32).min)
    found = []
    for texts, scores, lengths, *flags in columns.rows(*names):
        slots = [n for n, score in enumerate(scores) if score > missing or n == 0]
        values = ([values[n] for n in slots] for values in (texts, scores, lengths))
        found.append(ServedHypotheses(*map(tuple, values), *flags))
    return found


def read_scores(columns):
    """Returns the rows of `score`."""
    names = ("log_probability", 1), ("tokens", 1), ("truncated", 1)
    return [ServedScore(*row) for row in columns.rows(*names)]


def read_explanations(columns):
    """Returns the rows of `explain`, each without the padding of its neighbours."""
    names = (
        *(("translation", 1), ("score", 1), ("truncated", 1)),
        *(("pieces", 2), ("lengths", 1), ("output_pieces", 2), ("output_lengths", 1)),
        *(("alignment", 3), ("token_log_probabilities", 2)),
    )
    found = []
    for *best, pieces, source, said, target, weights, log_probs in columns.rows(*names):
        alignment = np.zeros((target, source), np.float32)
        for row in range(target):
            alignment[row] = weights[row][:source]
        found.append(
            ServedExplanation(
                *best,
                tuple(pieces[:source]),
                tuple(said[:target]),
                alignment,
                tuple(log_probs[:target]),
            )
        )
    return found
