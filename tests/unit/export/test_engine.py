"""The C++ engine in a child process: types and ranks, errors, deadlines, threads."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import tensorflow as tf

from keras_attention.export import engine

LONG = "long enough to lie on the heap: " * 40
# 16 threads against one session, and what the process holds before and after. It has
# nothing but the standard library, as the process of `answers` has.
SOAK = """
import concurrent.futures, importlib.util, json, sys

def memory():
    with open("/proc/self/status") as lines:
        return next(int(x.split()[1]) for x in lines if x.startswith("VmRSS"))

spec = importlib.util.spec_from_file_location("engine", sys.argv[1])
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
model = engine.SavedModel(engine.Engine(), sys.argv[2])

def ask(number):
    text, rows = b"%d " % number * 500, 1 + number % 3
    inputs = {
        "text": [text] * rows,
        "flag": [number % 2 == 0] * rows,
        "count": [number] * rows,
        "big": [number << 40] * rows,
        "matrix": ([number / 4] * 2 * rows, [rows, 2]),
    }
    found = model.run("all", inputs, 60_000)
    assert found["text"] == ([text + text] * rows, [rows]), found
    assert found["big"] == ([(number << 40) + 1] * rows, [rows]), found
    assert found["sums"] == ([number / 2] * rows, [rows]), found
    if number % 50 == 0:
        try:
            model.run("all", {})
        except engine.EngineError as error:
            assert error.code == 3, error

seen = []
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    for start in range(0, int(sys.argv[3]), 2_000):
        list(pool.map(ask, range(start, start + 2_000)))
        seen.append(memory())
model.close()
print(json.dumps(seen))
"""


class Everything(tf.Module):
    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="text"),
            tf.TensorSpec([None], tf.bool, name="flag"),
            tf.TensorSpec([None], tf.int32, name="count"),
            tf.TensorSpec([None], tf.int64, name="big"),
            tf.TensorSpec([None, None], tf.float32, name="matrix"),
        ]
    )
    def all(self, text, flag, count, big, matrix):
        return {
            "text": tf.strings.join([text, text]),
            "flag": ~flag,
            "count": count - 1,
            "big": big + 1,
            "cube": matrix[:, :, None] * [1.0, 2.0, 4.0],
            "sums": tf.reduce_sum(matrix, axis=1),
        }

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="turns")])
    def wait(self, turns):
        def step(turn, total):
            return turn + 1, total + tf.sin(tf.cast(turn, tf.float32))

        return {"y": tf.while_loop(lambda i, _: i < turns, step, [0, 0.0])[1]}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64, name="x")])
    def double(self, x):
        return {"y": x}


INPUTS = {
    "text": ["a", LONG],
    "flag": [True, False],
    "count": [-(2**31) + 1, 5],
    "big": [2**62, -1],
    "matrix": {"values": [0.5, 1.5, 2.0, 4.0], "shape": [2, 2]},
}
EMPTY = {name: [] for name in INPUTS} | {"matrix": {"values": [], "shape": [0, 7]}}
TURNS = {"values": [3], "shape": []}
FOREVER = {"values": [2**30], "shape": []}
REQUESTS = {
    "all": ("all", INPUTS, None),
    "empty": ("all", EMPTY, None),
    "bytes": ("all", INPUTS | {"text": ["", "\xff\x00"]}, None),
    "scalar": ("wait", {"turns": TURNS}, None),
    "late": ("wait", {"turns": FOREVER}, 200),
    "after": ("wait", {"turns": TURNS}, 60_000),
    "unknown": ("none", INPUTS, None),
    "missing": ("wait", {}, None),
    "other": ("wait", {"turn": TURNS}, None),
    "number": ("all", INPUTS | {"text": [1, 2]}, None),
    "shape": ("all", INPUTS | {"flag": {"values": [True], "shape": [2]}}, None),
    "rows": ("all", INPUTS | {"count": [1, 2, 3], "text": ["a"]}, None),
    "type": ("double", {"x": [1.0]}, None),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everything")
    module = Everything()
    signatures = {name: getattr(module, name) for name in ("all", "wait", "double")}
    tf.saved_model.save(module, str(folder), signatures=signatures)
    return folder


@pytest.fixture(scope="module")
def found(saved):
    requests = [
        {"signature": key, "inputs": inputs, "timeout_ms": timeout}
        for key, inputs, timeout in REQUESTS.values()
    ]
    result = engine.answers(saved, requests)
    return {**result, **dict(zip(REQUESTS, result["answers"], strict=True))}


def test_no_python_tensorflow_is_in_the_process(found):
    assert found["modules"] == []
    assert found["engine"] == tf.__version__


def test_signatures_are_those_of_the_artefact(found):
    inputs, outputs = found["signatures"]["all"]
    assert {name: shape for name, (_, _, shape) in inputs.items()} == {
        **dict.fromkeys(("text", "flag", "count", "big"), [-1]),
        "matrix": [-1, -1],
    }
    kinds = {name: tf.as_dtype(kind).name for name, (_, kind, _) in outputs.items()}
    assert kinds == {
        **{"text": "string", "flag": "bool", "count": "int32", "big": "int64"},
        **{"cube": "float32", "sums": "float32"},
    }
    assert found["signatures"]["wait"][0]["turns"][2] == []


def test_all_types_and_ranks_come_back(found):
    outputs = found["all"]["outputs"]
    assert {name: x["values"] for name, x in outputs.items() if name != "cube"} == {
        "text": ["aa", LONG * 2],
        "flag": [False, True],
        "count": [-(2**31), 4],
        "big": [2**62 + 1, 0],
        "sums": [2.0, 6.0],
    }
    assert outputs["cube"]["shape"] == [2, 2, 3]
    assert outputs["cube"]["values"][:6] == [0.5, 1.0, 2.0, 1.5, 3.0, 6.0]
    assert found["scalar"]["outputs"]["y"]["shape"] == []
    assert found["scalar"]["outputs"]["y"]["values"] == pytest.approx([1.750768])
    assert found["bytes"]["outputs"]["text"]["values"] == ["", "\xff\x00\xff\x00"]


def test_an_empty_batch_keeps_its_shape(found):
    outputs = found["empty"]["outputs"]
    assert {name: x["shape"] for name, x in outputs.items()} == {
        **dict.fromkeys(("text", "flag", "count", "big", "sums"), [0]),
        "cube": [0, 7, 3],
    }
    assert all(x["values"] == [] for x in outputs.values())


def test_a_deadline_ends_a_request_and_no_other(found):
    assert found["late"]["code"] == tf.errors.DEADLINE_EXCEEDED
    assert found["late"]["seconds"] < 5  # 0.2 s, on a machine that has time for it
    assert found["after"]["outputs"] == found["scalar"]["outputs"]


@pytest.mark.parametrize(
    "name, code, text",
    [
        ("unknown", 9, "no signature 'none' among all, double, wait"),
        ("missing", 3, r"'wait' takes \['turns'\], and received \[\]"),
        ("other", 3, r"'wait' takes \['turns'\], and received \['turn'\]"),
        ("number", 3, "strings are bytes"),
        ("shape", 3, "which are 1 values"),
        ("type", 12, "and not type 2"),
    ],
)
def test_what_the_engine_cannot_do_is_said(found, name, code, text):
    assert found[name]["code"] == code
    assert re.search(text, found[name]["error"])


def test_inputs_of_different_lengths_are_the_graph_s_own_affair(found):
    shapes = {name: x["shape"] for name, x in found["rows"]["outputs"].items()}
    assert (shapes["text"], shapes["count"], shapes["flag"]) == ([1], [3], [2])


def test_what_is_no_version_is_an_error_of_loading(tmp_path):
    found = engine.answers(tmp_path, [])
    assert found["code"] == 5
    assert "Could not find SavedModel" in found["load_error"]


def test_an_engine_that_is_not_there_is_said(saved, tmp_path):
    found = engine.answers(saved, [], [tmp_path])
    assert found["load_error"] == f"[5] no tensorflow in {tmp_path}"


def test_a_process_that_dies_is_an_error(saved, monkeypatch, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import sys; sys.exit('torn apart')")
    monkeypatch.setattr(engine, "__file__", str(broken))
    with pytest.raises(ValueError, match="Received: it ended with 1: torn apart. The"):
        engine.answers(saved, [])
    broken.write_text("import time; time.sleep(60)")
    with pytest.raises(ValueError, match="Received: it did not end in 1 s. The folder"):
        engine.answers(saved, [], timeout=1)


@pytest.mark.slow
def test_many_threads_get_their_own_answers_and_no_memory_is_lost(saved):
    done = subprocess.run(
        [sys.executable, "-I", "-c", SOAK, engine.__file__, str(saved), "20000"],
        capture_output=True,
        cwd="/",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    kibibytes = json.loads(done.stdout)
    assert len(kibibytes) == 10
    assert max(kibibytes[3:]) - kibibytes[2] < 6 * 1024  # 16 000 requests apart


def test_the_files_of_the_engine_import_the_standard_library_only():
    program = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('engine', sys.argv[1])\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names - sys.stdlib_module_names))\n"
    )
    path = pathlib.Path(engine.__file__)
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(path)],
        capture_output=True,
        check=True,
    )
    found = set(said.stdout.decode().strip("[]\n").replace("'", "").split(", "))
    assert found <= {"", "__main__"}
