"""BPE and unigram models of SentencePiece: learned in Python, run in a graph."""

import collections
import hashlib
import io
import re

import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow_text.python.ops import sentencepiece_tokenizer as _ops

from keras_attention.data.text import clean_text
from keras_attention.vocabulary import (
    END,
    END_ID,
    PAD,
    PAD_ID,
    SPECIAL_PIECES,
    START,
    START_ID,
    UNK,
    UNK_ID,
)

UNKNOWN_SURFACE = "\u2047"
# The BPE trainer aborts the process on a word of 65 536 characters, and NFKC makes
# up to 18 characters of one; so longer lines and words are learned from in parts.
MAX_LINE_CHARACTERS = 3_000
# The trainer skips lines that hold the characters it uses itself.
_RESERVED = str.maketrans({"\u2585": " ", "\u2047": "??", "\u2581": " "})


def learn_model(lines, vocabulary_size, kind, byte_fallback=False):
    """Learns a SentencePiece model from all of the lines; nothing is sampled.

    BPE merges inside words only, so for "bpe" the distinct words and their counts are
    kept, which grow far slower than the text. The trainer of "unigram" counts
    substrings of lines and holds the whole text in memory.

    Args:
        lines: iterable of str or bytes; nothing is skipped, whatever its length.
        vocabulary_size: pieces, the four special ones included.
        kind: "bpe" or "unigram".
        byte_fallback: 256 byte pieces instead of `[UNK]` for unseen characters.

    Returns:
        bytes, the model file.

    Raises:
        ValueError: the lines cannot give so large, or need a larger, vocabulary.
    """
    import sentencepiece

    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_counted(lines) if kind == "bpe" else _lines(lines),
            input_format="tsv" if kind == "bpe" else "",
            model_writer=model,
            model_type=kind,
            vocab_size=vocabulary_size,
            character_coverage=1.0,
            normalization_rule_name="nmt_nfkc",
            byte_fallback=byte_fallback,
            unk_surface=UNKNOWN_SURFACE,
            max_sentence_length=1 << 24,
            minloglevel=2,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=START_ID,
            eos_id=END_ID,
            pad_piece=PAD,
            unk_piece=UNK,
            bos_piece=START,
            eos_piece=END,
        )
    except (RuntimeError, OSError) as error:
        raise ValueError(_explain(error, vocabulary_size, kind)) from error
    return model.getvalue()


def _counted(lines):
    """Words and their counts, which give the same merges as the lines."""
    counts = collections.Counter()
    for line in _cleaned(lines):
        counts.update(line.split(" "))
    del counts[""]
    for word, count in counts.items():
        for part in _parts(word):
            yield f"{part}\t{count}"


def _lines(lines):
    for line in _cleaned(lines):
        yield from _parts(line)


def _cleaned(lines):
    for line in lines:
        line = clean_text(line).translate(_RESERVED)
        for piece in SPECIAL_PIECES:  # the trainer would not see their characters
            line = line.replace(piece, f"{piece[0]} {piece[1:-1]} {piece[-1]}")
        yield line


def _parts(text):
    for start in range(0, len(text), MAX_LINE_CHARACTERS):
        yield text[start : start + MAX_LINE_CHARACTERS]


def _explain(error, vocabulary_size, kind):
    text = " ".join(str(error).split())
    largest = re.search(r"too high.*?<= (\d+)", text)
    smallest = re.search(r"smaller than required_chars\. \d+ vs (\d+)", text)
    if largest:
        reason = f"this text can give at most {largest[1]} {kind} pieces"
    elif smallest:
        reason = f"the characters of this text alone need {smallest[1]} pieces"
    elif "sentences_.empty" in text or "all_chars_count" in text:
        reason = "there is no text to learn from"
    else:
        reason = text
    return (
        f"Cannot learn the subword model: {reason}. "
        f"Received: vocabulary_size={vocabulary_size}."
    )


class _LastingModel(tf.saved_model.experimental.TrackableResource):
    """The parsed model under a name of its own.

    The resource of tensorflow-text belongs to a cached kernel, and setting a seed
    (`tf.random.set_seed`, `keras.utils.set_random_seed`) clears that cache: every
    tokenizer made before, and every graph that captured one, would fail with
    "Resource ... does not exist". A named resource outlives the kernel.
    """

    def __init__(self, model):
        super().__init__()
        self._model = model
        self._shared_name = f"sentencepiece_{hashlib.sha256(model).hexdigest()}"
        _ = self.resource_handle  # reading the property creates the resource

    def _create_resource(self):
        return _ops.gen_sentencepiece_tokenizer.sentencepiece_op(
            model=self._model, shared_name=self._shared_name
        )


def lasting_tokenizer(model, out_type):
    """Returns the `SentencepieceTokenizer` of tensorflow-text, its model named.

    Args:
        model: bytes of a model file that `parse_model` has read.
        out_type: tf.int32, ids, or tf.string, pieces.
    """
    tokenizer = tf_text.SentencepieceTokenizer(model, out_type=out_type)
    tokenizer._model_resource = _LastingModel(model)
    return tokenizer


class SentencePieces(tf.Module):
    """A SentencePiece model in a graph, one op instance for both directions.

    `FastSentencepieceTokenizer` is not used: it mistokenises BPE models.

    Args:
        model: bytes of the model file.

    Raises:
        ValueError: not a model, or ids 0..3 are not the special pieces.
    """

    def __init__(self, model):
        super().__init__()
        _check_model(model)
        self._tokenizer = lasting_tokenizer(model, tf.int32)
        self.vocabulary_size = int(self._tokenizer.vocab_size())

    def pieces(self):
        """Returns the pieces as a list of str, in the order of their ids."""
        ids = tf.range(self.vocabulary_size)
        return [p.decode() for p in self._tokenizer.id_to_string(ids).numpy()]

    def id_to_piece(self, ids):
        """Integers of any shape, each inside the vocabulary -> pieces."""
        return self._tokenizer.id_to_string(ids)

    def tokenize(self, texts):
        """Clean texts (B,) -> int32 ragged (B, None)."""
        return self._tokenizer.tokenize(texts)

    tokenize_targets = tokenize  # one model for both languages

    def detokenize(self, ids):
        """Ragged int32 (B, None), every id inside the vocabulary -> texts (B,)."""
        return self._tokenizer.detokenize(ids)


def parse_model(model):
    """Returns the `SentencePieceProcessor` of a model, before a graph parses it.

    Args:
        model: bytes of the model file.

    Raises:
        ValueError: it is none.
    """
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
        processor.GetPieceSize()
    except (RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"This is not a SentencePiece model: {reason}") from error
    return processor


def _check_model(model):
    processor = parse_model(model)
    count = min(4, processor.GetPieceSize())
    found = tuple(processor.IdToPiece(i) for i in range(count))
    control = [processor.IsControl(i) for i in range(count) if i != UNK_ID]
    if found != SPECIAL_PIECES or not all(control) or processor.unk_id() != UNK_ID:
        raise ValueError(
            f"The first pieces of a subword model must be {', '.join(SPECIAL_PIECES)}, "
            f"all but {UNK} as control pieces. Received: {', '.join(found)}. "
            "Learn the model with SubwordTokenizer.learn."
        )
