"""The batches of the test server, as batching_session.cc makes them."""

import concurrent.futures
import threading
import time

import pytest

from tests.serving.batching import BatchingSession, Parameters
from tests.serving.failures import Failure
from tests.serving.tensors import INT32, Tensor


class Model:
    """Gives back what it gets; may be held, may fail."""

    def __init__(self):
        self.shapes, self.free, self.rows = [], threading.Event(), None
        self.free.set()

    def __call__(self, signature, inputs, seconds):
        self.free.wait()
        self.shapes.append((signature, inputs["ids"].shape))
        if self.rows is not None:
            return {"ids": Tensor(INT32, [0] * self.rows, [self.rows])}
        return {"ids": inputs["ids"]}


@pytest.fixture
def model():
    return Model()


def together(model, requests, **parameters):
    """Answers to requests that come while a first one holds the only thread."""
    values = {"num_batch_threads": 1, "batch_timeout_micros": 10_000, **parameters}
    session = BatchingSession(model, Parameters(**values))
    pool = concurrent.futures.ThreadPoolExecutor(len(requests) + 1)
    try:
        model.free.clear()
        first = pool.submit(session.run, "first", {"ids": row(0)}, 60)
        time.sleep(0.05)
        waiting = []
        for name, tensor, *seconds in requests:
            arguments = (name, {"ids": tensor}, *(seconds or [60]))
            waiting.append(pool.submit(session.run, *arguments))
            time.sleep(0.01)  # in this order
        time.sleep(0.05)
        model.free.set()
        first.exception()
        concurrent.futures.wait(waiting)
        return [each.exception() or each.result()["ids"] for each in waiting]
    finally:
        model.free.set()
        pool.shutdown()
        session.close()


def row(*values):
    return Tensor(INT32, list(values), [1, len(values)])


def test_requests_of_a_signature_share_a_batch(model):
    requests = [("a", row(1, 2)), ("b", row(3, 4)), ("a", row(5, 6))]
    assert together(model, requests) == [row(1, 2), row(3, 4), row(5, 6)]
    assert sorted(model.shapes[1:]) == [("a", [2, 2]), ("b", [1, 2])]


def test_a_batch_is_not_larger_than_the_maximum(model):
    requests = [("a", Tensor(INT32, [n, n], [2, 1])) for n in range(3)]
    together(model, requests, max_batch_size=5)
    assert model.shapes[1:] == [("a", [4, 1]), ("a", [2, 1])]
    with pytest.raises(Failure, match="Task size 6 is larger than maximum input batch"):
        raise together(model, [("a", Tensor(INT32, [0] * 6, [6]))], max_batch_size=5)[0]


def test_shorter_rows_are_filled_with_the_first_element(model):
    requests = [("a", row(7, 8)), ("a", row(1, 2, 3))]
    padded = together(model, requests, pad_variable_length_inputs=True)
    assert padded == [row(7, 8, 7), row(1, 2, 3)]
    for failure in together(model, requests):
        assert failure.code == "FAILED_PRECONDITION"
        assert "padding is turned off" in str(failure)


def test_allowed_sizes_repeat_the_first_row(model):
    requests = [("a", row(n)) for n in range(3)]
    answers = together(model, requests, max_batch_size=8, allowed_batch_sizes=(4, 8))
    assert answers == [row(0), row(1), row(2)]
    assert model.shapes[1:] == [("a", [4, 1])]


def test_outputs_of_another_length_fail_all(model):
    model.rows = 1
    found = together(model, [("a", row(1)), ("a", row(2))])
    assert {x.code for x in found} == {"FAILED_PRECONDITION"}
    assert "0th dimension does not equal the sum" in str(found[0])


def test_a_full_queue_and_a_late_request(model):
    requests = [("a", row(n)) for n in range(3)]
    found = together(model, requests, max_batch_size=2, max_enqueued_batches=1)
    assert [getattr(x, "code", "") for x in found] == ["", "", "UNAVAILABLE"]
    (late,) = together(model, [("a", row(1), 0.01)])
    assert late.code == "RESOURCE_EXHAUSTED"


def test_parameters_are_read(tmp_path):
    path = tmp_path / "batching"
    path.write_text(
        "max_batch_size { value: 8 } # at most\nbatch_timeout_micros { value: 0 }\n"
        "pad_variable_length_inputs: true\nallowed_batch_sizes: 4\n"
        "allowed_batch_sizes: 8\nthread_pool_name { value: 'x' }\n"
    )
    assert Parameters.read(path) == Parameters(
        max_batch_size=8,
        batch_timeout_micros=0,
        pad_variable_length_inputs=True,
        allowed_batch_sizes=(4, 8),
    )
    path.write_text("max_batch_size { value: 8 } allowed_batch_sizes: 4")
    with pytest.raises(Failure, match="must equal max_batch_size"):
        Parameters.read(path)
