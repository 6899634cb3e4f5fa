"""A few updates under TensorFlow's profiler."""

import contextlib

import tensorflow as tf

WARM_UP = 5  # updates of this process that trace, compile and fill the pipeline


class Profiler:
    """Records some updates of this process for TensorBoard's Profile tab.

    Args:
        directory: of the event files; the recording lies in `plugins/profile/TIME`.
        updates: how many to record after the first `WARM_UP`; 0 = none.
    """

    def __init__(self, directory, updates):
        self._directory = str(directory)
        self._wait = WARM_UP
        self._left = updates
        self._recording = False

    def update(self, step):
        """Returns the context in which an update is computed.

        Args:
            step: number of the update.
        """
        if self._left == 0:
            return contextlib.nullcontext()
        if self._wait > 0:
            self._wait -= 1
            return contextlib.nullcontext()
        return self._recorded(step)

    @contextlib.contextmanager
    def _recorded(self, step):
        if not self._recording:
            tf.profiler.experimental.start(self._directory)
            self._recording = True
        with tf.profiler.experimental.Trace("update", step_num=step, _r=1):
            yield
        self._left -= 1
        if self._left == 0:
            self.close()

    def close(self):
        """Writes what has been recorded when the run ends before all is."""
        if self._recording:
            self._recording = False
            self._left = 0
            tf.profiler.experimental.stop()
