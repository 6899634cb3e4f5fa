"""Subword tokenizer with one vocabulary for source and target (paper, 5.1)."""

import hashlib
import json
import os
import pathlib

from keras_attention.checks import check_integer
from keras_attention.config import TOKENIZER_KINDS
from keras_attention.data import sentencepieces, wordpieces
from keras_attention.data.lines import iterate_lines
from keras_attention.data.tokenizer_base import Tokenizer
from keras_attention.files import write_atomically
from keras_attention.vocabulary import END_ID

CONFIG_FILE = "tokenizer.json"
MODEL_FILES = {
    "bpe": "sentencepiece.model",
    "unigram": "sentencepiece.model",
    "wordpiece": "wordpiece.vocabulary",
}


class SubwordTokenizer(Tokenizer):
    """Text to subword ids and back; both directions run in a graph.

    Ids 0..3 are `[PAD] [UNK] [START] [END]`, and no text ever becomes one of them
    but `[UNK]`. Any bytes may come in: what is not UTF-8, control characters and line
    separators count as spaces, then NFKC is applied (nmt_nfkc
    of SentencePiece for "bpe" and "unigram"). So `detokenize(tokenize(text))` is the
    normalised text; what the vocabulary does not know comes back as U+2047.
    References for BLEU must therefore stay raw.

    Args:
        model: bytes of the model file.
        kind: "bpe" (the paper's English-German), "unigram" or "wordpiece" (the
            paper's English-French).

    Raises:
        ValueError: an unknown kind, or a model whose ids 0..3 are not ours.

    Example:

    >>> tokenizer = SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    >>> ids = tokenizer.tokenize(["to be", ""])
    >>> ids.shape.as_list(), tokenizer.detokenize(ids).numpy().tolist()
    ([2, None], [b'to be', b''])

    Reference:
        Section 5.1.
    """

    def __init__(self, model, kind="bpe"):
        _check_kind(kind)
        words = kind == "wordpiece"
        engine = wordpieces.WordPieces if words else sentencepieces.SentencePieces
        super().__init__(engine(model), kind, hashlib.sha256(model).hexdigest())
        self.model = model

    @classmethod
    def learn(cls, files, vocabulary_size, kind="bpe", byte_fallback=False):
        """Learns a tokenizer from text files of both languages.

        Args:
            files: list of paths (or one), plain or `.gz`.
            vocabulary_size: pieces, the special ones included.
            kind: "bpe", "unigram" or "wordpiece".
            byte_fallback: spell unseen characters as bytes (not with "wordpiece").

        Raises:
            ValueError: a file that cannot be read, no text, or a vocabulary size
                that the text cannot give (the largest possible is named).
        """
        files = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        lines = (line for file in files for line in iterate_lines(file))
        return cls.learn_from_lines(lines, vocabulary_size, kind, byte_fallback)

    @classmethod
    def learn_from_lines(cls, lines, vocabulary_size, kind="bpe", byte_fallback=False):
        """Learns a tokenizer from an iterable of str; otherwise as `learn`."""
        _check_kind(kind)
        check_integer("vocabulary_size", vocabulary_size, minimum=END_ID + 2)
        if kind == "wordpiece":
            if byte_fallback:
                raise ValueError(
                    "WordPiece has no byte pieces. Received: byte_fallback=True, "
                    "kind='wordpiece'. Use kind='bpe' or 'unigram'."
                )
            return cls(wordpieces.learn_model(lines, vocabulary_size), kind)
        model = sentencepieces.learn_model(lines, vocabulary_size, kind, byte_fallback)
        return cls(model, kind)

    def save(self, directory):
        """Writes the model and, last, `tokenizer.json` with its sha256."""
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        config = {
            "kind": self.kind,
            "model": MODEL_FILES[self.kind],
            "sha256": self.sha256,
            "vocabulary_size": self.vocabulary_size,
        }
        write_atomically(directory / MODEL_FILES[self.kind], self.model)
        text = json.dumps(config, indent=2) + "\n"
        write_atomically(directory / CONFIG_FILE, text)

    @classmethod
    def load(cls, directory):
        """Reads what `save` wrote.

        Raises:
            ValueError: a missing or damaged file, a model that is not the recorded
                one (checked before anything parses it), or one whose ids 0..3 are
                not ours.
        """
        directory = pathlib.Path(directory)
        config = _read_config(directory / CONFIG_FILE)
        path = directory / MODEL_FILES[config["kind"]]
        model = _read(path)
        found = hashlib.sha256(model).hexdigest()
        if found != config["sha256"]:
            raise ValueError(
                f"The subword model {path} is not the one that was saved. Expected "
                f"sha256 {config['sha256']}. Received: {found}. Restore the file."
            )
        return cls(model, config["kind"])


def _check_kind(kind):
    if kind not in TOKENIZER_KINDS:
        raise ValueError(
            f"`kind` must be one of {', '.join(TOKENIZER_KINDS)}. Received: {kind!r}."
        )


def _read_config(path):
    content = _read(path)
    try:
        config = json.loads(content)
        complete = config["kind"] in TOKENIZER_KINDS and config["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a tokenizer configuration.") from error
    if not complete:
        raise ValueError(
            f"{path} must name a kind among {', '.join(TOKENIZER_KINDS)} and a "
            f"sha256. Received: {config}."
        )
    return config


def _read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"Cannot read the tokenizer file {path}: {error.strerror}. "
            "Expected a directory that SubwordTokenizer.save wrote."
        ) from error
