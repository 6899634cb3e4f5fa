"""Whole symbols, such as those of trees, beside the subwords of text."""

import re

import tensorflow as tf

from keras_attention.data.sentencepieces import UNKNOWN_SURFACE
from keras_attention.data.text import clean_text
from keras_attention.vocabulary import UNK_ID

# Behind a symbol in its piece: no subword of text ends so, and it becomes a space.
SPACE = "\u2581"
_WRONG = re.compile(rf"[\s{SPACE}]")


class TextAndSymbols(tf.Module):
    """Pieces of text, and behind them in the one vocabulary symbols that stay whole.

    Sources are text: whatever it looks like, none of its pieces is a symbol. Targets
    are symbols with spaces between, and what is none of them is `[UNK]`. In `pieces` a
    symbol has U+2581 behind it, so that no two pieces are alike.

    Args:
        text: the engine of a tokenizer, for sources.
        symbols: sequence of str.

    Raises:
        ValueError: a symbol occurs twice, is empty or holds a space.
    """

    def __init__(self, text, symbols):
        super().__init__()
        check_symbols(symbols)
        self._text = text
        self._pieces = (*text.pieces(), *(symbol + SPACE for symbol in symbols))
        self.vocabulary_size = len(self._pieces)
        self._ids = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                list(symbols),
                tf.range(text.vocabulary_size, self.vocabulary_size, dtype=tf.int64),
            ),
            default_value=UNK_ID,
        )

    @property
    def surfaces(self):
        """How each piece is spelled in a text, a list of str."""
        spelled = list(self._pieces)
        spelled[UNK_ID] = f"{UNKNOWN_SURFACE}{SPACE}"
        return spelled

    def pieces(self):
        """Returns the pieces as a list of str, in the order of their ids."""
        return list(self._pieces)

    def id_to_piece(self, ids):
        """Integers of any shape, each inside the vocabulary -> pieces."""
        return tf.gather(tf.constant(self._pieces), ids)

    def tokenize(self, texts):
        """Clean texts (B,) -> int32 ragged (B, None), all of them pieces of text."""
        return self._text.tokenize(texts)

    def tokenize_targets(self, texts):
        """Clean symbols with spaces between (B,) -> int32 ragged (B, None)."""
        symbols = tf.strings.split(texts)
        return tf.cast(self._ids.lookup(symbols), tf.int32)

    def detokenize(self, ids):
        """Ragged int32 (B, None), every id inside the vocabulary -> texts (B,)."""
        spelled = tf.gather(tf.constant(self.surfaces), ids)
        texts = tf.strings.reduce_join(spelled, axis=1)
        return tf.strings.strip(tf.strings.regex_replace(texts, f"{SPACE}+", " "))


def check_symbols(symbols):
    """Raises a ValueError unless all symbols can be told apart in a text."""
    wrong = [x for x in symbols if not x or _WRONG.search(x) or clean_text(x) != x]
    if wrong or len(set(symbols)) != len(symbols):
        raise ValueError(
            "Symbols must differ, and hold neither white space, control characters nor "
            f"U+2581. Received: {len(symbols)} symbols, {len(set(symbols))} of them "
            f"different, wrong ones {wrong[:3]}. Rename the labels of the trees."
        )
