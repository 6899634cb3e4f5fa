"""The REST rules of the test server, as json_tensor.cc has them."""

import json
import types

import pytest

from tests.serving.failures import Failure
from tests.serving.json_tensor import read_request, write_answer
from tests.serving.tensors import BOOL, FLOAT, INT32, STRING, Tensor

ONE = {"text": types.SimpleNamespace(dtype=STRING)}
TWO = {**ONE, "size": types.SimpleNamespace(dtype=INT32)}


def read(document, infos=ONE):
    return read_request(json.dumps(document).encode(), lambda _: infos)


def test_rows_and_columns_give_the_same_tensors():
    rows = {"instances": [{"text": "a", "size": 1}, {"text": "b", "size": 2}]}
    columns = {"inputs": {"text": ["a", "b"], "size": [1, 2]}}
    expected = {
        "text": Tensor(STRING, [b"a", b"b"], [2]),
        "size": Tensor(INT32, [1, 2], [2]),
    }
    assert read(rows, TWO) == ("serving_default", expected, True)
    assert read(columns, TWO) == ("serving_default", expected, False)


def test_one_input_needs_no_name():
    expected = {"text": Tensor(STRING, [b"a", b"\xff"], [2])}
    for key in ("inputs", "instances"):
        assert read({key: ["a", {"b64": "/w=="}]})[1] == expected
    assert read({"inputs": {"b64": "/w=="}})[1]["text"] == Tensor(STRING, [b"\xff"], [])


@pytest.mark.parametrize(
    ("document", "infos", "words"),
    [
        ({"inputs": [], "instances": []}, ONE, "expecting only one"),
        ({"instances": []}, ONE, "No values in 'instances'"),
        ({"instances": ["a"]}, TWO, "expecting list of objects"),
        ({"instances": [{"text": "a"}]}, TWO, "keys must be equal to: size,text"),
        ({"instances": [{"x": "a"}]}, ONE, "does not have named input: x"),
        ({"instances": ["a", {"text": "b"}]}, ONE, "but got object at item 1"),
        ({"inputs": ["a"]}, TWO, "expecting an object as multiple"),
        ({"inputs": {"text": "a"}}, TWO, "Missing named input: size"),
        ({"inputs": [["a", "b"], ["c"]]}, ONE, "unexpected size: 1 at level: 1"),
        ({"inputs": [1.5]}, ONE, "not of expected type: string"),
        ({"inputs": {"text": ["a"], "size": [1.0]}}, TWO, "expected type: int32"),
        ({"inputs": {"text": ["a"], "size": [2**31]}}, TWO, "expected type: int32"),
        ({"inputs": [{"b64": "?"}]}, ONE, "Unable to base64 decode"),
        ({"signature_name": 1}, ONE, "must be a string"),
    ],
)
def test_what_is_refused(document, infos, words):
    with pytest.raises(Failure, match=words):
        read(document, infos)


def test_one_output_loses_its_name():
    one = {"score": Tensor(FLOAT, [0.5, 2.0], [2])}
    assert json.loads(write_answer(one, True)) == {"predictions": [0.5, 2.0]}
    assert json.loads(write_answer(one, False)) == {"outputs": [0.5, 2.0]}


def test_rows_ask_for_outputs_of_one_length():
    two = {"a": Tensor(BOOL, [True, False], [2]), "b": Tensor(FLOAT, [0.5], [1])}
    with pytest.raises(Failure, match="b has inconsistent batch size: 1 expecting: 2"):
        write_answer(two, True)
    assert json.loads(write_answer(two, False))["outputs"]["b"] == [0.5]
    with pytest.raises(Failure, match="has no shape information"):
        write_answer({"a": Tensor(FLOAT, [0.5], [])}, True)


def test_how_values_are_spelled():
    values = [0.2, 1.0, 0.3333333432674408, float("-inf"), 3.4028234663852886e38]
    text = write_answer({"x": Tensor(FLOAT, values, [5])}, False).decode()
    assert text == '{"outputs": [0.2, 1.0, 0.333333343, -Infinity, 3.40282347e+38]}'
    texts = Tensor(STRING, ["\u00e9".encode(), b"\xff"], [2])
    assert b"\xff" in write_answer({"x": texts}, False)
    encoded = json.loads(write_answer({"x_bytes": texts}, False))
    assert encoded == {"outputs": [{"b64": "w6k="}, {"b64": "/w=="}]}
