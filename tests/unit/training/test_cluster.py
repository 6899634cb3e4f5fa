import json
import socket
import threading
import time

import pytest

from keras_attention.training import cluster as clusters
from keras_attention.training.cluster import (
    Cluster,
    LostWorkerError,
    await_peers,
    read_cluster,
    unreachable,
)

TWO = {"worker": ["a:1", "b:2"]}


def read(cluster, task):
    return read_cluster({"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})})


def task(index, kind="worker"):
    return {"type": kind, "index": index}


def test_workers_are_read():
    found = read(TWO, task(1))
    assert found == Cluster(("a:1", "b:2"), 1)
    assert found.others() == ["a:1"]
    assert read(TWO, task("1")) == found  # shells quote numbers


def test_a_chief_is_the_first_worker():
    jobs = {"worker": ["b:1", "c:1"], "chief": ["a:1"]}
    addresses = ("a:1", "b:1", "c:1")
    assert read(jobs, task(0, "chief")) == Cluster(addresses, 0)
    assert read(jobs, task(1)) == Cluster(addresses, 2)


@pytest.mark.parametrize("text", [None, "", " ", "{}", '{"environment": "cloud"}'])
def test_no_cluster_is_one_process(text):
    assert read_cluster({} if text is None else {"TF_CONFIG": text}) is None


def test_a_single_worker_is_one_process():
    assert read({"worker": ["a:1"]}, task(0)) is None


@pytest.mark.parametrize(
    ("cluster", "task", "message"),
    [
        (["a:1"], task(0), 'hold "cluster" as an object'),
        ({"worker": "a:1"}, task(0), "hold \"worker\" as a list .*Received: 'a:1'"),
        ({"worker": []}, task(0), 'hold "worker" as a list'),
        ({**TWO, "ps": ["c:1"]}, task(0), "Received: the jobs 'ps'"),
        ({**TWO, "evaluator": ["c:1"]}, task(0), "no evaluators .*'evaluator'"),
        ({"worker": ["a:1", "b"]}, task(0), "hold addresses .*Received: 'b'"),
        ({"worker": ["a:1", "b:0"]}, task(0), "Received: 'b:0'"),
        ({"worker": ["a:1", "b:99999"]}, task(0), "Received: 'b:99999'"),
        ({"worker": ["a:1", 7]}, task(0), "Received: 7"),
        ({"worker": ["a:1", "a:1"]}, task(0), "another address for every worker"),
        ({**TWO, "chief": ["c:1", "d:1"]}, task(0), "at most one chief"),
        (TWO, None, 'hold "task" .*Received: None'),
        (TWO, {"type": "worker"}, 'hold "task" with "type" and "index"'),
        (TWO, task(0, "chief"), "hold \"type\" among 'worker'. Received: 'chief'"),
        (TWO, task(2), 'hold "index" from 0 to 1, of a worker. Received: 2'),
        (TWO, task(-1), "Received: -1"),
        (TWO, task(True), "Received: True"),
        (TWO, task("x"), "Received: 'x'"),
    ],
)
def test_a_malformed_cluster_is_refused(cluster, task, message):
    with pytest.raises(ValueError, match=f"Expected TF_CONFIG to .*{message}"):
        read(cluster, task)


@pytest.mark.parametrize(
    ("text", "expected"), [("{worker", "JSON. Received"), ("[1]", "a JSON object")]
)
def test_what_is_no_object_is_refused(text, expected):
    with pytest.raises(ValueError, match=f"Expected TF_CONFIG to hold {expected}"):
        read_cluster({"TF_CONFIG": text})


@pytest.fixture
def ports():
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("", 0))
    numbers = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return numbers


def test_workers_find_one_another_in_any_order(ports):
    addresses = tuple(f"localhost:{port}" for port in ports)
    said = []
    first = threading.Thread(
        target=await_peers, args=(Cluster(addresses, 0), 20, said.append)
    )
    first.start()
    while not said:
        time.sleep(0.01)
    assert said == [f"waits for {addresses[1]}, up to 20 s"]
    await_peers(Cluster(addresses, 1), 20)
    with socket.create_server(("", ports[1])):  # as TensorFlow's own after that
        first.join(20)
    assert not first.is_alive()


def test_a_worker_that_never_comes_is_named(ports):
    addresses = tuple(f"localhost:{port}" for port in ports)
    before = time.monotonic()
    with pytest.raises(LostWorkerError, match=f"nothing from {addresses[1]}. Start"):
        await_peers(Cluster(addresses, 0), 0.5)
    assert 0.4 < time.monotonic() - before < 5
    assert LostWorkerError.exit_code == 75


def test_a_port_in_use_is_told(ports):
    addresses = tuple(f"localhost:{port}" for port in ports)
    with socket.create_server(("", ports[0])):
        with pytest.raises(OSError, match=f"Expected port {ports[0]} .* to be free"):
            await_peers(Cluster(addresses, 0), 1)


def test_unreachable_are_those_where_nobody_listens(ports):
    one, other = (f"localhost:{port}" for port in ports)
    with socket.create_server(("", ports[0])):
        assert unreachable([one, other]) == [other]
    assert unreachable(["no-such-host.invalid:1"]) == ["no-such-host.invalid:1"]


def test_a_connection_with_itself_is_no_answer(monkeypatch):
    class Self:
        getsockname = getpeername = lambda _: ("127.0.0.1", 5)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(clusters.socket, "create_connection", lambda *_, **__: Self())
    assert unreachable(["localhost:5"]) == ["localhost:5"]
