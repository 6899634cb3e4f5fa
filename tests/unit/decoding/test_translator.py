"""Texts in, translations out: order, lines, limits and errors.

The model here copies its source, so what is right is known for every text.
"""

import itertools
import json
import shutil
import time
import types

import pytest
import tensorflow as tf

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding import texts as texts_module
from keras_attention.decoding.translation import Hypothesis
from keras_attention.decoding.translator import Translator
from keras_attention.models import build_transformer
from keras_attention.vocabulary import END_ID, PAD_ID

LINES = ["the dog runs", "a cat sleeps on the mat", "aa aa", "one", "two dogs run home"]


class CopyModel:
    """Says the source again, END included, with nearly all of the probability."""

    max_decoding_length = None

    def __init__(self, vocabulary_size, max_decoding_length=None):
        self.transformer_config = types.SimpleNamespace(vocabulary_size=vocabulary_size)
        self.max_decoding_length = max_decoding_length
        self.batches = []  # shapes of the traced graphs

    def decoding_weights(self):
        return None

    def decoding_context(self, source_ids, beam_size):
        self.batches.append(source_ids.shape)
        return {"source_ids": source_ids}

    def initial_state(self, rows, source_mask=None):
        return ()

    def decode_step(self, ids, step, state, context, weights, fixed_shapes):
        source_ids = context["source_ids"]
        step = tf.minimum(step, tf.shape(source_ids)[1] - 1)
        width = tf.shape(ids)[0] // tf.shape(source_ids)[0]
        said = tf.repeat(source_ids[:, step], width)
        return self._logits(said), state

    def __call__(self, inputs, training):
        length = tf.shape(inputs["target_ids"])[1]
        source_ids = tf.pad(inputs["source_ids"], [[0, 0], [0, length]])
        return self._logits(source_ids[:, :length])

    def _logits(self, ids):
        return 20.0 * tf.one_hot(ids, self.transformer_config.vocabulary_size)


@pytest.fixture(scope="module")
def tokenizer():
    return SubwordTokenizer.learn_from_lines(LINES, 30)


def copier(tokenizer, max_decoding_length=None, **decoding):
    model = CopyModel(tokenizer.vocabulary_size, max_decoding_length)
    return Translator(model, tokenizer, DecodingConfig(**decoding))


@pytest.fixture(scope="module")
def translator(tokenizer):
    return copier(tokenizer, beam_size=2, batch_tokens=40, max_source_length=20)


def test_the_order_of_the_texts_is_kept(translator):
    texts = [" ".join(x) for x in itertools.permutations(LINES[1].split()[:4])]
    texts[3:3] = LINES
    assert translator(texts) == texts
    assert [x.text for x in translator.translate(tuple(texts))] == texts
    assert translator([]) == []


def test_rich_results(translator, tokenizer):
    (result,) = translator.translate(["aa aa"], num_hypotheses=2)
    pieces = int(tokenizer.tokenize(["aa aa"]).row_lengths()[0])
    assert result.text == "aa aa"
    assert result.length == pieces + 1
    assert result.source_length == pieces
    assert not result.truncated
    assert result.score == pytest.approx(0.0, abs=1e-5)
    assert (result.hypotheses[0].text, result.hypotheses[0].score) == (
        result.text,
        result.score,
    )
    assert len(result.hypotheses) == 2
    assert result.hypotheses[1].score < result.score


@pytest.mark.parametrize("texts", [[""], ["   ", b"", "\n"], ["", "one", "\t"]])
def test_a_source_without_pieces_is_not_searched(translator, texts):
    for text, result in zip(texts, translator.translate(texts), strict=True):
        if not text.strip():
            assert (result.text, result.score, result.length) == ("", 0.0, 0)
            assert result.hypotheses == (Hypothesis("", 0.0, 0),)
            assert (result.source_length, result.truncated) == (0, False)
        else:
            assert result.text == text


def test_any_bytes_have_an_answer(translator):
    odd = [b"\xff\xfe", "one\x00two", "\ud800", "one\ntwo", b"caf\xe9", "x" * 500]
    results = translator([*odd, "one"])
    assert len(results) == len(odd) + 1
    assert all(isinstance(text, str) and "\n" not in text for text in results)
    assert results[3] == "one two"
    assert results[-1] == "one"


def test_long_sources_are_cut_flagged_and_warned_about(translator, caplog):
    long = "the dog runs home " * 20
    with caplog.at_level("WARNING", logger="absl"):
        one, cut = translator.translate(["one", long], first_line=7)
    assert one.text == "one" and not one.truncated
    assert cut.truncated
    assert cut.source_length > 20
    assert cut.length == 21  # 20 pieces, and END is kept
    assert long.startswith(cut.text)
    assert [x.getMessage() for x in caplog.records] == [
        f"Line 8: the source has {cut.source_length} pieces and was cut at 20."
    ]


def test_a_text_of_any_size_costs_little(translator):
    """Normalising a tower of marks takes time with the square of its height."""
    tower = "e" + 500_000 * "\u0301"  # a minute or so
    spaced = 200_000 * " " + "one" + 200_000 * "\n"
    texts = [tower, spaced, 300_000 * " ", "two dogs", "one " * 100_000]
    began = time.monotonic()
    found = translator.translate(texts)
    assert time.monotonic() - began < 10
    assert [x.truncated for x in found] == [True, False, False, False, True]
    assert found[1].text == translator(["one"])[0] and found[2].text == ""
    source_ids, truncated = translator.encode(texts)
    assert truncated.numpy().tolist() == [x.truncated for x in found]
    assert source_ids.shape[1] == translator.most_pieces() + 1


def test_a_learned_table_ends_sources_and_translations(tokenizer):
    translator = copier(tokenizer, 6, beam_size=1)
    source_ids, truncated = translator.encode(["a cat sleeps on the mat", "one"])
    assert source_ids.shape[1] == 6  # five pieces and END
    assert truncated.numpy().tolist() == [True, False]
    cut, _ = translator.translate(["a cat sleeps on the mat", "one"])
    assert cut.length == 6
    with pytest.raises(ValueError, match=r"at most 5 pieces.*targets\[1\]"):
        translator.score(["one", "one"], ["one", LINES[1]])
    with pytest.raises(ValueError, match=r"pieces in targets\[10\]"):
        translator.score(["one", "one"], ["one", LINES[1]], first_line=10)
    with pytest.raises(ValueError, match=r"limit of 6.*pieces in prefixes\[10\]"):
        translator.translate(["one"] * 2, first_line=10, prefixes=["one", LINES[1]])


def test_the_limit_is_the_source_and_some_more(tokenizer):
    class Babbler(CopyModel):
        def decode_step(self, ids, step, state, context, weights, fixed_shapes):
            return self._logits(tf.fill(tf.shape(ids), 7)), state

    babbler = Babbler(tokenizer.vocabulary_size)
    translator = Translator(babbler, tokenizer, DecodingConfig(beam_size=1))
    for extra in (0, 3):
        for result in translator.translate(LINES, max_extra_length=extra):
            assert result.length == result.source_length + extra


def test_a_line_out_for_every_line_in(translator):
    lines = [b"one\n", b"\n", b"the dog " * 30 + b"\n", b"   \r\n"]
    lines += ["中 😀\n".encode(), b"two dogs\r\n", b"aa aa"]
    for last in (b"", b"\n"):
        given = [*lines[:-1], lines[-1] + last]
        found = list(translator.translate_lines(given, window=3))
        assert len(found) == 7
        assert (found[0], found[1], found[3]) == ("one", "", "")
        assert (found[5], found[6]) == ("two dogs", "aa aa")
        assert found[6] == translator(["aa aa"])[0]
    assert list(translator.translate_lines([])) == []
    assert list(translator.translate_lines(["\ufeffone"])) == ["one"]


def test_lines_that_are_not_searched_or_cut_are_named(translator, caplog):
    lines = ["one", "", "the dog " * 30, "   ", b"\xff", "aa aa", "two dogs"]
    with caplog.at_level("WARNING", logger="absl"):
        found = list(translator.translate_lines(lines, window=3))
    assert [found[row] for row in (1, 3, 4)] == [""] * 3
    nothing = "the source has no text, so its translation is empty."
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 3
    assert said[0].startswith("Line 3: ") and "was cut at 20" in said[0]
    assert said[1:] == [f"Line 2: {nothing}", f"Lines 4, 5: {nothing}"]


def test_many_lines_without_text_are_one_warning(translator, caplog):
    with caplog.at_level("WARNING", logger="absl"):
        assert translator.translate([""] * 300, first_line=11)[-1].text == ""
    (record,) = caplog.records
    named = ", ".join(str(number) for number in range(11, 21))
    assert record.getMessage().startswith(f"Lines {named} and 290 more: the source")


def test_a_source_is_cut_in_front_of_its_end():
    letters = SubwordTokenizer.learn_from_lines(
        [f"{a} {b}" for a in "abcdef" for b in "abcdef"], 17
    )
    texts = ["a b c d e f a b c d", "a b c d e", "a b c d e f"]
    pieces = letters.tokenize(texts).to_list()
    assert [len(row) for row in pieces] == [10, 5, 6]
    source_ids, truncated = copier(letters, max_source_length=5).encode(texts)
    assert source_ids.numpy().tolist() == [[*row[:5], END_ID] for row in pieces]
    assert truncated.numpy().tolist() == [True, False, True]


def test_lines_are_read_window_by_window(translator, caplog):
    read = []

    def endless():
        for number in itertools.count(1):
            read.append(number)
            yield "the dog runs home " * 20 if number == 4 else "one"

    stream = translator.translate_lines(endless(), window=3, beam_size=1)
    assert [next(stream) for _ in range(3)] == ["one"] * 3
    assert len(read) == 3
    with caplog.at_level("WARNING", logger="absl"):
        next(stream)
    assert len(read) == 6
    assert "Line 4:" in caplog.text


def test_one_trace_for_each_beam_size(tokenizer):
    translator = copier(tokenizer, beam_size=2, batch_tokens=15)
    translator(LINES)
    translator(LINES[:1])
    translator.translate(LINES, length_penalty_alpha=0.0, max_extra_length=3)
    assert len(translator.model.batches) == 1
    translator.translate(LINES, beam_size=1)
    translator.translate(LINES[:2], beam_size=1)
    assert len(translator.model.batches) == 2


def test_batches_hold_the_budget_and_a_bounded_number_of_rows():
    cells = tf.constant([5, 1, 9, 0, 5, 40]).numpy()
    found = [rows.tolist() for rows in texts_module.batches(cells, 12)]
    assert found == [[5], [2], [0, 4], [1]]
    many = [len(x) for x in texts_module.batches(tf.ones(600, tf.int32).numpy(), 10**6)]
    assert max(many) == texts_module.MOST_ROWS and sum(many) == 600


def test_wide_beams_and_many_samples_get_fewer_rows():
    most = texts_module.MOST_ROWS
    wide = DecodingConfig(beam_size=2 * texts_module.USUAL_BEAMS)
    assert texts_module.most_rows(DecodingConfig(beam_size=1)) == most
    assert texts_module.most_rows(wide) == most // 2
    samples = DecodingConfig(beam_size=1, sampling=True, num_hypotheses=10**6)
    assert texts_module.most_rows(samples) == 1


def test_a_batch_of_wide_beams_is_small(tokenizer, monkeypatch):
    monkeypatch.setattr(texts_module, "USUAL_BEAMS", 1)
    monkeypatch.setattr(texts_module, "MOST_ROWS", 4)
    translator, searched = copier(tokenizer, beam_size=2), []
    translator.translate(["one"] * 5, before_batch=lambda: searched.append(1))
    assert len(searched) == 3


def test_encode_and_search_in_a_graph(translator):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def graph(texts):
        source_ids, truncated = translator.encode(texts)
        return source_ids, truncated, *translator.search(source_ids)

    source_ids, truncated, ids, lengths, scores = graph(["one", "", "two dogs"])
    assert source_ids.dtype == tf.int32
    assert source_ids[1].numpy().tolist() == [END_ID] + [PAD_ID] * (
        source_ids.shape[1] - 1
    )
    assert not truncated.numpy().any()
    assert lengths.numpy()[1] == 0 and scores.numpy()[1] == 0.0
    assert ids[0, 0].numpy().tolist() == source_ids[0].numpy().tolist()
    nothing = graph(tf.constant([], tf.string))
    assert [x.shape[0] for x in nothing] == [0] * 5


def test_scores_come_in_the_order_of_the_pairs(translator):
    scores = translator.score(LINES, [LINES[0], LINES[0], LINES[2], "", b"one"])
    assert scores[0] == pytest.approx(0.0, abs=1e-5)
    assert scores[2] == pytest.approx(0.0, abs=1e-5)
    assert all(score < -15.0 for score in (scores[1], scores[3], scores[4]))
    assert translator.score(LINES[1:2], LINES[:1]) == pytest.approx(scores[1:2])
    assert translator.score([], []) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t("one"), "`texts` must be a list of texts.*'one'"),
        (lambda t: t(None), "`texts` must be a list of texts.*None"),
        (lambda t: t(["one", None]), "str or bytes.*NoneType at index 1"),
        (lambda t: t([3]), "str or bytes.*int at index 0"),
        (lambda t: list(t.translate_lines("one")), "`lines` must be an iterable"),
        (lambda t: list(t.translate_lines([1])), "`lines` must hold nothing but"),
        (lambda t: t.translate(["one"], beams=2), "no field named beams"),
        (lambda t: t.translate(["one"], beam_size=0), "`beam_size`"),
        (lambda t: t.translate(["one"], num_hypotheses=3), "at most `beam_size`"),
        (lambda t: t.score(["one"], []), "1 sources and 0 targets"),
        (lambda t: t.score("one", ["one"]), "`sources` must be a list"),
        (lambda t: t.score(["one"], [None]), "`targets` must hold nothing but"),
    ],
)
def test_what_is_no_request_is_refused(translator, call, message):
    with pytest.raises(ValueError, match=message):
        call(translator)


def test_model_and_tokenizer_must_agree(tokenizer):
    size = tokenizer.vocabulary_size
    with pytest.raises(ValueError, match=f"model of 99 pieces and .* of {size}"):
        Translator(CopyModel(99), tokenizer)


@pytest.fixture(scope="module")
def workdir(tokenizer, tmp_path_factory):
    workdir = tmp_path_factory.mktemp("run")
    config = TransformerConfig(
        vocabulary_size=tokenizer.vocabulary_size,
        num_layers=1,
        model_dim=8,
        num_heads=2,
        feed_forward_dim=8,
    )
    build_transformer(config).save(workdir / "model.keras")
    tokenizer.save(workdir / "tokenizer")
    decoding = DecodingConfig(beam_size=2, max_extra_length=2).to_dict()
    (workdir / "config.json").write_text(json.dumps({"decoding": decoding}))
    return workdir


def test_a_run_is_loaded_with_its_way_to_search(workdir, tokenizer):
    translator = Translator.load(str(workdir), max_extra_length=1)
    assert translator.decoding_config.beam_size == 2
    assert translator.decoding_config.max_extra_length == 1
    assert translator.tokenizer.sha256 == tokenizer.sha256
    assert translator.model.transformer_config.model_dim == 8


def test_runs_of_one_tokenizer_are_loaded_as_an_ensemble(workdir, tmp_path):
    translator = Translator.load(
        workdir, [workdir], "probabilities", max_extra_length=1
    )
    assert len(translator.model.models) == 2
    assert translator.model.average == "probabilities"
    assert translator.decoding_config.max_extra_length == 1
    # The mean of two equal models is the model.
    alone = Translator.load(workdir).score(LINES, LINES)
    assert translator.score(LINES, LINES) == pytest.approx(alone, abs=1e-4)
    with pytest.raises(ValueError, match="`average` must be one of"):
        Translator.load(workdir, [workdir], "median")
    other = tmp_path / "other"
    shutil.copytree(workdir, other)
    shutil.rmtree(other / "tokenizer")
    SubwordTokenizer.learn_from_lines(LINES, 22).save(other / "tokenizer")
    with pytest.raises(ValueError, match="need one tokenizer.* and .*other with"):
        Translator.load(workdir, [other])


def test_a_workdir_that_is_no_run_is_refused(workdir, tmp_path):
    with pytest.raises(ValueError, match="readable config.json.*No such file"):
        Translator.load(tmp_path)
    config = tmp_path / "config.json"
    for content in ("{", "{}", "[]"):
        config.write_text(content)
        with pytest.raises(ValueError, match="configuration of a run, with objects"):
            Translator.load(tmp_path)
    config.write_text((workdir / "config.json").read_text())
    with pytest.raises(ValueError, match="tokenizer"):
        Translator.load(tmp_path)
    (tmp_path / "tokenizer").symlink_to(workdir / "tokenizer")
    with pytest.raises(ValueError, match="averaged model.*model.keras.*missing"):
        Translator.load(tmp_path)
    import keras

    inputs = keras.Input((1,))
    keras.Model(inputs, inputs).save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="must hold a Transformer.*Functional"):
        Translator.load(tmp_path)


def test_another_tokenizer_than_the_runs_is_refused(workdir, tokenizer, tmp_path):
    copy = shutil.copytree(workdir, tmp_path / "run")
    record = json.loads((copy / "config.json").read_text())
    record["data"] = {"tokenizer_sha256": tokenizer.sha256}
    (copy / "config.json").write_text(json.dumps(record))
    assert Translator.load(copy).tokenizer.sha256 == tokenizer.sha256
    record["data"] = {"tokenizer_sha256": "0" * 64}
    (copy / "config.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match="of sha256 000.*Received: .*Restore it"):
        Translator.load(copy)


def test_a_damaged_model_is_an_error_that_names_the_file(workdir, tmp_path):
    copy = shutil.copytree(workdir, tmp_path / "run")
    path = copy / "model.keras"
    content = path.read_bytes()
    changed = bytearray(content)
    changed[content.index(b"class_name") + 1] ^= 4
    for damaged in (b"", content[: len(content) // 2], bytes(changed)):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="model.keras must be a model that Keras"):
            Translator.load(copy)
