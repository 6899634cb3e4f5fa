"""Sentences, and what every head of a model attends to in them."""

import dataclasses

import numpy as np

from keras_attention.decoding.forced import check_fits
from keras_attention.decoding.lines import windows
from keras_attention.decoding.texts import batches, check_beside, check_texts
from keras_attention.evaluation.attention_maps import KINDS
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID

SIDES = {  # kind -> (who attends, what is attended to)
    "encoder_self": ("source", "source"),
    "decoder_self": ("target", "target"),
    "encoder_decoder": ("written", "source"),
}
WINDOW = 64  # sentences whose weights are in memory at a time
_MOST_WEIGHTS = 2**24  # of a batch, float32


@dataclasses.dataclass(frozen=True, eq=False)
class AttendedSentence:
    """A source, its translation, and all attention weights between their pieces.

    Attributes:
        source, target: str, the texts.
        source_pieces: S str, what the encoder reads; END is the last.
        target_pieces: T str, what the decoder reads; START is the first.
        written_pieces: T str, what it writes: position t reads `target_pieces[t]`
            and writes `written_pieces[t]`, which is END at the last one, unless a limit
            cut the translation off.
        maps: kind -> float32 (N, H, Q, M), as `attention_weights` gives.
        truncated: bool, whether the model reads only the first pieces of the source.
        forced: bool, whether the target was given, not found by the model.
    """

    source: str
    target: str
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    written_pieces: tuple[str, ...]
    maps: dict[str, np.ndarray]
    truncated: bool = False
    forced: bool = False

    def pieces(self, kind):
        """Returns the pieces that attend and those that are attended to.

        Between decoder and encoder a position is named by what it writes there, which
        is what its weights align; elsewhere by what it reads.
        """
        queries, keys = SIDES[kind]
        return getattr(self, f"{queries}_pieces"), getattr(self, f"{keys}_pieces")


def attended_sentences(translator, sources, targets=None, first_line=1):
    """Yields an `AttendedSentence` for each source.

    Args:
        translator: a `Translator`.
        sources: list of str or bytes; one text is one sentence.
        targets: list of as many translations, which are forced; None = those that the
            translator finds. A source without a piece is not translated: its target is
            empty.
        first_line: number of the first source in warnings.

    Raises:
        ValueError: what is no list of texts, lists of different lengths, or a target
            longer than a learned position table.

    Example:

    >>> from keras_attention.config import TransformerConfig
    >>> from keras_attention.data import SubwordTokenizer
    >>> from keras_attention.decoding.translator import Translator
    >>> from keras_attention.models.build import build_transformer
    >>> tokenizer = SubwordTokenizer.learn_from_lines(["a dog", "ein Hund"], 20)
    >>> config = TransformerConfig.from_preset("tiny", vocabulary_size=20, num_layers=1)
    >>> translator = Translator(build_transformer(config), tokenizer)
    >>> [sentence] = attended_sentences(translator, ["a dog"], ["ein Hund"])
    >>> sentence.target_pieces[0], sentence.written_pieces[-1]
    ('[START]', '[END]')
    """
    texts = [check_texts("sources", sources)]
    if targets is not None:
        texts.append(check_texts("targets", targets))
        check_beside("sources", texts[0], "targets", texts[1])
    pieces = translator.tokenizer.pieces
    for first in range(0, len(texts[0]), WINDOW):
        part = [side[first : first + WINDOW] for side in texts]
        yield from _window(translator, pieces, first_line + first, *part)


def attended_lines(translator, sources, targets=None):
    """Yields an `AttendedSentence` for each line, holding a window of them.

    Args:
        translator: a `Translator`.
        sources, targets: sides as for `windows`: name and iterable of lines.

    Raises:
        ValueError: as `windows` and `attended_sentences`.
    """
    sides = [side for side in (sources, targets) if side is not None]
    for first_line, *texts in windows(sides, WINDOW):
        yield from attended_sentences(translator, *texts, first_line=first_line)


def _window(translator, pieces, first_line, sources, targets=None):
    padded, truncated = (each.numpy() for each in translator.encode(sources))
    source_ids = [row[row != PAD_ID] for row in padded]
    if targets is None:
        label_ids, texts = _translations(translator, sources, first_line)
    else:
        label_ids = translator.tokenizer.tokenize_targets(targets)
        lengths, table = label_ids.row_lengths(), translator.model.max_decoding_length
        check_fits(lengths.numpy(), table, first_line - 1)
        label_ids = [[*row, END_ID] for row in label_ids.to_list()]
        texts = [text.decode("utf-8", errors="replace") for text in targets]
    target_ids = [np.array([START_ID, *row[:-1]], "int32") for row in label_ids]
    maps = _maps(translator.model, source_ids, target_ids)
    for row, source in enumerate(sources):
        yield AttendedSentence(
            source=source.decode("utf-8", errors="replace"),
            target=texts[row],
            source_pieces=tuple(pieces[i] for i in source_ids[row]),
            target_pieces=tuple(pieces[i] for i in target_ids[row]),
            written_pieces=tuple(pieces[i] for i in label_ids[row]),
            maps=maps[row],
            truncated=bool(truncated[row]),
            forced=targets is not None,
        )


def _translations(translator, sources, first_line):
    """Returns the ids that the translator writes for each source, and the texts."""
    found = translator.translate(sources, first_line)
    best = [translation.hypotheses[0] for translation in found]
    return [each.ids or (END_ID,) for each in best], [each.text for each in best]


def _maps(model, source_ids, target_ids):
    """Returns the maps of each row; rows of about one length are computed together."""
    pairs = zip(source_ids, target_ids, strict=True)
    lengths = np.array([[len(source), len(target)] for source, target in pairs])
    longest, config = lengths.max(1), model.transformer_config
    heads = len(KINDS) * config.num_layers * config.num_heads
    found = [None] * len(lengths)
    for rows in batches(longest, _MOST_WEIGHTS // (heads * int(longest.max()))):
        batch = model.attention_weights(
            _dense(source_ids, rows), _dense(target_ids, rows)
        )
        batch = {
            kind: np.stack([np.asarray(block) for block in blocks], axis=1)
            for kind, blocks in batch.items()
        }
        for place, row in enumerate(rows):
            source, target = lengths[row]
            sizes = {"source": source, "target": target, "written": target}
            found[row] = {
                kind: weights[(place, ..., *(slice(sizes[x]) for x in SIDES[kind]))]
                for kind, weights in batch.items()
            }
    return found


def _dense(ids, rows):
    longest = max(len(ids[row]) for row in rows)
    dense = np.full((len(rows), longest), PAD_ID, "int32")
    for place, row in enumerate(rows):
        dense[place, : len(ids[row])] = ids[row]
    return dense
