"""What the workers of a run tell one another, beside the gradients.

Every method that talks is called by all workers at the same place of the run: it is a
collective operation, and one that stays away stops the others.
"""

import contextlib
import faulthandler
import hashlib
import json
import signal
import threading
import time

import numpy as np
import tensorflow as tf

from keras_attention.training.cluster import (
    Cluster,
    LostWorkerError,
    await_peers,
    unreachable,
)
from keras_attention.training.workdir import PARTS, versions

# While the chief learns the subwords and tokenizes, the others wait as long as it
# lives: TensorFlow's heartbeats tell of its end within seconds.
PATIENCE_SECONDS = 7 * 24 * 3600.0
SHARED_FILE_SECONDS = 60.0  # network file systems show a new file that late
# What TensorFlow raises when a collective operation can never end.
_LOST = (
    tf.errors.UnavailableError,
    tf.errors.DeadlineExceededError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.InternalError,
)


class Alone:
    """The only worker of a run in one process: nobody to tell, nobody to wait for.

    Example:

    >>> Alone().from_chief(lambda: 3)
    3
    """

    count = 1
    is_chief = True

    def everyone(self, value):
        """Returns what each worker says, in a list."""
        return [value]

    def from_chief(self, make):
        """Returns what `make()` gives on the chief, on every worker."""
        return make()

    def check_same(self, values):
        """Raises a ValueError on all workers when their `values` differ."""

    def chief_first(self):
        """The chief runs the block first; the others when it is through."""
        return contextlib.nullcontext()

    def await_file(self, path):
        """Waits until this worker sees a file that the chief has written."""

    def telling_of_loss(self):
        """Turns what a lost worker makes fail in the block into a LostWorkerError."""
        return contextlib.nullcontext()


class Workers(Alone):
    """This process among the workers of a `MultiWorkerMirroredStrategy`.

    Values travel as JSON. Their sum over the workers is the one operation underneath.

    Args:
        strategy: a `tf.distribute.MultiWorkerMirroredStrategy`.
        cluster: the `Cluster` it was made for.
        seconds: to wait for the others at most.
    """

    def __init__(self, strategy, cluster, seconds):
        self.cluster = cluster
        self.count = len(cluster.addresses)
        self.is_chief = cluster.index == 0
        self._strategy = strategy
        self._sum = self._summing(seconds)
        self._patient_sum = self._summing(PATIENCE_SECONDS)

    def _summing(self, seconds):
        local = self._strategy.num_replicas_in_sync // self.count
        options = tf.distribute.experimental.CommunicationOptions(
            timeout_seconds=seconds
        )

        def of_replica(values):
            context = tf.distribute.get_replica_context()
            first = context.replica_id_in_sync_group % local == 0
            values *= tf.cast(first, values.dtype)  # a worker counts once
            return context.all_reduce("SUM", values, options=options)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
        def total(values):
            sums = self._strategy.run(of_replica, args=(values,))
            return self._strategy.experimental_local_results(sums)[0]

        return total

    def everyone(self, value):
        """Returns what each worker says, in a list."""
        own = np.frombuffer(json.dumps(value).encode(), np.uint8)
        lengths = np.zeros(self.count)
        lengths[self.cluster.index] = len(own)
        lengths = self._sum(lengths).numpy().astype(int)
        table = np.zeros((self.count, lengths.max()))
        table[self.cluster.index, : len(own)] = own
        table = self._sum(table.ravel()).numpy().reshape(table.shape)
        rows = zip(table.astype(np.uint8), lengths, strict=True)
        return [json.loads(row[:length].tobytes()) for row, length in rows]

    def from_chief(self, make):
        """Returns what `make()` gives on the chief, on every worker."""
        return self.everyone(make() if self.is_chief else None)[0]

    def check_same(self, values):
        """Raises a ValueError on all workers when their `values` differ.

        Args:
            values: a flat dictionary that JSON can hold.
        """
        told = self.everyone(values)
        differences = [
            f"{name}: "
            + ", ".join(f"{each.get(name)!r} on {i}" for i, each in enumerate(told))
            for name in sorted({name for each in told for name in each})
            if any(each.get(name) != told[0].get(name) for each in told)
        ]
        if differences:
            raise ValueError(
                "Every worker of a run must be started alike. Received on the workers "
                f"0 to {self.count - 1}: {'; '.join(differences)}. Give all the same "
                "flags, text and version of the package."
            )

    @contextlib.contextmanager
    def chief_first(self):
        """The chief runs the block first; the others when it is through."""
        if not self.is_chief:
            self._patient_sum([0.0])
        yield
        if self.is_chief:
            self._patient_sum([0.0])

    def await_file(self, path):
        """Waits until this worker sees a file that the chief has written.

        Raises:
            FileNotFoundError: it does not, as on a host with a disk of its own.
        """
        deadline = time.monotonic() + SHARED_FILE_SECONDS
        while not path.exists():
            if time.monotonic() > deadline:
                raise FileNotFoundError(
                    "Expected a workdir that all workers share, as on a network file "
                    f"system. Received: the chief has written {path}, and worker "
                    f"{self.cluster.index} does not see it. Put the workdir there."
                )
            time.sleep(0.2)

    @contextlib.contextmanager
    def telling_of_loss(self):
        """Turns what a lost worker makes fail in the block into a LostWorkerError."""
        try:
            yield
        except _LOST as error:
            gone = unreachable(self.cluster.others())
            named = ", ".join(gone) if gone else "one that is still reachable"
            reason = str(error).replace("Graph execution error:", "").split()
            raise LostWorkerError(
                f"Expected {self.count} workers that answer. Received: nothing from "
                f"{named}. The same command on all workers goes on from the last "
                "checkpoint; look first at the log of the lost one. TensorFlow says: "
                f"{' '.join(reason)[-300:]}"
            ) from error


def check_started_alike(workers, config, train, valid, initial_workdir):
    """Raises a ValueError on all workers unless they were started alike.

    Args:
        workers: `Alone` or `Workers`.
        config: the three configurations, as `choose_config` returns them.
        train, valid: pairs as text, or None. Their files may lie at other places.
        initial_workdir: of the first weights, or None.
    """
    if workers.count == 1:
        return
    values = {
        f"{part}.{field}": value
        for part in PARTS
        for field, value in config[part].to_dict().items()
    }
    texts = {"training text": _digest(train), "validation text": _digest(valid)}
    others = {"initial_workdir": initial_workdir and str(initial_workdir)}
    workers.check_same({**values, **texts, **others, **versions()})


def _digest(pairs):
    if pairs is None or hasattr(pairs, "sha256"):  # as of files
        return pairs and pairs.sha256[:12]
    digest = hashlib.sha256()
    for line in (*pairs.sources, *pairs.targets):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()[:12]


def connect(cluster, seconds, say=lambda text: None):
    """Joins the other workers of a run.

    To be called before TensorFlow makes its first tensor.

    Args:
        cluster: a `Cluster`.
        seconds: to wait for another worker at most, now and at every update.
        say: for lines of progress.

    Returns:
        (`tf.distribute.MultiWorkerMirroredStrategy`, `Workers`).

    Raises:
        LostWorkerError: some worker never came.
        OSError: this worker cannot listen at its own port.
    """
    await_peers(cluster, seconds, say)
    tf.get_logger().setLevel("WARNING")  # it tells of every collective operation
    # TensorFlow holds Python's lock while it waits for all to register: no exception
    # and no signal ends that, only this. All have been seen, so it is short.
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=tf.distribute.experimental.CommunicationOptions(
                timeout_seconds=seconds
            )
        )
    except _LOST as error:  # as when the others are still of an earlier start
        raise LostWorkerError(
            f"Expected {len(cluster.addresses)} workers that join. Received: "
            f"{' '.join(str(error).split())[:300]}. Start all of them again."
        ) from error
    finally:
        faulthandler.cancel_dump_traceback_later()
    if threading.current_thread() is threading.main_thread():
        # It also takes SIGTERM for itself and does nothing about it.
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    workers = Workers(strategy, cluster, seconds)
    say(f"worker {cluster.index} of {workers.count}, {workers.count} joined")
    return strategy, workers


def workers_of(strategy, seconds):
    """Returns the `Workers` of a strategy that a caller has made, or `Alone`.

    Args:
        strategy: a `tf.distribute.Strategy`.
        seconds: to wait for another worker at most.
    """
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return Alone()
    resolver = strategy.cluster_resolver
    jobs = resolver.cluster_spec().as_dict()
    addresses = [*jobs.get("chief", ()), *jobs.get("worker", ())]
    if len(addresses) < 2:
        return Alone()
    before = len(jobs.get("chief", ())) if resolver.task_type == "worker" else 0
    cluster = Cluster(tuple(addresses), before + resolver.task_id)
    return Workers(strategy, cluster, seconds)
