"""How far the tokenization of a large corpus is."""

import time

from keras_attention.training.progress import duration


class EncodingProgress:
    """Says every few seconds how many pairs are done; a small corpus says nothing.

    It is the `report` of `encode_files`.

    Args:
        pairs: of the whole corpus.
        say: takes a line of text.
        seconds: between two lines.

    Example:

    >>> progress = EncodingProgress(8, print, seconds=0)
    >>> progress(4, 3)
    tokenized 4 of 8 pairs, 3 kept; ... pairs/s, 0:00:00 left
    """

    def __init__(self, pairs, say, seconds=10):
        self._pairs = pairs
        self._say = say
        self._seconds = seconds
        self._began = self._said = time.monotonic()

    def __call__(self, done, kept):
        now = time.monotonic()
        if now - self._said < self._seconds:
            return
        self._said = now
        rate = done / max(now - self._began, 1e-9)
        left = duration((self._pairs - done) / rate)
        self._say(
            f"tokenized {done} of {self._pairs} pairs, {kept} kept; "
            f"{rate:.0f} pairs/s, {left} left"
        )
