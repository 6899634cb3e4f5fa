"""WordPiece (paper, section 5.1, English-French): learned and run with TF Text.

A text is made reversible before it is split: NFKC, runs of white space become one
U+2581, and one more is put in front. Words then are runs of letters, digits and
marks with the U+2581 before them, or a single other character; so a piece that does
not begin with U+2581 is written without a space, and punctuation comes back exactly.
"""

import collections

import tensorflow as tf
import tensorflow_text as tf_text

from keras_attention.data.sentencepieces import UNKNOWN_SURFACE
from keras_attention.data.text import clean_text, to_bytes
from keras_attention.vocabulary import SPECIAL_PIECES, UNK, UNK_ID

SPACE = "\u2581"
SUFFIX = "##"
MAX_WORD_CHARACTERS = 24  # longer runs are cut into words without a space between
MAX_WORD_BYTES = 4 * MAX_WORD_CHARACTERS
_WORD = rf"({SPACE}?[\pL\pM\pN]+|{SPACE}?[^{SPACE}]|{SPACE})"
_LONG_WORD = rf"([^ ]{{{MAX_WORD_CHARACTERS}}})"
_LINES_A_CALL = 10_000
_THRESHOLD_RANGE = 8


def split_words(texts):
    """Clean tf.string texts (B,) -> ragged words (B, None) as described above."""
    texts = tf_text.normalize_utf8(texts, "NFKC")
    texts = tf.strings.regex_replace(texts, rf"[\s\pZ{SPACE}]+", " ")
    texts = tf.strings.strip(texts)
    marked = tf.strings.regex_replace(tf.strings.join([SPACE, texts]), " ", SPACE)
    marked = tf.where(tf.equal(texts, ""), "", marked)
    words = tf.strings.regex_replace(marked, _WORD, r"\1 ")
    return tf.strings.split(tf.strings.regex_replace(words, _LONG_WORD, r"\1 "))


def learn_model(lines, vocabulary_size):
    """Learns a WordPiece vocabulary of exactly `vocabulary_size` pieces.

    The learner of TF Text comes near the size only; rarest pieces are left out, or
    the most frequent whole words added, until the size is met. Every character of
    the lines is a piece, at the start of a word and inside.

    Args:
        lines: iterable of str or bytes.
        vocabulary_size: pieces, the four special ones included.

    Returns:
        bytes, the model file: one piece a line.

    Raises:
        ValueError: the lines cannot give so large, or need a larger, vocabulary.
    """
    from tensorflow_text.tools.wordpiece_vocab import (
        wordpiece_tokenizer_learner_lib as learner,
    )

    counts = _count_words(lines)
    characters = sorted({character for word in counts for character in word})
    needed = list(SPECIAL_PIECES) + characters
    needed += [SUFFIX + character for character in characters]
    if vocabulary_size < len(needed) or not counts:
        reason = (
            f"the characters of this text alone need {len(needed)} pieces"
            if counts
            else "there is no text to learn from"
        )
        _refuse(reason, vocabulary_size)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    # A word as frequent as the threshold is a piece, so a lower one is too low; one
    # far above is too high. (The learner halves its way, a full pass a step.)
    lowest = counts[words[min(vocabulary_size, len(words)) - 1]]
    learned = learner.learn(
        [(word, counts[word]) for word in words],
        vocab_size=vocabulary_size,
        reserved_tokens=list(SPECIAL_PIECES),
        upper_thresh=_THRESHOLD_RANGE * lowest,
        lower_thresh=lowest,
        max_input_tokens=-1,
        max_token_length=MAX_WORD_CHARACTERS,
        max_unique_chars=len(characters) + 1,
    )
    pieces = list(dict.fromkeys([*needed, *learned, *words]))
    if vocabulary_size > len(pieces):
        _refuse(
            f"this text can give at most {len(pieces)} wordpiece pieces",
            vocabulary_size,
        )
    return "".join(f"{piece}\n" for piece in pieces[:vocabulary_size]).encode()


def _count_words(lines):
    counts = collections.Counter()
    chunk = []

    def count():
        counts.update(split_words(tf.constant(chunk)).flat_values.numpy().tolist())
        chunk.clear()

    for line in lines:
        chunk.append(to_bytes(clean_text(line)))
        if len(chunk) == _LINES_A_CALL:
            count()
    if chunk:
        count()
    return collections.Counter({word.decode(): n for word, n in counts.items()})


def _refuse(reason, vocabulary_size):
    raise ValueError(
        f"Cannot learn the subword model: {reason}. "
        f"Received: vocabulary_size={vocabulary_size}."
    )


class WordPieces(tf.Module):
    """A WordPiece vocabulary in a graph.

    An unseen character is one `[UNK]`; the rest of its word is kept.

    Args:
        model: bytes of the model file, one piece a line.

    Raises:
        ValueError: not such a file, or ids 0..3 are not the special pieces.
    """

    def __init__(self, model):
        super().__init__()
        pieces = _parse(model)
        self.vocabulary_size = len(pieces)
        self._pieces = pieces
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(
                pieces, tf.range(len(pieces), dtype=tf.int64)
            ),
            num_oov_buckets=1,
        )
        self._tokenizer = tf_text.WordpieceTokenizer(
            table,
            suffix_indicator=SUFFIX,
            max_bytes_per_word=MAX_WORD_BYTES,
            token_out_type=tf.int32,
            unknown_token=UNK,
            split_unknown_characters=True,
        )
        surfaces = list(pieces)
        surfaces[UNK_ID] = UNKNOWN_SURFACE
        self._surfaces = tf.constant(surfaces)

    def pieces(self):
        """Returns the pieces as a list of str, in the order of their ids."""
        return list(self._pieces)

    def id_to_piece(self, ids):
        """Integers of any shape, each inside the vocabulary -> pieces."""
        return tf.gather(tf.constant(self._pieces), ids)

    def tokenize(self, texts):
        """Clean texts (B,) -> int32 ragged (B, None)."""
        ids = self._tokenizer.tokenize(split_words(texts)).merge_dims(1, 2)
        # An unseen character comes out as the table's bucket behind the vocabulary.
        return ids.with_flat_values(
            tf.where(ids.flat_values < self.vocabulary_size, ids.flat_values, UNK_ID)
        )

    tokenize_targets = tokenize  # one vocabulary for both languages

    def detokenize(self, ids):
        """Ragged int32 (B, None), every id inside the vocabulary -> texts (B,)."""
        surfaces = tf.gather(self._surfaces, ids)
        # "##" alone cannot be a piece: "#" is a word of its own.
        surfaces = surfaces.with_flat_values(
            tf.strings.regex_replace(surfaces.flat_values, f"^{SUFFIX}(.)", r"\1")
        )
        texts = tf.strings.reduce_join(surfaces, axis=1)
        return tf.strings.strip(tf.strings.regex_replace(texts, SPACE, " "))


def _parse(model):
    try:
        pieces = model.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"This is not a WordPiece vocabulary: {error}") from error
    if tuple(pieces[:4]) != SPECIAL_PIECES or len(set(pieces)) != len(pieces):
        raise ValueError(
            f"The first pieces of a subword model must be {', '.join(SPECIAL_PIECES)}, "
            "and no piece may occur twice. "
            f"Received: {', '.join(pieces[:4])}, {len(pieces)} pieces, "
            f"{len(set(pieces))} different. "
            "Learn the model with SubwordTokenizer.learn."
        )
    return pieces
