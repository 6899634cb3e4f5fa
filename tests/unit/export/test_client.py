"""The client, over both protocols, before a server that says what a test wants."""

import socket
import sys
import threading
import time

import numpy as np
import pytest

from keras_attention.export import client as client_module
from keras_attention.export.client import TranslationClient
from keras_attention.export.client_errors import ServingError

pytest.importorskip("tensorflow_serving", reason="the extra `client` is missing")

from tests.serving.tensors import BOOL, FLOAT, INT32, STRING, Tensor  # noqa: E402
from tests.unit.export import fake_server  # noqa: E402

PROTOCOLS = ["grpc", "rest"]
LOWEST = float(np.finfo(np.float32).min)


@pytest.fixture(scope="module")
def running():
    model = fake_server.FakeModel()
    with fake_server.serving(model) as addresses:
        yield model, addresses


@pytest.fixture
def model(running):
    running[0].answer = fake_server.echo
    running[0].calls.clear()
    return running[0]


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    return request.param


@pytest.fixture
def connect(running, protocol):
    """A function that makes a client of the running server."""
    made = []

    def connect(name="en-de", **options):
        address = options.pop("address", running[1][protocol])
        made.append(TranslationClient(address, name, protocol=protocol, **options))
        return made[-1]

    yield connect
    for client in made:
        client.close()


@pytest.fixture
def closed_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def quick(monkeypatch):
    """The waits between tries, shorter; gives what was waited."""
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 0.01)


def test_translate(model, connect):
    said = connect().translate(["a dog", b"caf\xc3\xa9", "more than nine"])
    assert [x.text for x in said] == ["A DOG", "CAF\u00e9", "MORE THAN NINE"]
    assert [x.score for x in said] == [0.0, -0.5, -1.0]
    assert [x.truncated for x in said] == [False, False, True]
    assert connect().translate([]) == []


def test_bytes_arrive_as_they_are(model, connect):
    model.answer = lambda signature, inputs, _: fake_server.echo(
        signature, {"text": Tensor(STRING, [b"x"] * 4, [4])}, _
    )
    texts = [b"\xff\x00", b"a\0", "\U0001f642", "b64"]
    connect().translate(texts)
    received = model.calls[0][1]["text"].values
    assert received == [b"\xff\x00", b"a\0", "\U0001f642".encode(), b"b64"]


def test_nbest_sends_a_value_a_row_and_drops_empty_slots(model, connect):
    model.answer = lambda *_: {
        "translations": Tensor(STRING, [b"ja", b"je", b"", b""], [2, 2]),
        "scores": Tensor(FLOAT, [-1.0, -2.0, 0.0, LOWEST], [2, 2]),
        "lengths": Tensor(INT32, [2, 3, 0, 0], [2, 2]),
        "truncated": Tensor(BOOL, [False, True], [2]),
        "adjusted": Tensor(BOOL, [True, False], [2]),
    }
    first, second = connect().nbest(["yes", ""], num_hypotheses=2, beam_size=[4, 99])
    assert first.texts == ("ja", "je") and first.scores == (-1.0, -2.0)
    assert first.lengths == (2, 3) and first.adjusted and not first.truncated
    assert second.texts == ("",) and second.scores == (0.0,) and second.truncated
    assert (first.text, first.score) == ("ja", -1.0)
    signature, inputs = model.calls[0]
    assert signature == "nbest"
    assert inputs["num_hypotheses"] == Tensor(INT32, [2, 2], [2])
    assert inputs["beam_size"] == Tensor(INT32, [4, 99], [2])
    assert inputs["max_extra_length"] == Tensor(INT32, [50, 50], [2])
    assert inputs["length_penalty_alpha"].dtype == FLOAT
    assert inputs["length_penalty_alpha"].values == pytest.approx([0.6, 0.6])


@pytest.mark.parametrize("missing", [[b"", b""], [b"x", b"y"]])
def test_a_row_in_which_nothing_was_found_keeps_one(model, connect, missing):
    model.answer = lambda *_: {
        "translations": Tensor(STRING, missing, [1, 2]),
        "scores": Tensor(FLOAT, [LOWEST, LOWEST], [1, 2]),
        "lengths": Tensor(INT32, [0, 0], [1, 2]),
        "truncated": Tensor(BOOL, [False], [1]),
        "adjusted": Tensor(BOOL, [False], [1]),
    }
    (said,) = connect().nbest(["x"])
    assert said.texts == (missing[0].decode(),)


def test_score(model, connect):
    model.answer = lambda *_: {
        "log_probability": Tensor(FLOAT, [-0.25], [1]),
        "tokens": Tensor(INT32, [7], [1]),
        "truncated": Tensor(BOOL, [False], [1]),
    }
    (said,) = connect().score(["a"], ["b"])
    assert (said.log_probability, said.tokens, said.truncated) == (-0.25, 7, False)
    assert model.calls[0][1]["target"].values == [b"b"]


def test_explain_cuts_the_padding_of_neighbours(model, connect):
    model.answer = lambda *_: {
        "translation": Tensor(STRING, [b"x", b"y z"], [2]),
        "score": Tensor(FLOAT, [-1.0, -2.0], [2]),
        "truncated": Tensor(BOOL, [False, False], [2]),
        "pieces": Tensor(STRING, [b"a", b"b", b"", b"c", b"d", b"e"], [2, 3]),
        "lengths": Tensor(INT32, [2, 3], [2]),
        "output_pieces": Tensor(STRING, [b"x", b"", b"y", b"z"], [2, 2]),
        "output_lengths": Tensor(INT32, [1, 2], [2]),
        "alignment": Tensor(FLOAT, [float(n) for n in range(12)], [2, 2, 3]),
        "token_log_probabilities": Tensor(FLOAT, [-1.0, 0.0, -1.5, -0.5], [2, 2]),
    }
    first, second = connect().explain(["a b", "c d e"])
    assert first.pieces == ("a", "b") and first.output_pieces == ("x",)
    np.testing.assert_array_equal(first.alignment, [[0.0, 1.0]])
    assert first.token_log_probabilities == (-1.0,)
    assert second.output_pieces == ("y", "z")
    np.testing.assert_array_equal(second.alignment, [[6, 7, 8], [9, 10, 11]])


def test_predict_gives_arrays_and_names_the_only_output(model, connect):
    memory = Tensor(FLOAT, [0.5, 1.0, 1.5, -2.0], [1, 2, 2])
    model.answer = lambda *_: {"memory": memory}
    found = connect().predict("encode", text=np.array([b"x"], object))
    assert list(found) == ["memory"]
    assert found["memory"].dtype == np.float32
    np.testing.assert_array_equal(found["memory"], [[[0.5, 1.0], [1.5, -2.0]]])


def test_status_and_signatures(model, connect):
    assert connect().status() == {3: ("AVAILABLE", ""), 4: ("END", "a flip")}
    assert connect(version=3).status() == {3: ("AVAILABLE", "")}
    found = connect().signatures()
    assert found["score"] == (["source", "target"], ["log_probability"])
    assert set(found) == set(fake_server.SIGNATURES)


def test_a_version_may_be_named(model, connect):
    assert connect(version=3).translate(["x"])[0].text == "X"


def failure(call, *arguments):
    with pytest.raises(ServingError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return caught.value


def test_no_server(connect, closed_port, quick):
    error = failure(connect(address=closed_port, retries=1).translate, ["x"])
    assert error.code == "UNAVAILABLE" and error.exit_code == 1
    assert f"no server at {closed_port}" in str(error)
    assert "8500" in str(error)


def test_the_other_protocols_port(running, protocol, quick):
    other = running[1]["rest" if protocol == "grpc" else "grpc"]
    client = TranslationClient(other, "en-de", protocol=protocol, retries=0)
    assert "port" in str(failure(client.translate, ["x"]))
    client.close()


def test_a_server_that_comes_later_is_found(model, connect, protocol, closed_port):
    """The port opens after the first tries were refused."""
    client = connect(address=closed_port, retries=8, deadline_seconds=30)
    said = []
    asking = threading.Thread(target=lambda: said.extend(client.translate(["late"])))
    asking.start()
    time.sleep(0.5)
    port = int(closed_port.rpartition(":")[2])
    with fake_server.serving(model, ports={protocol: port}):
        asking.join(30)
    assert [x.text for x in said] == ["LATE"]


def test_a_busy_server_is_asked_again(model, connect, quick):
    model.failing(2, "UNAVAILABLE", "The batch scheduling queue is full")
    assert connect(retries=2).translate(["x"])[0].text == "X"
    assert len(model.calls) == 3
    model.calls.clear()
    error = failure(connect(retries=1).translate, ["x"])
    assert len(model.calls) == 2 and "is full" in str(error)


def test_too_many_requests_are_asked_again(model, connect, quick):
    model.failing(1, "RESOURCE_EXHAUSTED", "Run() timeout exceeded while waiting")
    assert connect(retries=1).translate(["x"])[0].text == "X"


@pytest.mark.parametrize(
    "code", ["INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "INTERNAL"]
)
def test_what_was_refused_is_not_asked_again(model, connect, quick, code):
    model.failing(None, code, "no")
    error = failure(connect(retries=5).translate, ["x"])
    assert len(model.calls) == 1
    assert error.code in (code, "UNKNOWN")  # HTTP has one number for both


def test_waits_double_up_to_the_longest(model, connect, monkeypatch):
    waited = []
    client = connect(retries=6)
    monkeypatch.setattr(client._closed, "wait", lambda delay: waited.append(delay))
    monkeypatch.setattr(client_module.random, "uniform", lambda low, high: high)
    model.failing(None, "UNAVAILABLE", "full")
    assert failure(client.translate, ["x"]).code == "UNAVAILABLE"
    assert waited == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0]


def test_no_wait_goes_beyond_the_deadline(model, connect, monkeypatch):
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 90.0)
    model.failing(None, "UNAVAILABLE", "full")
    client = connect(retries=6, deadline_seconds=40.0)
    assert "full" in str(failure(client.translate, ["x"]))
    assert len(model.calls) == 1


def test_no_such_model(connect):
    error = failure(connect("en-fr").translate, ["x"])
    assert error.code == "NOT_FOUND" and error.exit_code == 2
    assert "serves no model en-fr: Servable not found" in str(error)
    assert failure(connect("en-fr").status).code == "NOT_FOUND"


def test_no_such_version(model, connect):
    error = failure(connect(version=7).translate, ["x"])
    assert "serves no model en-de, version 7" in str(error)


def test_no_such_signature(model, connect):
    error = failure(connect().predict, "translate_words")
    assert "has no signature 'translate_words'; it has: encode, explain" in str(error)
    assert error.exit_code == 2


def test_a_batch_larger_than_the_servers(model, connect):
    words = "Task size 2 is larger than maximum input batch size 1"
    model.failing(None, "INVALID_ARGUMENT", words)
    error = failure(connect().translate, ["x", "y"])
    assert "a request of 2 rows" in str(error) and "`batch_size`" in str(error)


def test_an_answer_that_is_too_big(model, connect):
    client = connect(max_message_bytes=5_000)
    assert client.translate(["x" * 100])[0].text == "X" * 100
    error = failure(client.translate, ["x" * 6_000])
    assert error.code == "RESOURCE_EXHAUSTED" and len(model.calls) == 2
    assert "`max_message_bytes` (now 5000)" in str(error)


def test_answers_beyond_the_default_of_grpc(model, connect):
    assert len(connect().translate(["x" * 5_000_000])[0].text) == 5_000_000


def test_a_request_that_is_too_big_for_the_server(model):
    with fake_server.serving(model, max_message_bytes=1_000) as addresses:
        with TranslationClient(addresses["grpc"], "en-de") as client:
            error = failure(client.translate, ["x" * 2_000])
    assert "a message is too big" in str(error) and error.is_too_big


def test_the_deadline(model, connect):
    model.slow(10.0)
    began = time.monotonic()
    error = failure(connect(deadline_seconds=0.2).translate, ["x"])
    assert time.monotonic() - began < 5.0
    assert error.code == "DEADLINE_EXCEEDED" and len(model.calls) == 1
    assert "within the deadline, 0.2 s" in str(error)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"translation": Tensor(STRING, [b"x"], [1])}, "it has no output"),
        ({"score": Tensor(FLOAT, [0.0, 1.0], [2])}, "has shape (2,), not 1 rows"),
        ({"score": Tensor(FLOAT, [0.0, 1.0], [1, 2])}, "score has shape (1, 2)"),
        ({"translation": Tensor(STRING, [b"\xff"], [1])}, "holds no UTF-8"),
    ],
)
def test_an_answer_that_is_none(model, connect, outputs, words):
    whole = fake_server.echo(None, {"text": Tensor(STRING, [b"x"], [1])}, 1)
    if words != "it has no output":
        outputs = {**whole, **outputs}
    model.answer = lambda *_: {"extra": Tensor(FLOAT, [0.0], [1]), **outputs}
    error = failure(connect().translate, ["x"])
    assert "is not what signature 'serving_default' gives" in str(error)
    # A reader of JSON says another thing of broken UTF-8.
    assert words in str(error) or "utf-8" in str(error)


def test_a_closed_client_asks_nothing(model, connect):
    client = connect(retries=5)
    model.failing(None, "UNAVAILABLE", "full")
    threading.Timer(0.3, client.close).start()
    began = time.monotonic()
    assert failure(client.translate, ["x"]).code == "CANCELLED"
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"protocol": "soap"}, "`protocol` must be one of grpc, rest"),
        ({"address": "http://host:8500"}, '`address` must be "host:port" with'),
        ({"address": ""}, "`address` must be"),
        ({"address": "localhost:"}, "`address` must be"),
        ({"address": "localhost"}, '`address` must be "host:port" with'),
        ({"address": "localhost:99999"}, "`address` must be"),
        ({"address": "localhost:85x"}, "`address` must be"),
        ({"model": ""}, "`model` must be the name of a model"),
        ({"version": 0}, "`version` must be an integer"),
        ({"deadline_seconds": 0}, "`deadline_seconds` must be a finite number above"),
        ({"retries": -1}, "`retries` must be an integer"),
        ({"max_message_bytes": 0}, "`max_message_bytes` must be an integer"),
    ],
)
def test_wrong_options(options, words):
    values = {"address": "localhost:8500", "model": "en-de", **options}
    with pytest.raises(ValueError, match=words):
        TranslationClient(**values)


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"beams": 3}, "takes num_hypotheses.*Received: beams"),
        ({"beam_size": 2.5}, "`beam_size` must hold int32"),
        ({"beam_size": 2**32 + 4}, "`beam_size` must fit into int32. Received: 42949"),
        ({"num_hypotheses": [2**31]}, "`num_hypotheses` must fit into int32"),
        ({"beam_size": [1, 2]}, r"one for each of 1 texts. Received: shape \(2,\)"),
        ({"length_penalty_alpha": "x"}, "`length_penalty_alpha` must hold float32"),
    ],
)
def test_wrong_searches(connect, search, words):
    with pytest.raises(ValueError, match=words):
        connect().nbest(["x"], **search)


def test_wrong_texts(connect):
    with pytest.raises(ValueError, match="`texts` must be a list of texts"):
        connect().translate("x")
    with pytest.raises(ValueError, match="`targets` must hold one text for each"):
        connect().score(["x"], [])


@pytest.mark.parametrize(
    ("protocol", "package"), [("grpc", "tensorflow_serving"), ("rest", "requests")]
)
def test_a_missing_extra(monkeypatch, protocol, package):
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=r"pip install 'keras-attention\[client\]'"):
        TranslationClient("localhost:1", "en-de", protocol=protocol)


def test_rest_needs_no_package_of_grpc(running, model, monkeypatch):
    for package in ("grpc", "tensorflow_serving"):
        monkeypatch.setitem(sys.modules, package, None)
    with TranslationClient(running[1]["rest"], "en-de", protocol="rest") as client:
        assert client.translate(["x"])[0].text == "X"


def test_rest_takes_a_url(running, model):
    url = f"http://{running[1]['rest']}/"
    with TranslationClient(url, "en-de", protocol="rest") as client:
        assert client.translate(["x"])[0].text == "X"
    with TranslationClient("ftp://x", "en-de", protocol="rest") as client:
        error = failure(client.translate, ["x"])
    assert error.exit_code == 2
