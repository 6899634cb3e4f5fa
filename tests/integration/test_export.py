"""From a workdir to a moved SavedModel, run without this package and without Python.

The run is deleted before anything is loaded, and three engines must say the same:
the `Translator`, TensorFlow's Python loader in a process that imports nothing but
tensorflow and tensorflow_text, and the C++ loader that TensorFlow Serving uses.
"""

import json
import re
import shutil
import subprocess
import sys
import types

import keras
import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.translator import Translator
from keras_attention.export import engine, export_saved_model
from keras_attention.models.build import build_transformer

SIZES = {"bpe": 100, "unigram": 44, "wordpiece": 76}
KINDS = tuple(SIZES)
pytestmark = pytest.mark.slow
SUBJECTS = ["the dog", "a child", "der Hund", "ein kleines Kind", "my neighbour"]
VERBS = ["runs", "sleeps", "sees the cat", "l\u00e4uft", "spielt im Garten"]
ENDS = [".", " today.", "!"]
SENTENCES = [f"{s} {v}{e}" for s in SUBJECTS for v in VERBS for e in ENDS]
EDGES = ["", "   ", "\u4e2d\U0001f642", "[END] [PAD]", "x" * 900, "so long " * 40]
BROKEN = [b"\xff\xfe\x80", b"\x00", b"caf\xe9", b"\xed\xa0\x80"]
LOADER = """
import sys, json, tensorflow as tf, tensorflow_text
assert not any(name.startswith("keras_attention") for name in sys.modules)
run = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
for texts in json.load(sys.stdin):
    texts = tf.constant([text.encode("latin-1") for text in texts], tf.string)
    answer = {k: v.numpy().tolist() for k, v in run(text=texts).items()}
    answer["translation"] = [x.decode("latin-1") for x in answer["translation"]]
    print(json.dumps(answer))
"""


def make_workdir(folder, kind):
    """A run as training leaves it, with weights drawn so that beams disagree."""
    size = SIZES[kind]
    keras.utils.set_random_seed(7)
    tokenizer = SubwordTokenizer.learn_from_lines(SENTENCES, size, kind)
    tokenizer.save(folder / "tokenizer")
    config = TransformerConfig(
        size, num_layers=2, model_dim=32, num_heads=4, feed_forward_dim=64
    )
    model = build_transformer(config)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)
    model.save(folder / "model.keras")
    decoding = DecodingConfig(max_extra_length=5, max_source_length=50)
    values = {"transformer": config.to_dict(), "decoding": decoding.to_dict()}
    (folder / "config.json").write_text(json.dumps(values))


@pytest.fixture(scope="module", params=KINDS)
def exported(request, tmp_path_factory):
    """A moved version, what the translator said, and the folder that is gone."""
    base = tmp_path_factory.mktemp(request.param)
    workdir = base / "workdir"
    workdir.mkdir()
    make_workdir(workdir, request.param)
    translator = Translator.load(workdir)
    texts = [*SENTENCES[:50], *EDGES, *BROKEN]
    expected = translator.translate(texts)
    version = export_saved_model(translator, base / "models")
    leaks = [
        path.name
        for path in version.rglob("*")
        if path.is_file() and str(base).encode() in path.read_bytes()
    ]
    shutil.rmtree(workdir)
    (base / "served").mkdir()
    moved = (base / "models" / version.name).rename(base / "served" / version.name)
    return types.SimpleNamespace(
        version=moved,
        texts=[x if isinstance(x, bytes) else x.encode() for x in texts],
        expected=expected,
        leaks=leaks,
        weights=4 * translator.model.count_params(),
    )


def run_process(arguments, requests):
    """Runs a program outside the checkout; requests in, its standard output back."""
    spelled = [[text.decode("latin-1") for text in texts] for texts in requests]
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=json.dumps(spelled),
        capture_output=True,
        text=True,
        cwd="/",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def run_in_python(version, requests):
    output = run_process(["-I", "-c", LOADER, version], requests)
    return [json.loads(line) for line in output.splitlines()]


def refused_requests():
    """What the C++ engine itself would take: other ranks, columns of other lengths."""

    def column(values, *shape):
        return {"values": values, "shape": list(shape or [len(values)])}

    two = column(["a", "b"])
    asked = {
        "beam_size": column([2, 2]),
        "length_penalty_alpha": column([0.6, 0.6]),
        "max_extra_length": column([2, 2]),
        "num_hypotheses": column([1, 1]),
    }
    return [
        ("serving_default", {"text": column(["a", "b"], 2, 1)}),
        ("serving_default", {"text": {"values": ["a"], "shape": []}}),
        ("encode", {"text": column(["a"], 1, 1)}),
        ("explain", {"text": column(["a"], 1, 1)}),
        ("score", {"source": two, "target": column(["a"])}),
        ("score", {"source": column(["a"]), "target": two}),
        ("translate_ids", {"ids": column([5] * 4, 2, 2), "lengths": column([2])}),
        ("translate_ids", {"ids": column([5] * 4), "lengths": column([2])}),
        ("nbest", {"text": column(["a"]), **asked}),
        ("nbest", {"text": two, **asked, "beam_size": column([2])}),
        ("nbest", {"text": two, **asked, "num_hypotheses": column([1, 1], 2, 1)}),
    ]


def run_in_c(version, requests, others=()):
    spelled = [[text.decode("latin-1") for text in texts] for texts in requests]
    asked = [
        {"signature": "serving_default", "inputs": {"text": texts}} for texts in spelled
    ]
    asked += [{"signature": key, "inputs": inputs} for key, inputs in others]
    return engine.answers(version, asked)


def check_equal(outputs, exported):
    texts = [x.encode("latin-1").decode("utf-8") for x in outputs["translation"]]
    assert texts == [x.text for x in exported.expected]
    assert outputs["score"] == pytest.approx(
        [x.score for x in exported.expected], abs=1e-5
    )
    assert outputs["truncated"] == [x.truncated for x in exported.expected]


def edge_requests(exported):
    """[], [""], ["", s], ["   "], and s alone."""
    sentence = exported.texts[0]
    return [[], [b""], [b"", sentence], [b"   "], [sentence]]


def check_edges(answers, exported):
    empty, blank, mixed, spaces, alone = answers
    assert empty == {"translation": [], "score": [], "truncated": []}
    for answer in (blank, spaces):
        assert answer == {"translation": [""], "score": [0.0], "truncated": [False]}
    assert mixed["translation"] == ["", alone["translation"][0]]
    assert mixed["score"] == pytest.approx([0.0, alone["score"][0]], abs=1e-5)
    assert alone["translation"][0].encode("latin-1").decode() == (
        exported.expected[0].text
    )


def test_the_translations_are_worth_comparing(exported):
    said = {x.text for x in exported.expected}
    assert len(said) > 20
    assert any(x.truncated for x in exported.expected)


def test_the_version_holds_the_weights_once_and_no_path(exported):
    stored = sum(x.stat().st_size for x in exported.version.glob("variables/*.data*"))
    # The map of the objects lies there too, and counts beside so small a model.
    objects = 8_000
    assert exported.weights <= stored <= 1.02 * exported.weights + objects
    assert exported.leaks == []
    assert re.fullmatch("[0-9]+", exported.version.name)


def test_nothing_is_traced_after_the_export(exported):
    loaded = tf.saved_model.load(str(exported.version))
    run = loaded.signatures["serving_default"]
    graphs = run.graph
    for texts in edge_requests(exported):
        run(text=tf.constant(texts, tf.string))
    assert run.graph is graphs
    assert isinstance(run, tf.types.experimental.ConcreteFunction)


def test_python_without_this_package_says_the_same(exported):
    requests = [exported.texts, *edge_requests(exported)]
    answers = run_in_python(exported.version, requests)
    check_equal(answers[0], exported)
    check_edges(answers[1:], exported)


def test_the_cpp_loader_says_the_same(exported):
    requests = [exported.texts, *edge_requests(exported)]
    found = run_in_c(exported.version, requests, refused_requests())
    assert "load_error" not in found
    assert found["modules"] == []  # neither tensorflow nor keras was imported
    refused = found["answers"][len(requests) :]
    assert [answer.get("code") for answer in refused] == [3] * len(refused_requests())
    answered = found["answers"][: len(requests)]
    errors = [answer["error"] for answer in answered if "error" in answer]
    assert errors == []
    outputs = [answer["outputs"] for answer in answered]
    answers = [{name: x["values"] for name, x in each.items()} for each in outputs]
    check_equal(answers[0], exported)
    check_edges(answers[1:], exported)
    for each, texts in zip(outputs, requests, strict=True):
        assert [x["shape"] for x in each.values()] == [[len(texts)]] * len(each)


def save_as_is_obvious(folder):
    """A `tf.Module` that holds a Keras model, whose variables nothing restores."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    module = tf.Module()
    module.model = model

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def run(text):
        lengths = tf.cast(tf.strings.length(text), tf.float32)
        return {"score": model(lengths[:, None])[:, 0]}

    tf.saved_model.save(module, str(folder), signatures=run)
    return run


def test_the_cpp_loader_shows_what_the_guard_is_for(tmp_path):
    run = save_as_is_obvious(tmp_path)
    assert run_in_python_here(tmp_path, [b"a"]) == run(tf.constant(["a"]))["score"]
    found = run_in_c(tmp_path, [[b"a"]])
    assert "Could not find variable sequential" in found["answers"][0]["error"]


def run_in_python_here(version, texts):
    loaded = tf.saved_model.load(str(version))
    return loaded.signatures["serving_default"](text=tf.constant(texts))["score"]
