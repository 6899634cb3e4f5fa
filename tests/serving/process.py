"""Starts the server of the tests as a process of its own."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Server:
    """A running server.

    Attributes:
        grpc, rest: "host:port".
        pid: of the process.
    """

    def __init__(self, *arguments, **models):
        names = [f"{name}={folder}" for name, folder in models.items()]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.serving.server", *names, *arguments],
            cwd=ROOT,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = json.loads(self._process.stdout.readline() or "{}")
        if not said:
            raise RuntimeError(f"the server ended with {self._process.wait()}")
        self.foreign = said["foreign"]
        self.pid = said["pid"]
        self.grpc, self.rest = (f"127.0.0.1:{said[x]}" for x in ("grpc", "rest"))

    def batches(self):
        """Returns {model: rows of each batch that was run}."""
        self._process.stdin.write("batches\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def resident_bytes(self):
        """Returns the memory that the process holds."""
        words = pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")

    def kill(self):
        """Ends it at once."""
        self._process.kill()
        self.close()

    def close(self):
        """Ends it and waits until it is gone."""
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


@contextlib.contextmanager
def serving(*arguments, **models):
    """Gives a `Server` of {name: folder}, and ends it."""
    server = Server(*arguments, **models)
    try:
        yield server
    finally:
        if server._process.poll() is None:
            server.close()
