"""The workers of a run as `TF_CONFIG` names them, and how they find one another.

Nothing of TensorFlow is used here: a cluster that cannot come together must be told of
in time, and TensorFlow's own wait for it has no end and hears no signal.
"""

import contextlib
import dataclasses
import json
import os
import socket
import time

VARIABLE = "TF_CONFIG"
RETRY_SECONDS = 0.2
CONNECT_SECONDS = 2.0
_JOBS = ("chief", "worker")
_EXAMPLE = (
    '{"cluster": {"worker": ["host0:2222", "host1:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)


class LostWorkerError(ConnectionError):
    """A worker of the run never came, or does not answer any more.

    `exit_code` (75, "try again" in sysexits.h) is what a binary ends with, so that a
    scheduler can tell this end, which a restart of all workers mends, from others.
    """

    exit_code = 75


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The workers of a run.

    Args:
        addresses: "host:port" of every worker; the chief is the first.
        index: place of this process among them.

    Example:

    >>> Cluster(("a:1", "b:1"), 1).others()
    ['a:1']
    """

    addresses: tuple
    index: int

    def others(self):
        """Returns the addresses of the other workers."""
        return [a for i, a in enumerate(self.addresses) if i != self.index]


def read_cluster(environment=None):
    """Returns the cluster that `TF_CONFIG` names, or None.

    Args:
        environment: a mapping; None = that of the process.

    Returns:
        A `Cluster` of two workers or more. None without `TF_CONFIG`, and for a single
        worker, which needs no other.

    Raises:
        ValueError: `TF_CONFIG` is not what TensorFlow reads, or has other tasks than
            "chief" and "worker".

    Example:

    >>> read_cluster({}) is None
    True
    """
    environment = os.environ if environment is None else environment
    text = environment.get(VARIABLE, "")
    if not text.strip():
        return None
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise _malformed("JSON", f"{text[:200]!r} ({error})") from error
    if not isinstance(values, dict):
        raise _malformed("a JSON object", repr(values))
    if not values.get("cluster"):  # some platforms set it for single processes
        return None
    jobs = _jobs(values["cluster"])
    addresses = [address for job in _JOBS for address in jobs.get(job, ())]
    index = _index(values.get("task"), jobs)
    return Cluster(tuple(addresses), index) if len(addresses) > 1 else None


def _jobs(cluster):
    if not isinstance(cluster, dict):
        raise _malformed('"cluster" as an object of lists', repr(cluster))
    others = sorted(set(cluster) - set(_JOBS))
    if others:
        raise _malformed(
            'only "worker" tasks, and perhaps one "chief": every worker validates and '
            "the chief writes, so there are no evaluators and no parameter servers",
            f"the jobs {', '.join(map(repr, others))}",
        )
    for job, addresses in cluster.items():
        if not isinstance(addresses, list) or not addresses:
            raise _malformed(f'"{job}" as a list of addresses', repr(addresses))
        for address in addresses:
            _check_address(address)
    if len(cluster.get("chief", ())) > 1:
        raise _malformed("at most one chief", repr(cluster["chief"]))
    named = [address for addresses in cluster.values() for address in addresses]
    if len(set(named)) < len(named):
        raise _malformed("another address for every worker", repr(named))
    return cluster


def _check_address(address):
    host, _, port = str(address).rpartition(":")
    right = host and port.isdecimal() and 0 < int(port) < 2**16
    if not isinstance(address, str) or not right:
        raise _malformed('addresses "host:port"', repr(address))


def _index(task, jobs):
    if not isinstance(task, dict) or not {"type", "index"} <= set(task):
        raise _malformed('"task" with "type" and "index"', repr(task))
    job, index = task["type"], task["index"]
    if job not in jobs:
        raise _malformed(f'"type" among {", ".join(map(repr, jobs))}', repr(job))
    count = len(jobs[job])
    if isinstance(index, str) and index.isdecimal():  # as shells like to write it
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise _malformed(f'"index" from 0 to {count - 1}, of a {job}', repr(index))
    return index + (len(jobs["chief"]) if job == "worker" and "chief" in jobs else 0)


def _malformed(expected, received):
    return ValueError(
        f"Expected {VARIABLE} to hold {expected}. Received: {received}. "
        f"An example: {_EXAMPLE}. Unset it to train in one process."
    )


def await_peers(cluster, seconds, say=lambda text: None):
    """Waits until something listens at the address of every other worker.

    Meanwhile this worker listens at its own, so that all find one another whatever
    the order in which they start.

    Args:
        cluster: a `Cluster`.
        seconds: to wait at most.
        say: told once what is waited for.

    Raises:
        LostWorkerError: some never came; the message names them.
        OSError: this worker cannot listen at its own port.
    """
    deadline = time.monotonic() + seconds
    with _listening(cluster.addresses[cluster.index]):
        missing = unreachable(cluster.others())
        if missing:
            say(f"waits for {', '.join(missing)}, up to {seconds:.0f} s")
        while missing and time.monotonic() < deadline:
            time.sleep(RETRY_SECONDS)
            missing = unreachable(missing)
    if missing:
        raise LostWorkerError(
            f"Expected {len(cluster.addresses)} workers within {seconds:.0f} s. "
            f"Received: nothing from {', '.join(missing)}. Start all workers, look at "
            "their logs and at what lies between the hosts (names, ports, firewalls), "
            "or raise peer_timeout_seconds."
        )


@contextlib.contextmanager
def _listening(address):
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("", int(port)))
        except OSError as error:
            raise OSError(
                f"Expected port {port} of this host to be free for {address}. "
                f"Received: {error.strerror}. End what listens there, or name another "
                f"port in the {VARIABLE} of all workers."
            ) from error
        server.listen(128)
        yield


def unreachable(addresses):
    """Returns those of some addresses where nothing listens."""
    return [address for address in addresses if not _answers(address)]


def _answers(address):
    host, _, port = address.rpartition(":")
    try:
        place = (host.strip("[]"), int(port))
        with socket.create_connection(place, timeout=CONNECT_SECONDS) as connection:
            # A port of this host where nobody listens may be given to the very
            # connection that looks for it, which then speaks with itself.
            return connection.getsockname() != connection.getpeername()
    except OSError:
        return False
