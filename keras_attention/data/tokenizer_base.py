"""What every tokenizer of the package does, whatever splits the words."""

import hashlib

import tensorflow as tf

from keras_attention.data.text import clean_texts, to_bytes, valid_utf8
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID, UNK_ID


class Tokenizer(tf.Module):
    """Text to subword ids and back, in a graph or outside of one.

    Args:
        engine: a `tf.Module` with `vocabulary_size`, `pieces()`, `id_to_piece(ids)`,
            `tokenize(clean texts)`, `tokenize_targets(clean texts)` and
            `detokenize(ragged ids)`.
        kind: str, how it splits, for the people who read a manifest.
        sha256: str, of the files that the engine was made from.
    """

    def __init__(self, engine, kind, sha256):
        super().__init__()
        self.kind = kind
        self.sha256 = sha256
        self._engine = engine

    @property
    def vocabulary_size(self):
        """Number of pieces, the special ones included."""
        return self._engine.vocabulary_size

    @property
    def pieces(self):
        """The pieces as a list of str, in the order of their ids."""
        return self._engine.pieces()

    def tokenize(self, texts):
        """Splits texts into subword ids, without START and END.

        Args:
            texts: list of str or bytes, or a tf.string tensor (B,).

        Returns:
            int32 `tf.RaggedTensor` (B, None); a text without a word is an empty row.

        Raises:
            ValueError: `texts` is one string or has more than one dimension.
        """
        return self._engine.tokenize(_clean(texts))

    def tokenize_targets(self, texts):
        """Splits texts of the target language; otherwise as `tokenize`.

        The two differ where each language has a subword model of its own.
        """
        return self._engine.tokenize_targets(_clean(texts))

    def detokenize(self, ids):
        """Joins subword ids to texts.

        Everything from the first END on is left out, and so are PAD and START. Ids
        outside the vocabulary count as `[UNK]`.

        Args:
            ids: integers (B, T), dense or ragged, or a list of lists.

        Returns:
            tf.string (B,), valid UTF-8.

        Raises:
            ValueError: `ids` has not two dimensions.
        """
        if isinstance(ids, (list, tuple)):
            ids = tf.ragged.constant(ids, dtype=tf.int32, ragged_rank=1)
        if isinstance(ids, tf.RaggedTensor):
            ids = ids.to_tensor(PAD_ID)
        ids = tf.cast(tf.convert_to_tensor(ids), tf.int32)
        if ids.shape.rank != 2:
            raise ValueError(
                f"`ids` must have two dimensions (B, T). Received: shape {ids.shape}."
            )
        ended = tf.cumsum(tf.cast(tf.equal(ids, END_ID), tf.int32), axis=1) > 0
        kept = ~ended & tf.not_equal(ids, PAD_ID) & tf.not_equal(ids, START_ID)
        ids = tf.ragged.boolean_mask(self._known(ids), kept)
        return valid_utf8(self._engine.detokenize(ids))

    def id_to_piece(self, ids):
        """Spells subword ids, the special ones too; usable in a graph.

        Args:
            ids: integers of any shape. Ids outside the vocabulary count as `[UNK]`.

        Returns:
            tf.string of that shape.
        """
        ids = tf.cast(tf.convert_to_tensor(ids), tf.int32)
        return self._engine.id_to_piece(self._known(ids))

    def _known(self, ids):
        return tf.where((ids >= 0) & (ids < self.vocabulary_size), ids, UNK_ID)


def joint_sha256(models, pieces):
    """Returns the sha256 of a tokenizer that is made of more than one model.

    Args:
        models: the sha256 of each, hexadecimal, in any order.
        pieces: that of the lines of their common vocabulary.
    """
    return hashlib.sha256("".join([*sorted(set(models)), pieces]).encode()).hexdigest()


def _clean(texts):
    if isinstance(texts, (list, tuple)):
        texts = [to_bytes(text) for text in texts]
    texts = tf.convert_to_tensor(texts, tf.string)
    if texts.shape.rank != 1:
        raise ValueError(
            "`texts` must be a vector of strings (B,). "
            f"Received: shape {texts.shape}. Put a single text into a list."
        )
    return clean_texts(texts)
