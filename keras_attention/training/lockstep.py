"""What each worker of a run sees for itself, and all must decide alike.

The time, a signal and a callback's wish to stop differ from process to process. Were
each to act on its own, one would validate, save or end while the others wait for its
gradients. So all of them act on what they have told one another, at the same update.
"""

EVERY_SECONDS = 1.0  # often enough for a signal, too seldom to cost anything
MOST_UPDATES = 1_000


class Lockstep:
    """The time, the signals and the wish to stop, as all workers know them.

    In one process they are what they are at the moment. With several workers they are
    what was told last, about once a second: the time is the chief's, a signal or a
    callback of any worker is all workers'.

    Args:
        workers: `Alone` or `Workers`.
        state: the `RunState`; its `seconds` are kept here.
        signals: the `StopSignals` of this process.
        model: that callbacks stop.
    """

    def __init__(self, workers, state, signals, model):
        self._workers = workers
        self._state = state
        self._signals = signals
        self._model = model
        self._told = (None, False)
        self._unsaid_seconds = 0.0
        self._updates, self._seconds, self._wait = 0, 0.0, 1

    @property
    def received(self):
        """Number of the signal that stops the run, or None."""
        return self._signals.received if self._workers.count == 1 else self._told[0]

    @property
    def stop_training(self):
        """Whether a callback stops the run."""
        alone = self._workers.count == 1
        return self._model.stop_training if alone else self._told[1]

    def spend(self, seconds):
        """Adds to the time of training."""
        if self._workers.count == 1:
            self._state.seconds += seconds
        else:
            self._unsaid_seconds += seconds

    def after_update(self):
        """Tells the others when it is time to, which is the same update for all.

        To be called after every update, and at every batch of a validation.
        """
        self._updates += 1
        if self._workers.count > 1 and self._updates >= self._wait:
            self.agree()
            each = max(self._seconds / self._updates, 1e-9)
            self._wait = int(min(max(EVERY_SECONDS / each, 1), MOST_UPDATES))
            self._updates, self._seconds = 0, 0.0

    def agree(self):
        """Tells the others, and hears from them."""
        if self._workers.count == 1:
            return
        told = self._workers.everyone(
            {
                "received": self._signals.received or 0,
                "stop_training": bool(self._model.stop_training),
                "seconds": self._unsaid_seconds,
            }
        )
        received = max(int(each["received"]) for each in told)
        stop = any(each["stop_training"] for each in told)
        self._told = (received or None, stop)
        self._state.seconds += told[0]["seconds"]
        self._seconds += told[0]["seconds"]
        self._unsaid_seconds = 0.0
