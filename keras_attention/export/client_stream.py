"""A file of lines through a server: several requests at once, answers in order."""

import collections
import concurrent.futures
import datetime
import time

from absl import logging

from keras_attention.checks import check_integer
from keras_attention.decoding.lines import windows

_SECONDS_BETWEEN_LINES = 10.0


def stream(call, *sides, batch_size=32, in_flight=4, total=None):
    """Yields the answers to the lines of a file, in the order of the lines.

    Args:
        call: a method of a `TranslationClient` that takes lists of texts.
        *sides: a name for messages and an iterable of lines, bytes or str, for each
            argument of `call`; as those of `decoding.lines.windows`.
        batch_size: lines of a request; at most the `max_batch_size` of the server.
        in_flight: requests under way at once. No more are read ahead.
        total: lines, if known, for the time left that the log tells every 10 s.

    Raises:
        ValueError: the sides have different numbers of lines, or an argument is wrong.
        ServingError: by the first request, in the order of the lines, that failed. The
            lines before it have been yielded.

    Example:

    >>> shout = lambda texts: [text.upper() for text in texts]
    >>> list(stream(shout, ("lines", ["a\\n", "b\\n", "c"]), batch_size=2))
    [b'A', b'B', b'C']
    """
    check_integer("batch_size", batch_size)
    check_integer("in_flight", in_flight)
    progress = _Progress(total)
    waiting = collections.deque()
    threads = concurrent.futures.ThreadPoolExecutor(in_flight, "translation-client")
    try:
        for _, *texts in windows(sides, batch_size):
            waiting.append(threads.submit(call, *texts))
            if len(waiting) >= in_flight:
                yield from progress.counted(waiting.popleft().result())
        while waiting:
            yield from progress.counted(waiting.popleft().result())
    finally:
        # Whoever closes the client ends those that are under way.
        threads.shutdown(wait=False, cancel_futures=True)


class _Progress:
    """Says now and then how many lines are done, and how fast."""

    def __init__(self, total):
        self._total = total
        self._done = 0
        self._began = self._said = time.monotonic()

    def counted(self, answers):
        """Returns the answers of a request, counted."""
        self._done += len(answers)
        now = time.monotonic()
        if now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            logging.info("%s", self._line(now))
        return answers

    def _line(self, now):
        rate = self._done / max(now - self._began, 1e-9)
        if not self._total:
            return f"{self._done} lines; {rate:.1f} lines/s"
        seconds = max(0, self._total - self._done) / rate
        left = datetime.timedelta(seconds=int(seconds))
        return f"{self._done} of {self._total} lines; {rate:.1f} lines/s, {left} left"
