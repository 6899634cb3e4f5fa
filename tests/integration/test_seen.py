"""What TensorBoard is given of a run: every tag, its plugin and its steps."""

import collections
import json
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins.hparams.metadata import SESSION_END_INFO_TAG

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.training.progress import read_metrics
from keras_attention.training.tensorboard import scalar_tag
from tests.integration.small_runs import event_files, small_run

pytestmark = pytest.mark.slow
LOGGED, VALIDATED = [3, 6, 9, 12], [4, 8, 12]
MODEL = ("loss", "nll", "perplexity", "token_accuracy")
TRAIN = (*MODEL, "learning_rate", "gradient_norm", "epoch")
SYSTEM = (
    "source_tokens_per_second",
    "target_tokens_per_second",
    "real_token_share",
    "memory_gib",
    "peak_memory_gib",
    "minutes",
)
TRANSLATED = ("bleu", "chrf", "bleu_sentences")
KINDS = ("encoder_self", "decoder_self", "encoder_decoder")
HPARAMS = ("experiment", "session_start_info", "session_end_info")
EXPECTED = {
    **{f"train/{name}": ("scalars", LOGGED) for name in TRAIN},
    **{f"system/{name}": ("scalars", LOGGED) for name in SYSTEM},
    **{f"validation/{n}": ("scalars", [0, *VALIDATED]) for n in (*MODEL, "minutes")},
    **{f"validation/{name}": ("scalars", VALIDATED) for name in TRANSLATED},
    "validation/log_vocabulary_size": ("scalars", [0]),
    **{f"final/{n}": ("scalars", [14]) for n in (*MODEL, *TRANSLATED, "minutes")},
    "validation/samples": ("text", VALIDATED),
    "final/samples": ("text", [14]),
    **{f"attention_{kind}/block_1": ("images", VALIDATED) for kind in KINDS},
    **{f"_hparams_/{name}": ("hparams", [0]) for name in HPARAMS},
}


class Killed(Exception):
    """Ends a process without a last checkpoint, as a kill would."""


class Kill(keras.callbacks.Callback):
    def __init__(self, updates):
        super().__init__()
        self.left = updates

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left < 0:
            raise Killed


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """A run killed after update 11, past its checkpoint of 8, that then went on."""
    workdir = tmp_path_factory.mktemp("resumed")
    with pytest.raises(Killed):
        small_run(workdir, callbacks=[Kill(11)])
    assert steps(workdir)["train/nll"] == [3, 6, 9], "there is something to take out"
    small_run(workdir, histograms=True)
    return workdir


def read_events(workdir):
    for path in event_files(workdir / "tensorboard"):
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            yield tf.compat.v1.Event.FromString(record)


def read_values(workdir):
    for event in read_events(workdir):
        for value in event.summary.value:
            yield event.step, value


def steps(workdir):
    found = collections.defaultdict(list)
    for step, value in read_values(workdir):
        found[value.tag].append(step)
    return found


def test_every_tag_is_there_with_its_plugin_and_no_step_twice_or_left_out(resumed):
    plugins = {
        value.tag: value.metadata.plugin_data.plugin_name
        for _, value in read_values(resumed)
    }
    found = {tag: (plugins[tag], at) for tag, at in steps(resumed).items()}
    weights = {tag: what for tag, what in found.items() if tag.startswith("weights_")}
    assert {k: v for k, v in found.items() if k not in weights} == EXPECTED
    model = keras.saving.load_model(resumed / "model.keras")
    assert weights == {  # the flag was given when the run went on
        f"weights_{v.path}": ("histograms", [12]) for v in model.trainable_variables
    }


def test_the_log_for_programs_holds_the_same_scalars(resumed):
    logged = {}
    for record in read_metrics(resumed / "metrics.jsonl"):
        if record["kind"] in ("average", "end"):
            continue
        for name, value in record.items():
            if name not in ("kind", "step") and not isinstance(value, str):
                logged[scalar_tag(record["kind"], name), record["step"]] = value
    shown = {
        (value.tag, step): tf.make_ndarray(value.tensor).item()
        for step, value in read_values(resumed)
        if value.metadata.plugin_data.plugin_name == "scalars"
    }
    assert shown.keys() == logged.keys()
    for key, value in shown.items():
        assert value == pytest.approx(logged[key], rel=1e-6), key


def test_figures_are_those_of_this_run(resumed):
    record = [r for r in read_metrics(resumed / "metrics.jsonl") if "memory_gib" in r]
    assert len(record) == len(LOGGED)
    for r in record:
        assert 0.05 < r["memory_gib"] <= r["peak_memory_gib"] < 64
        assert 0 < r["gradient_norm"] < 100
        assert r["nll"] < r["loss"] + 1 and 0 <= r["token_accuracy"] <= 1
    assert len({r["gradient_norm"] for r in record}) == len(record)


def test_samples_are_the_same_sentences_each_time(resumed):
    tables = [
        tf.make_ndarray(value.tensor)
        for _, value in read_values(resumed)
        if value.tag == "validation/samples"
    ]
    assert [table.shape for table in tables] == [(7, 3)] * 3  # all six, and a head
    for table in tables:
        assert np.array_equal(table[:, :2], tables[0][:, :2])


def test_pictures_can_be_opened(resumed):
    for _, value in read_values(resumed):
        if value.metadata.plugin_data.plugin_name == "images":
            width, height, png = tf.make_ndarray(value.tensor)
            shape = tf.io.decode_png(png).shape
            assert (int(height), int(width)) == tuple(shape[:2])


def test_the_graph_is_written_once_and_names_the_blocks(resumed):
    graphs = [e.graph_def for e in read_events(resumed) if e.graph_def]
    (graph,) = map(tf.compat.v1.GraphDef.FromString, graphs)
    names = [node.name for node in graph.node]
    assert {"source_ids", "target_ids"} <= set(names)
    for part in ("encoder_block_0", "decoder_block_0", "token_embedding"):
        assert any(f"/{part}" in name for name in names), part


def test_the_projector_shows_the_last_embedding_with_its_pieces(resumed):
    directory = resumed / "tensorboard"
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(directory)))
    model = keras.saving.load_model(resumed / "model.keras")
    matrix = model.get_layer("token_embedding").embeddings.numpy()
    assert np.array_equal(reader.get_tensor("token_embedding"), matrix)
    pieces = SubwordTokenizer.load(resumed / "tokenizer").pieces
    assert (directory / "pieces.tsv").read_text().split("\n")[:-1] == pieces
    assert {path.stem for path in directory.glob("embeddings-*")} == {"embeddings-14"}


def test_no_profile_without_the_flag(resumed):
    assert not (resumed / "tensorboard" / "plugins").exists()


def test_a_finished_run_asked_again_tells_its_end_once(resumed):
    small_run(resumed)
    found = steps(resumed)
    assert found["final/nll"] == [14] and found["train/nll"] == LOGGED
    assert found[SESSION_END_INFO_TAG] == [0]


def test_the_profiler_records_a_few_updates(tmp_path):
    small_run(tmp_path, profile_steps=2, max_steps=8)
    (found,) = (tmp_path / "tensorboard").glob("plugins/profile/*/*.xplane.pb")
    content = found.read_bytes()
    assert b"update" in content and b"step_num" in content


@pytest.fixture
def server(resumed):
    """A real TensorBoard over the run: function of a path -> what it answers."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", resumed]
    process = subprocess.Popen(
        [*command, "--port", "0", "--load_fast", "false"],
        stderr=subprocess.PIPE,
        text=True,
    )
    timer = threading.Timer(120, process.kill)
    timer.start()
    said = []
    for line in process.stderr:
        said.append(line)
        if " at http://" in line:
            break
    else:
        raise AssertionError("".join(said))
    address = line.split(" at ")[1].split()[0]

    def ask(path, **form):
        data = json.dumps(form).encode() if form else None
        where, kind = urllib.parse.urljoin(address, path), "application/json"
        request = urllib.request.Request(where, data, {"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    yield ask
    timer.cancel()
    process.kill()
    process.communicate()


def test_a_real_tensorboard_shows_it(server):
    deadline = 60
    run = "tensorboard"
    while run not in json.loads(server("data/plugin/text/tags")) and deadline:
        threading.Event().wait(1)
        deadline -= 1
    plugins = json.loads(server("data/plugins_listing"))
    names = "scalars images graphs histograms text hparams".split()
    assert [n for n in names if not plugins[n]["enabled"]] == []
    scalars = json.loads(server("data/plugin/scalars/tags"))[run]
    assert set(scalars) == {t for t, (kind, _) in EXPECTED.items() if kind == "scalars"}
    query = f"?run={run}&tag=train/nll"
    rows = json.loads(server(f"data/plugin/scalars/scalars{query}"))
    assert [row[1] for row in rows] == LOGGED
    images = json.loads(server("data/plugin/images/tags"))[run]
    assert set(images) == {f"attention_{kind}/block_1" for kind in KINDS}
    assert json.loads(server("data/plugin/graphs/info"))[run]["run_graph"]
    assert json.loads(server("data/plugin/projector/runs")) == [run]
    labels = server(f"data/plugin/projector/metadata?run={run}&name=token_embedding")
    assert labels.split(b"\n")[:4] == [b"[PAD]", b"[UNK]", b"[START]", b"[END]"]
    values = server(f"data/plugin/projector/tensor?run={run}&name=token_embedding")
    assert len(values) == 4 * 16 * len(labels.splitlines())
    assert_hparams(server)


def assert_hparams(server):
    wanted = {
        "experimentName": "",
        "allowedStatuses": ["STATUS_SUCCESS"],
        "startIndex": 0,
        "sliceSize": 10,
        "colParams": [{"metric": {"tag": "final/nll", "group": ""}}],
    }
    answer = json.loads(server("data/plugin/hparams/session_groups", **wanted))
    (group,) = answer["sessionGroups"]
    assert group["hparams"]["model_dim"] == 16
    assert group["hparams"]["preset"] == "tiny"
    (session,) = group["sessions"]
    assert session["status"] == "STATUS_SUCCESS"
    assert {m["name"]["tag"] for m in session["metricValues"]} >= {"final/nll"}
