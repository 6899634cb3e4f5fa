import json
import pathlib
import types

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.data.corpora import ParallelCorpus
from keras_attention.training import workers as rooms
from keras_attention.training.cluster import Cluster, LostWorkerError
from keras_attention.training.workers import (
    Alone,
    Workers,
    check_started_alike,
    connect,
    workers_of,
)

# What the workers of three say, when each is asked for the sum of all.
ADDRESSES = ("a:1", "b:1", "c:1")


class Strategy:
    num_replicas_in_sync = 6


def of_three(index, others=None):
    """Worker `index` of three; `others` are the rows that the others would add."""
    workers = Workers(Strategy(), Cluster(ADDRESSES, index), 5.0)
    said = []

    def total(values):
        said.append(np.array(values, float))
        sums = said[-1] + (others(len(said), said[-1]) if others else 0)
        return types.SimpleNamespace(numpy=lambda: sums)

    workers._sum = workers._patient_sum = total
    return workers, said


def talking(values):
    """From an index, that worker of three of which each says its own value."""

    def worker(index):
        rows = [np.frombuffer(json.dumps(v).encode(), np.uint8) for v in values]

        def added(call, own):
            if call % 2:  # the lengths
                sums = np.array([len(row) for row in rows], float)
            else:
                width = len(own) // len(rows)
                table = np.zeros((len(rows), width))
                for i, row in enumerate(rows):
                    table[i, : len(row)] = row
                sums = table.ravel()
            return sums - own

        return of_three(index, added)

    return worker


def test_alone_says_what_it_says():
    alone = Alone()
    assert alone.everyone(3) == [3]
    assert alone.from_chief(lambda: "x") == "x"
    alone.check_same({"a": 1})
    alone.await_file(None)
    with alone.chief_first(), alone.telling_of_loss():
        pass
    assert alone.is_chief and alone.count == 1


def test_each_worker_adds_its_own_row_only():
    workers, said = talking(["chief", {"é": 1}, "third"])(1)
    workers.everyone({"é": 1})
    lengths, table = said
    assert lengths.tolist() == [0, 13, 0]
    rows = table.reshape(3, 13)
    assert rows[1].astype(np.uint8).tobytes() == b'{"\\u00e9": 1}'
    assert not rows[[0, 2]].any()


def test_everyone_hears_all_in_the_order_of_workers():
    values = [{"a": None}, [1.5, "é" * 40], "x"]
    for index in range(3):
        assert talking(values)(index)[0].everyone(values[index]) == values


def test_only_the_chief_computes_what_it_tells():
    told = talking(["from the chief", None, None])
    assert told(0)[0].from_chief(lambda: "from the chief") == "from the chief"
    assert told(2)[0].from_chief(lambda: 1 / 0) == "from the chief"


def test_the_same_values_pass():
    values = {"seed": 1, "text": "ab"}
    talking([values] * 3)(1)[0].check_same(values)


def test_values_that_differ_are_named_with_their_workers():
    values = [{"seed": 1, "x": 1}, {"seed": 2, "x": 1}, {"seed": 1}]
    for index in range(3):
        with pytest.raises(ValueError, match="must be started alike") as caught:
            talking(values)(index)[0].check_same(values[index])
        assert "seed: 1 on 0, 2 on 1, 1 on 2" in str(caught.value)
        assert "x: 1 on 0, 1 on 1, None on 2" in str(caught.value)


@pytest.mark.parametrize(("index", "order"), [(0, ["in", "sum"]), (2, ["sum", "in"])])
def test_the_chief_goes_first(index, order):
    workers, _ = of_three(index)
    seen = []
    workers._patient_sum = lambda _: seen.append("sum")
    with workers.chief_first():
        seen.append("in")
    assert seen == order


def test_a_file_of_the_chief_is_waited_for(tmp_path, monkeypatch):
    workers, _ = of_three(1)
    (tmp_path / "there").touch()
    workers.await_file(tmp_path / "there")
    monkeypatch.setattr(rooms, "SHARED_FILE_SECONDS", 0.1)
    with pytest.raises(FileNotFoundError, match="workdir that all workers share"):
        workers.await_file(tmp_path / "missing")


@pytest.mark.parametrize("kind", rooms._LOST)
def test_a_lost_worker_is_named(kind, monkeypatch):
    workers, _ = of_three(0)
    monkeypatch.setattr(rooms, "unreachable", lambda addresses: addresses[1:])
    with pytest.raises(LostWorkerError, match="nothing from c:1. The same command"):
        with workers.telling_of_loss():
            raise kind(None, None, "Collective ops is aborted")


def test_a_worker_that_hangs_is_told_of():
    workers, _ = of_three(0)
    workers.cluster = Cluster(("a:1",), 0)
    with pytest.raises(LostWorkerError, match="from one that is still reachable"):
        with workers.telling_of_loss():
            raise tf.errors.DeadlineExceededError(None, None, "timed out")


def test_other_errors_stay_what_they_are():
    workers, _ = of_three(0)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        with workers.telling_of_loss():
            raise tf.errors.ResourceExhaustedError(None, None, "out of memory")


def test_one_process_has_no_other_workers():
    assert type(workers_of(tf.distribute.get_strategy(), 5)) is Alone


@pytest.mark.parametrize(
    ("jobs", "task", "index"),
    [
        ({"worker": ["a:1", "b:1", "c:1"]}, ("worker", 1), 1),
        ({"chief": ["a:1"], "worker": ["b:1", "c:1"]}, ("chief", 0), 0),
        ({"chief": ["a:1"], "worker": ["b:1", "c:1"]}, ("worker", 1), 2),
    ],
)
def test_the_workers_of_a_strategy_that_was_given(monkeypatch, jobs, task, index):
    class Given(Strategy):
        cluster_resolver = types.SimpleNamespace(
            cluster_spec=lambda: tf.train.ClusterSpec(jobs),
            task_type=task[0],
            task_id=task[1],
        )

    monkeypatch.setattr(tf.distribute, "MultiWorkerMirroredStrategy", Given)
    workers = workers_of(Given(), 5)
    assert workers.cluster == Cluster(ADDRESSES, index)
    assert workers.is_chief == (index == 0) and workers.count == 3


def test_a_strategy_of_one_worker_has_no_others(monkeypatch):
    class Given(Strategy):
        cluster_resolver = types.SimpleNamespace(
            cluster_spec=lambda: tf.train.ClusterSpec({"worker": ["a:1"]})
        )

    monkeypatch.setattr(tf.distribute, "MultiWorkerMirroredStrategy", Given)
    assert type(workers_of(Given(), 5)) is Alone


def test_workers_that_cannot_join_are_told_of_and_waited_for_in_time(monkeypatch):
    armed = []

    def refuse(communication_options):
        armed.append(communication_options.timeout_seconds)
        raise tf.errors.AbortedError(None, None, "another\nincarnation of task:0")

    monkeypatch.setattr(tf.distribute, "MultiWorkerMirroredStrategy", refuse)
    monkeypatch.setattr(rooms, "await_peers", lambda *_: None)
    monkeypatch.setattr(
        rooms.faulthandler,
        "dump_traceback_later",
        lambda seconds, exit: armed.append((seconds, exit)),
    )
    monkeypatch.setattr(
        rooms.faulthandler, "cancel_dump_traceback_later", lambda: armed.append("off")
    )
    with pytest.raises(LostWorkerError, match="3 workers that join. Received: another"):
        connect(Cluster(ADDRESSES, 0), 7)
    assert armed == [(7, True), 7, "off"]


CONFIG = {
    "transformer": TransformerConfig(vocabulary_size=50),
    "training": TrainingConfig(seed=7),
    "decoding": DecodingConfig(),
}


def started(train, valid=None, initial=None, config=CONFIG):
    seen = {}
    workers = types.SimpleNamespace(count=2, check_same=seen.update)
    check_started_alike(workers, config, train, valid, initial)
    return seen


def test_what_a_worker_was_started_with_is_compared():
    train = ParallelCorpus.from_pairs(["a b"], ["c"])
    seen = started(train, initial=pathlib.Path("x"))
    assert seen["training.seed"] == 7 and seen["transformer.vocabulary_size"] == 50
    assert seen["tensorflow"] == tf.__version__
    assert seen["validation text"] is None and seen["initial_workdir"] == "x"
    same = started(ParallelCorpus.from_pairs(["a b"], ["c"]))
    assert same["training text"] == seen["training text"]
    for pair in (["a"], ["c"]), (["a b"], ["d"]):
        other = started(ParallelCorpus.from_pairs(*pair))
        assert other["training text"] != seen["training text"]
    files = types.SimpleNamespace(sha256="0123456789abcdef")
    assert started(files)["training text"] == "0123456789ab"


def test_alone_nothing_is_compared():
    check_started_alike(Alone(), None, None, None, None)
