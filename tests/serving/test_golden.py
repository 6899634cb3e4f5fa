"""Every signature over every way of asking says what the `Translator` says."""

import base64
import json
import urllib.error
import urllib.request

import numpy as np
import pytest

from keras_attention.export.client import TranslationClient
from tests.serving.conftest import TEXTS

WAYS = ["grpc", "rest client", "rows", "columns", "b64"]
ROUNDING = 1e-5


class Asker:
    """Requests written out, as another program would send them."""

    def __init__(self, address, way):
        self._url, self._way = f"http://{address}/v1/models/model:predict", way

    def __call__(self, signature, **inputs):
        """Returns {name: nested lists}; texts as str."""
        columns = {
            name: [self._spelled(x) for x in values.tolist()]
            for name, values in inputs.items()
        }
        body = {"signature_name": signature}
        if self._way == "columns":
            return post(self._url, {**body, "inputs": columns})["outputs"]
        rows = [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
        found = post(self._url, {**body, "instances": rows})["predictions"]
        return {name: [row[name] for row in found] for name in found[0]}

    def _spelled(self, value):
        if not isinstance(value, bytes):
            return value
        if self._way == "b64":
            return {"b64": base64.b64encode(value).decode()}
        return value.decode()


def post(url, body):
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=60) as said:
        return json.load(said)


@pytest.fixture(params=WAYS)
def ask(request, server):
    """(signature, **arrays) -> {name: array}, by one of the ways."""
    way = request.param
    if way in ("grpc", "rest client"):
        protocol = way.split()[0]
        address = getattr(server, protocol)
        with TranslationClient(address, "model", protocol=protocol) as client:
            yield lambda *args, **inputs: decoded(client.predict(*args, **inputs))
    else:
        asker = Asker(server.rest, way)
        yield lambda *args, **inputs: decoded(asker(*args, **inputs))


def decoded(outputs):
    def plain(value):
        if isinstance(value, list):
            return [plain(x) for x in value]
        return value.decode() if isinstance(value, bytes) else value

    return {
        name: plain(x.tolist() if isinstance(x, np.ndarray) else x)
        for name, x in outputs.items()
    }


def strings(texts):
    array = np.empty(len(texts), object)
    array[:] = [text.encode() for text in texts]
    return array


def column(rows, value, kind=np.int32):
    return np.full(rows, value, kind)


def test_the_server_has_no_python_tensorflow_model_code(server):
    assert server.foreign == []


def test_serving_default(ask, translator):
    expected = translator.translate(TEXTS)
    found = ask("serving_default", text=strings(TEXTS))
    assert found["translation"] == [x.text for x in expected]
    assert found["score"] == pytest.approx([x.score for x in expected], abs=ROUNDING)
    assert found["truncated"] == [x.truncated for x in expected]
    assert len(set(found["translation"])) > 3 and any(found["truncated"])


def test_nbest(ask, translator):
    texts, rows = TEXTS, len(TEXTS)
    search = {"beam_size": 3, "num_hypotheses": 3, "max_extra_length": 2}
    expected = translator.translate(texts, length_penalty_alpha=1.0, **search)
    found = ask(
        "nbest",
        text=strings(texts),
        length_penalty_alpha=column(rows, 1.0, np.float32),
        **{name: column(rows, value) for name, value in search.items()},
    )
    for row, translation in enumerate(expected):
        count = len(translation.hypotheses)
        said = [x.text for x in translation.hypotheses]
        assert found["translations"][row] == said + [""] * (3 - count)
        scores = [x.score for x in translation.hypotheses]
        assert found["scores"][row][:count] == pytest.approx(scores, abs=ROUNDING)
        lengths = [x.length for x in translation.hypotheses]
        assert found["lengths"][row][:count] == lengths
    assert found["adjusted"] == [False] * rows
    assert found["truncated"] == [x.truncated for x in expected]


def test_score(ask, translator):
    sources = TEXTS
    targets = [*sources[1:6], "to be", "", "that", "is", "be"]  # none is cut
    expected = translator.score(sources, targets)
    found = ask("score", source=strings(sources), target=strings(targets))
    assert found["log_probability"] == pytest.approx(expected, abs=1e-4)
    pieces = translator.tokenizer.tokenize(targets).row_lengths().numpy() + 1
    assert found["tokens"] == pieces.tolist()
    assert found["truncated"] == [text == sources[8] for text in sources]


def test_explain(ask, translator):
    texts = TEXTS
    expected = translator.translate(
        texts, return_attention_weights=True, return_token_log_probs=True
    )
    found = ask("explain", text=strings(texts))
    pieces = translator.tokenizer.pieces
    for row, translation in enumerate(expected):
        best, length = translation.hypotheses[0], found["output_lengths"][row]
        assert found["translation"][row] == best.text
        assert length == best.length
        said = found["output_pieces"][row]
        assert said[:length] == [pieces[piece] for piece in best.ids]
        log_probs = found["token_log_probabilities"][row][:length]
        assert log_probs == pytest.approx(best.token_log_probs or (), abs=1e-4)
        source = found["lengths"][row]
        weights = np.asarray(found["alignment"][row])[:length, :source]
        if length:
            np.testing.assert_allclose(weights, best.attention_weights, atol=1e-5)


def test_encode(ask, translator):
    texts = TEXTS
    source_ids, _ = translator.encode(strings(texts).tolist())
    expected = np.asarray(translator.model.encode(source_ids))
    found = ask("encode", text=strings(texts))
    for row, length in enumerate(found["lengths"]):
        memory = np.asarray(found["memory"][row])[:length]
        np.testing.assert_allclose(memory, expected[row, :length], atol=1e-5)


def test_translate_ids(ask, translator):
    texts = TEXTS[:6]
    ragged = translator.tokenizer.tokenize(texts)
    lengths = np.asarray(ragged.row_lengths(), np.int32)
    found = ask("translate_ids", ids=ragged.to_tensor(-7).numpy(), lengths=lengths)
    for row, translation in enumerate(translator.translate(texts)):
        best = translation.hypotheses[0]
        assert found["ids"][row][: found["lengths"][row]] == list(best.ids)
        assert found["scores"][row] == pytest.approx(best.score, abs=ROUNDING)


def refused(url, body):
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(url, body)
    with caught.value as answer:
        return answer.code, json.load(answer)["error"]


def test_malformed_requests(server):
    base = f"http://{server.rest}/v1/models/"
    cases = [
        ("model:predict", [], 400, "Is not object"),
        ("model:predict", {}, 400, "Missing 'inputs' or 'instances'"),
        ("model:predict", {"inputs": [1]}, 400, "not of expected type: string"),
        ("model:predict", {"instances": ["a", ["b"]]}, 400, "Expecting shape"),
        ("model:predict", {"inputs": {"words": ["a"]}}, 400, "Missing named input"),
        ("model:predict", {"inputs": [], "signature_name": "x"}, 400, "not found"),
        ("other:predict", {"inputs": ["a"]}, 404, "Servable not found"),
        ("model/versions/9:predict", {"inputs": ["a"]}, 404, "Servable not found"),
        ("model:classify", {"examples": []}, 400, "Malformed request"),
    ]
    for path, body, code, words in cases:
        found, error = refused(base + path, body)
        assert (found, words in error) == (code, True), (path, body, error)
