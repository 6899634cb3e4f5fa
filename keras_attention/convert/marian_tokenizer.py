"""The two SentencePiece models of a Marian folder, and their common vocabulary."""

import hashlib
import pathlib

import tensorflow as tf

from keras_attention.convert.marian_vocabulary import MarianVocabulary
from keras_attention.data.sentencepieces import lasting_tokenizer, parse_model
from keras_attention.data.tokenizer_base import Tokenizer, joint_sha256
from keras_attention.files import write_atomically
from keras_attention.vocabulary import SPECIAL_PIECES, UNK_ID

FILES = ("source.spm", "target.spm", "vocab.json")
# A language code that chooses the target language of a multilingual model.
_CODE, _CODE_AND_REST = r"^>>.*?<<", r"(?s)^(>>.*?<<)?.*$"


class MarianTokenizer(Tokenizer):
    """Tokenizer of a Hugging Face Marian model, with the ids of this package.

    `tokenize` splits by the model of the source language, `tokenize_targets` by that
    of the target language; ids are those of the one vocabulary, where `[PAD]`,
    `[UNK]`, `[START]` and `[END]` stand first and the other pieces keep their order.
    A text may begin with a language code such as `>>deu<<`. Usable in a graph.

    It gives the pieces of `transformers.MarianTokenizer`, with two differences: text
    that looks like a special piece never becomes one, and punctuation is not
    normalised (`transformers` does so if the package sacremoses is installed).

    The models are parsed by the SentencePiece of this Python first, then by the older
    one inside of tensorflow-text: use files of people that you trust.

    Args:
        source_model, target_model: bytes of `source.spm` and `target.spm`.
        vocabulary: bytes of `vocab.json`.

    Raises:
        ValueError: something is not what it should be.

    Reference: "Attention Is All You Need", section 5.1, has one model for both
        languages; this departs from it.
    """

    def __init__(self, source_model, target_model, vocabulary):
        contents = (source_model, target_model, vocabulary)
        parsed = MarianVocabulary(vocabulary)
        engine = _MarianPieces(source_model, target_model, parsed.pieces)
        lines = "".join(f"{piece}\n" for piece in parsed.pieces[len(SPECIAL_PIECES) :])
        models = [hashlib.sha256(model).hexdigest() for model in contents[:2]]
        pieces = hashlib.sha256(lines.encode()).hexdigest()
        super().__init__(engine, "marian", joint_sha256(models, pieces))
        self.vocabulary = parsed
        self._contents = contents

    @classmethod
    def load(cls, folder):
        """Reads `source.spm`, `target.spm` and `vocab.json`.

        Raises:
            ValueError: one is missing, or is not what it should be.
        """
        return cls(*(_read(pathlib.Path(folder) / name) for name in FILES))

    def save(self, directory):
        """Writes the three files that `load` reads."""
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in zip(FILES, self._contents, strict=True):
            write_atomically(directory / name, content)


class _MarianPieces(tf.Module):
    """Pieces of two SentencePiece models as ids of one vocabulary."""

    def __init__(self, source_model, target_model, pieces):
        super().__init__()
        self._pieces = tuple(pieces)
        self.vocabulary_size = len(pieces)
        parse_model(source_model)
        target = parse_model(target_model)
        self._unknown = target.IdToPiece(target.unk_id())
        self._source = lasting_tokenizer(source_model, tf.string)
        self._target = lasting_tokenizer(target_model, tf.string)
        first = len(SPECIAL_PIECES)  # which no text becomes
        self._ids = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                self._pieces[first:],
                tf.range(first, self.vocabulary_size, dtype=tf.int64),
            ),
            default_value=UNK_ID,
        )

    def pieces(self):
        return list(self._pieces)

    def id_to_piece(self, ids):
        return tf.gather(tf.constant(self._pieces), ids)

    def tokenize(self, texts):
        return self._tokenize(texts, self._source)

    def tokenize_targets(self, texts):
        return self._tokenize(texts, self._target)

    def _tokenize(self, texts, model):
        codes = tf.strings.regex_replace(texts, _CODE_AND_REST, r"\1")
        texts = tf.strings.regex_replace(texts, _CODE, "", replace_global=False)
        pieces = model.tokenize(texts)
        ids = pieces.with_flat_values(self._look_up(pieces.flat_values))
        return _put_first(self._look_up(codes), tf.not_equal(codes, ""), ids)

    def _look_up(self, pieces):
        return tf.cast(self._ids.lookup(pieces), tf.int32)

    def detokenize(self, ids):
        spelled = list(self._pieces)
        spelled[UNK_ID] = self._unknown  # which SentencePiece turns into U+2047
        return self._target.detokenize(tf.gather(tf.constant(spelled), ids))


def _put_first(codes, has_code, ids):
    """Returns ragged ids (B, None), before those of a row with a code that (B,)."""
    shift = tf.cumsum(tf.cast(has_code, tf.int64))
    count = tf.size(ids.flat_values, tf.int64)
    places = tf.range(count) + tf.gather(shift, ids.value_rowids())
    rows = tf.where(has_code)  # (rows with a code, 1)
    first = tf.gather_nd(ids.row_starts() + shift - 1, rows)
    values = tf.zeros([count + tf.size(rows, tf.int64)], tf.int32)
    for place, new in ((places, ids.flat_values), (first, tf.gather_nd(codes, rows))):
        values = tf.tensor_scatter_nd_update(values, place[:, None], new)
    splits = tf.pad(ids.row_limits() + shift, [[1, 0]])
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"A Marian folder must hold {', '.join(FILES)}. Received: {path}: "
            f"{error.strerror}. Pass the folder that `save_pretrained` wrote."
        ) from error
