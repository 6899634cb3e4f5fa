"""Subword tokenizer with one vocabulary for source and target (paper, 5.1)."""

import hashlib
import json
import os
import pathlib

from keras_attention.checks import check_integer
from keras_attention.config import TOKENIZER_KINDS
from keras_attention.data import sentencepieces, wordpieces
from keras_attention.data.lines import iterate_lines
from keras_attention.data.symbols import TextAndSymbols, check_symbols
from keras_attention.data.tokenizer_base import Tokenizer, joint_sha256
from keras_attention.files import parse_object, write_atomically
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
        symbols: sequence of str, such as the brackets and tags of trees (6.3). Their
            ids stand behind those of the model. Targets are then symbols with spaces
            between, and sources text, which never becomes a symbol.

    Raises:
        ValueError: an unknown kind, a model whose ids 0..3 are not ours, or symbols
            that cannot be told apart.

    Example:

    >>> tokenizer = SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    >>> ids = tokenizer.tokenize(["to be", ""])
    >>> ids.shape.as_list(), tokenizer.detokenize(ids).numpy().tolist()
    ([2, None], [b'to be', b''])

    Reference:
        Section 5.1.
    """

    def __init__(self, model, kind="bpe", symbols=()):
        _check_kind(kind)
        words = kind == "wordpiece"
        engine = (wordpieces.WordPieces if words else sentencepieces.SentencePieces)(
            model
        )
        sha256 = hashlib.sha256(model).hexdigest()
        if symbols:
            engine = TextAndSymbols(engine, symbols)
            lines = "".join(f"{piece}\n" for piece in engine.surfaces)
            sha256 = joint_sha256([sha256], hashlib.sha256(lines.encode()).hexdigest())
        super().__init__(engine, kind, sha256)
        self.model = model
        self.symbols = tuple(symbols)

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
    def learn_from_lines(
        cls, lines, vocabulary_size, kind="bpe", byte_fallback=False, symbols=()
    ):
        """Learns a tokenizer from an iterable of str; otherwise as `learn`.

        With `symbols` the lines are those of the sources, and `vocabulary_size` counts
        the symbols too.
        """
        _check_kind(kind)
        check_symbols(symbols)
        least = END_ID + 2 + len(symbols)
        check_integer("vocabulary_size", vocabulary_size, minimum=least)
        vocabulary_size -= len(symbols)
        if kind == "wordpiece" and byte_fallback:
            raise ValueError(
                "WordPiece has no byte pieces. Received: byte_fallback=True, "
                "kind='wordpiece'. Use kind='bpe' or 'unigram'."
            )
        try:
            if kind == "wordpiece":
                model = wordpieces.learn_model(lines, vocabulary_size)
            else:
                model = sentencepieces.learn_model(
                    lines, vocabulary_size, kind, byte_fallback
                )
        except ValueError as error:
            raise _counting_symbols(error, symbols) from error
        return cls(model, kind, symbols)

    def save(self, directory):
        """Writes the model and, last, `tokenizer.json` with its sha256."""
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        config = {
            "kind": self.kind,
            "model": MODEL_FILES[self.kind],
            "sha256": hashlib.sha256(self.model).hexdigest(),
            "vocabulary_size": self.vocabulary_size,
        }
        if self.symbols:
            config["symbols"] = list(self.symbols)
        write_atomically(directory / MODEL_FILES[self.kind], self.model)
        text = json.dumps(config, indent=2) + "\n"
        write_atomically(directory / CONFIG_FILE, text)

    @classmethod
    def load(cls, directory, sha256=None):
        """Reads what `save` wrote.

        Args:
            directory: that `save` was given.
            sha256: of the tokenizer that it must be, as a run has recorded it; None =
                any. That of one with symbols is known when it is read.

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
        if not _symbols(config):
            _check_wanted(directory, sha256, found)
        tokenizer = cls(model, config["kind"], _symbols(config))
        _check_wanted(directory, sha256, tokenizer.sha256)
        return tokenizer


def _check_wanted(directory, wanted, found):
    if wanted not in (None, found):
        raise ValueError(
            f"{directory} must hold the tokenizer that the run was trained with, of "
            f"sha256 {wanted}. Received: {found}. Restore it."
        )


def _counting_symbols(error, symbols):
    if not symbols:
        return error
    return ValueError(f"{error} There are {len(symbols)} symbols besides.")


def _check_kind(kind):
    if kind not in TOKENIZER_KINDS:
        raise ValueError(
            f"`kind` must be one of {', '.join(TOKENIZER_KINDS)}. Received: {kind!r}."
        )


def _read_config(path):
    content = _read(path)
    try:
        config = parse_object(content)
    except ValueError as error:
        raise ValueError(
            f"{path} is not a tokenizer configuration. Expected what "
            f"SubwordTokenizer.save wrote. Received: {error}. Restore the file."
        ) from error
    symbols = config.get("symbols", [])
    complete = config.get("kind") in TOKENIZER_KINDS and config.get("sha256")
    if not (complete and isinstance(symbols, list) and _are_texts(symbols)):
        raise ValueError(
            f"{path} must name a kind among {', '.join(TOKENIZER_KINDS)} and a "
            f"sha256. Symbols, if any, are a list of texts. Received: "
            f"{str(config)[:200]}. Restore the file."
        )
    return config


def _are_texts(values):
    return all(isinstance(value, str) for value in values)


def _symbols(config):
    return tuple(config.get("symbols", ()))


def _read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"Cannot read the tokenizer file {path}: {error.strerror}. "
            "Expected a directory that SubwordTokenizer.save wrote."
        ) from error
