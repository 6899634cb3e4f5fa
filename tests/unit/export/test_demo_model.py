"""What the page asks a version, on a small graph whose answers are known."""

import json
import math

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.export import checksums, demo_model
from keras_attention.export.demo_model import DemoModel

TOKENIZER = "t" * 64
LARGEST_BEAM, LONGEST = 5, 8  # of the graph below; the latter in characters
LOWEST = tf.float32.min
DECODING = {"beam_size": 3, "length_penalty_alpha": 0.5, "max_extra_length": 7}


class Graph(tf.Module):
    """Signatures as an export has them; `nbest` repeats what it was asked."""

    def __init__(self, explains=True):
        super().__init__()
        self.table = tf.Variable([1.0])
        text = tf.TensorSpec([None], tf.string, "text")
        numbers = {
            name: tf.TensorSpec([None], kind, name)
            for name, kind in (
                ("beam_size", tf.int32),
                ("num_hypotheses", tf.int32),
                ("max_extra_length", tf.int32),
                ("length_penalty_alpha", tf.float32),
            )
        }
        self.functions = {
            "nbest": tf.function(self.nbest).get_concrete_function(text, **numbers)
        }
        if explains:
            explain = tf.function(self.explain).get_concrete_function(text)
            self.functions["explain"] = explain

    def nbest(
        self, text, beam_size, num_hypotheses, max_extra_length, length_penalty_alpha
    ):
        beams = tf.clip_by_value(beam_size, 1, LARGEST_BEAM)
        slots = tf.clip_by_value(num_hypotheses, 1, beams)
        numbers = tf.range(tf.reduce_max(slots))[None]
        # A beam of 4 finds one hypothesis less than it was asked for.
        short = (beams == 4) & (slots > 1)
        missing = short[:, None] & (numbers == slots[:, None] - 1)
        parts = (
            *(text[:, None], "|", tf.as_string(beams)[:, None], "|"),
            *(tf.as_string(max_extra_length)[:, None], "|", tf.as_string(numbers)),
        )
        told = tf.strings.join([tf.broadcast_to(x, tf.shape(missing)) for x in parts])
        scores = -length_penalty_alpha[:, None] - tf.cast(numbers, tf.float32)
        lengths = 4 + 0 * numbers + 0 * slots[:, None]
        return {
            "translations": tf.where(missing, "", told),
            "scores": tf.where(missing, LOWEST, scores) * self.table,
            "lengths": tf.where(missing, 0, lengths),
            "truncated": tf.strings.length(text) > LONGEST,
            "adjusted": (beams != beam_size) | (slots != num_hypotheses),
        }

    def explain(self, text):
        # There is no row 9, which is an error of the engine.
        bad = tf.strings.regex_full_match(text, "refused")
        rows = tf.shape(text)[0]
        text = tf.gather(text, tf.range(rows) + tf.where(bad, 9, 0))
        return {
            "translation": tf.strings.join([text, "|3|7|0"]),
            "score": tf.fill([rows], -0.5) * self.table,
            "truncated": tf.strings.length(text) > LONGEST,
            "pieces": tf.tile([["a", "dog", ""]], [rows, 1]),
            "lengths": tf.fill([rows], 2),
            "output_pieces": tf.tile([["ein", "Hund", "[END]", ""]], [rows, 1]),
            "output_lengths": tf.fill([rows], 3),
            "alignment": tf.tile([[[0.75, 0.25, 0.0]] * 4], [rows, 1, 1]),
            "token_log_probabilities": tf.tile([[-1.0, -2.0, -3.0, 0.0]], [rows, 1]),
        }


def save(folder, explains=True, keep=lambda functions: functions):
    graph = Graph(explains)
    tf.saved_model.save(graph, str(folder), signatures=keep(graph.functions))
    write_manifest(folder)
    return folder


def write_manifest(folder, weights=None, **others):
    manifest = {
        "tokenizer": {"sha256": TOKENIZER},
        "weights": {"sha256": weights or checksums.weights_sha256(folder)},
        "files": checksums.files_sha256(folder),
        **others,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def any_tokenizer():
    """The graphs here have no subword model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(checksums._FOUND, "tokenizer", lambda *_: TOKENIZER)
        yield


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    folder = save(tmp_path_factory.mktemp("models") / "en-de" / "12")
    write_manifest(folder, decoding=DECODING)
    return folder


@pytest.fixture(scope="module")
def model(version):
    return DemoModel(version.parent)


def test_it_knows_the_version_it_loaded(model, version):
    assert model.version == version
    assert model.largest_beam == LARGEST_BEAM
    assert model.explains
    assert model.setting("beam_size") == 3
    assert model.setting("max_source_length") == 1_024  # the default where not told


def test_what_is_asked_reaches_the_graph(model):
    found = model.ask("Hunde", 5, 1.5, 2).hypotheses
    assert found.texts == ("Hunde|5|7|0", "Hunde|5|7|1")
    assert found.scores == (-1.5, -2.5)
    assert found.lengths == (4, 4)
    assert not found.truncated and not found.adjusted


def test_without_settings_those_of_the_export_are_used(model):
    answer = model.ask("Hunde")
    assert answer.hypotheses.texts == ("Hunde|3|7|0",)
    assert answer.hypotheses.scores == (-0.5,)
    assert answer.explains_the_best
    assert not model.ask("Hunde", 2).explains_the_best


def test_the_explanation_is_that_of_the_version_without_padding(model):
    explanation = model.ask("Hunde").explanation
    assert explanation.pieces == ("a", "dog")
    assert explanation.output_pieces == ("ein", "Hund", "[END]")
    np.testing.assert_array_equal(explanation.alignment, [[0.75, 0.25]] * 3)
    assert explanation.token_log_probabilities == (-1.0, -2.0, -3.0)


def test_slots_in_which_nothing_was_found_are_left_out(model):
    assert len(model.ask("Hunde", 4, 0.0, 4).hypotheses.texts) == 3


@pytest.mark.parametrize(
    "values", [(6, 0.6, 1), (0, 0.6, 1), (2, 0.6, 3), (1e12, 0, 1)]
)
def test_values_out_of_range_are_flagged(model, values):
    assert model.ask("Hunde", *values).hypotheses.adjusted


def test_a_long_text_is_flagged_as_truncated(model):
    assert model.ask("x" * demo_model.MOST_CHARACTERS).hypotheses.truncated


def test_half_a_character_is_replaced(model):
    assert model.ask("a\ud800").hypotheses.texts == ("a?|3|7|0",)


def test_seconds_are_those_of_each_request(model, monkeypatch):
    ticks = iter([10.0, 10.5, 20.0, 20.25])
    monkeypatch.setattr(demo_model.time, "perf_counter", lambda: next(ticks))
    answer = model.ask("Hunde")
    assert (answer.search_seconds, answer.explain_seconds) == (0.5, 0.25)
    assert answer.milliseconds_per_token == 125.0


@pytest.mark.parametrize("text", ["", " \n\t", None, 3])
def test_no_text_is_told(model, text):
    with pytest.raises(ValueError, match="Received: no text. Type one and press Enter"):
        model.ask(text)


def test_too_long_a_text_is_told(model):
    most = demo_model.MOST_CHARACTERS
    with pytest.raises(ValueError, match="at most 2,000 characters. Received: 2,001"):
        model.ask("x" * (most + 1))


@pytest.mark.parametrize("value", ["4", True, [1]])
def test_settings_are_numbers(model, value):
    with pytest.raises(ValueError, match="`beam_size` must be a number. Received: "):
        model.ask("Hunde", value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_settings_are_finite(model, value):
    with pytest.raises(ValueError, match="`length_penalty_alpha` must be finite"):
        model.ask("Hunde", 2, value)


def test_an_error_of_the_engine_is_one_line(model):
    with pytest.raises(ValueError, match="could not do it. Received: .*smaller beam"):
        model.ask("refused")


def test_a_version_without_explain_has_hypotheses_only(tmp_path):
    model = DemoModel(save(tmp_path / "1", explains=False))
    answer = model.ask("Hunde")
    assert not model.explains
    assert answer.explanation is None and answer.explain_seconds == 0.0
    assert not answer.explains_the_best
    assert answer.hypotheses.texts == ("Hunde|4|50|0",)  # the defaults: none are told


def test_a_version_without_nbest_is_refused(tmp_path):
    folder = save(tmp_path / "1", keep=lambda x: {"explain": x["explain"]})
    with pytest.raises(
        ValueError, match="signature `nbest`. Received: .* with explain"
    ):
        DemoModel(folder)


def test_operations_are_checked_before_anything_is_loaded(tmp_path):
    class Reader(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def read(self, text):
            return {"content": tf.map_fn(tf.io.read_file, text)}

    module = Reader()
    tf.saved_model.save(module, str(tmp_path / "1"), signatures={"nbest": module.read})
    with pytest.raises(ValueError, match="ReadFile"):
        DemoModel(tmp_path / "1")


def test_sums_are_checked_before_anything_is_loaded(version, tmp_path):
    folder = save(tmp_path / "1", explains=False)
    write_manifest(folder, weights="0" * 64)
    with pytest.raises(ValueError, match="weights of .* to have the sha256"):
        DemoModel(folder)


def test_the_newest_version_is_that_of_the_largest_number(tmp_path):
    for name in ("2", "10", "11.unfinished", ".unfinished-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"")
    (tmp_path / "12").mkdir()  # holds no model
    assert demo_model.newest_version(tmp_path) == tmp_path / "10"
    assert demo_model.newest_version(tmp_path / "2") == tmp_path / "2"


def test_a_folder_without_versions_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no saved_model.pb. Write one with"):
        demo_model.newest_version(tmp_path)
