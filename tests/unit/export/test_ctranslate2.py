"""CTranslate2 computes what this package computes, with the exported model."""

import builtins
import json
import os
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.config import ACTIVATIONS
from keras_attention.data.lines import read_lines
from keras_attention.decoding import beam_steps
from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import collect_ended
from keras_attention.decoding.translator import Translator
from keras_attention.export import ctranslate2 as export
from keras_attention.export.ctranslate2 import export_ctranslate2
from keras_attention.vocabulary import END_ID

engine = pytest.importorskip("ctranslate2")

LINES = ["to be or not to be", "that is the question"] * 4
TEXTS = ["to be", "question that is", "not", "or not to be that", "the the the"]
OTHERS = ["that is the", "be", "", "or to question", "is not"]


@pytest.fixture(scope="module")
def tokenizer():
    return ka.SubwordTokenizer.learn_from_lines(LINES, 24)


def make(tokenizer, end_bias=0.2, **fields):
    """A translator of random weights and biases that chooses no PAD and no START.

    The first channel of the decoder's output lies around 20 whatever comes in, so the
    first column of the output matrix is a bias: a trained model has learned one.
    """
    keras.utils.set_random_seed(7)
    sizes = dict(num_layers=1, model_dim=16, num_heads=2, feed_forward_dim=32)
    config = ka.TransformerConfig(24, **{**sizes, **fields})
    model = ka.build_transformer(config)
    draw = np.random.default_rng(7)
    for variable in model.trainable_variables:
        noise = 0.1 * draw.normal(size=variable.shape)
        variable.assign(keras.ops.convert_to_numpy(variable) + noise)
    last = model.get_layer(f"decoder_block_{config.num_layers - 1}")
    norm = last.feed_forward_norm.norm
    if config.norm_position == "pre":
        norm = model.get_layer("decoder_norm")
    shared = config.share_embeddings
    output = model.get_layer("token_embedding" if shared else "output_embedding")
    change(norm.beta, lambda beta: beta.__setitem__(0, 20.0))
    change(output.embeddings, lambda matrix: set_biases(matrix, end_bias))
    decoding = ka.DecodingConfig(length_penalty_alpha=0.0, max_extra_length=10)
    return ka.Translator(model, tokenizer, decoding)


def change(variable, edit):
    value = np.array(keras.ops.convert_to_numpy(variable))
    edit(value)
    variable.assign(value)


def set_biases(matrix, end_bias):
    matrix[:, 0] = 0.0
    matrix[[ka.PAD_ID, ka.START_ID], 0] = -3.0
    matrix[ka.END_ID, 0] = end_bias


def pieces(translator, texts):
    ids = translator.tokenizer.tokenize(texts).to_list()
    return [[translator.tokenizer.pieces[i] for i in row] for row in ids]


def load(folder, **options):
    return engine.Translator(str(folder), intra_threads=1, **options)


ENDLESS = {"end_bias": -3.0}
KINDS = {
    "post": ENDLESS,
    "pre": {"norm_position": "pre", **ENDLESS},
    "post untied": {"share_embeddings": False, **ENDLESS},
    "pre untied": {"norm_position": "pre", "share_embeddings": False, **ENDLESS},
    "with an end": {},
}
OTHER_KINDS = {
    "learned": {"positions": "learned", "max_length": 50},
    "concatenated": {"position_layout": "concatenated"},
    "biases": {"use_bias": True, "output_bias": True},
    "epsilon": {"layer_norm_epsilon": 0.3},
    "heads": {"key_dim": 5, "value_dim": 5},
    **{name: {"activation": name} for name in ACTIVATIONS if name != "relu"},
}


def scores(translator, folder):
    """Returns the forced log-probabilities of this package and of the engine."""
    sides = [pieces(translator, texts) for texts in (TEXTS, OTHERS)]
    found = load(folder).score_batch(*sides)
    return translator.score(TEXTS, OTHERS), [sum(one.log_probs) for one in found]


@pytest.fixture(scope="module", params=KINDS)
def exported(request, tokenizer, tmp_path_factory):
    translator = make(tokenizer, num_layers=2, **KINDS[request.param])
    home = tmp_path_factory.mktemp("engine")
    return translator, export_ctranslate2(translator, home / "model")


def test_forced_scores_are_equal(exported):
    ours, theirs = scores(*exported)
    np.testing.assert_allclose(theirs, ours, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 4])
def test_searches_are_equal(exported, beam_size):
    translator, folder = exported
    config = translator.decoding_config.replace(beam_size=beam_size)
    search = tf.function(lambda ids: translator.search(ids, config))
    found = search(translator.encode(TEXTS)[0])
    loaded = load(folder)
    for source, ids, length, score in zip(
        pieces(translator, TEXTS),
        found.ids.numpy()[:, 0],
        found.lengths.numpy()[:, 0],
        found.scores.numpy()[:, 0],
        strict=True,
    ):
        [answer] = loaded.translate_batch(
            [source],
            beam_size=beam_size,
            length_penalty=0,
            max_decoding_length=len(source) + config.max_extra_length,
            min_decoding_length=0,
            return_scores=True,
            return_end_token=True,
        )
        expected = [translator.tokenizer.pieces[i] for i in ids[:length]]
        assert answer.hypotheses[0] == expected
        assert answer.scores[0] == pytest.approx(score, abs=1e-4)


@pytest.mark.slow
def test_the_best_of_500_sentences_are_equal(exported):
    translator, folder = exported
    draw = np.random.default_rng(3)
    words = " ".join(LINES[:2]).split()
    texts = [" ".join(draw.choice(words, 1 + n % 9)) for n in range(500)]
    found = translator.translate(texts, num_hypotheses=4)
    loaded, names = load(folder), translator.tokenizer.pieces
    equal = 0
    for source, ours in zip(pieces(translator, texts), found, strict=True):
        [theirs] = loaded.translate_batch(
            [source],
            beam_size=4,
            num_hypotheses=4,
            length_penalty=0,
            max_decoding_length=len(source) + 10,
            min_decoding_length=0,
            return_scores=True,
            return_end_token=True,
        )
        spelled = [[names[i] for i in each.ids] for each in ours.hypotheses]
        equal += theirs.hypotheses[0] == spelled[0]
        for tokens, score in zip(theirs.hypotheses, theirs.scores, strict=True):
            if tokens in spelled:
                same = ours.hypotheses[spelled.index(tokens)].score
                assert score == pytest.approx(same, abs=1e-3)
    assert equal / len(texts) >= 0.995


def end_among_the_first(pool, beams, extensions, step):
    """The engine's rule: an END behind the first `beam_size` extensions is lost."""
    late = np.arange(extensions.ids.shape[1]) >= beams.log_probs.shape[1]
    lost = (extensions.ids == END_ID) & late
    log_probs = tf.where(lost, beam_steps.NEVER, extensions.log_probs)
    return collect_ended(pool, beams, extensions._replace(log_probs=log_probs), step)


@pytest.mark.campaign
@pytest.mark.parametrize("rule", [collect_ended, end_among_the_first])
def test_real_sentences(rule, shared_data, tmp_path, monkeypatch, capsys):
    """500 of Multi30k, by the run that KERAS_ATTENTION_RUN names, beam 4, no penalty.

    What differs is the likelier one here, and nothing differs under the engine's rule.
    """
    run = os.environ.get("KERAS_ATTENTION_RUN")
    if not run:
        pytest.skip("KERAS_ATTENTION_RUN names no workdir of an English-German run")
    monkeypatch.setattr(sys.modules[beam_search.__module__], "collect_ended", rule)
    translator = Translator.load(run, length_penalty_alpha=0.0, beam_size=4)
    lines = read_lines(shared_data / "mt" / "multi30k" / "val.en.gz")[:500]
    found = translator.translate(lines)
    loaded = load(export_ctranslate2(translator, tmp_path / "engine"))
    extra, names = translator.decoding_config.max_extra_length, translator.tokenizer
    equal, largest = 0, 0.0
    for source, ours in zip(pieces(translator, lines), found, strict=True):
        [theirs] = loaded.translate_batch(
            [source],
            beam_size=4,
            length_penalty=0,
            max_decoding_length=len(source) + extra,
            min_decoding_length=0,
            return_scores=True,
            return_end_token=True,
        )
        spelled = [names.pieces[i] for i in ours.hypotheses[0].ids]
        if theirs.hypotheses[0] == spelled:
            equal += 1
            largest = max(largest, abs(theirs.scores[0] - ours.score))
        else:
            assert theirs.scores[0] < ours.score
    with capsys.disabled():
        print(
            f"\n{rule.__name__}: {equal} of {len(lines)}, scores within {largest:.1e}"
        )
    assert largest < 1e-3
    assert equal / len(lines) >= (0.995 if rule is end_among_the_first else 0.97)


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_kind_of_model_scores_equally(tokenizer, tmp_path, kind):
    translator = make(tokenizer, **OTHER_KINDS[kind])
    folder = export_ctranslate2(translator, tmp_path / "model")
    ours, theirs = scores(translator, folder)
    np.testing.assert_allclose(theirs, ours, atol=1e-4)


def test_every_activation_has_a_name_there():
    assert set(export.ACTIVATIONS) == set(ACTIVATIONS)


@pytest.fixture(scope="module")
def translator(tokenizer):
    return make(tokenizer)


def test_positions_reach_as_far_as_the_search(translator, tmp_path):
    config = ka.DecodingConfig(max_source_length=8, max_extra_length=3)
    short = ka.Translator(translator.model, translator.tokenizer, config)
    loaded = load(export_ctranslate2(short, tmp_path / "model"))
    longest = [[translator.tokenizer.pieces[9]] * 8]
    suppressed = [["[END]"]]
    answer = loaded.translate_batch(
        longest, max_decoding_length=8 + 3, suppress_sequences=suppressed
    )
    assert len(answer[0].hypotheses[0]) == 11
    with pytest.raises(RuntimeError, match="No position encodings"):
        loaded.translate_batch(
            longest, max_decoding_length=8 + 4, suppress_sequences=suppressed
        )


@pytest.mark.parametrize("quantization", export.QUANTIZATIONS)
def test_quantized_weights_are_about_the_same(translator, tmp_path, quantization):
    # A short table of positions: it is stored beside the weights.
    config = ka.DecodingConfig(max_source_length=32)
    translator = ka.Translator(translator.model, translator.tokenizer, config)
    folder = export_ctranslate2(translator, tmp_path / "model", quantization)
    ours, theirs = scores(translator, folder)
    np.testing.assert_allclose(theirs, ours, rtol=0.02)
    size = (folder / "model.bin").stat().st_size
    assert (size < 4 * translator.model.count_params()) == (quantization != "float32")


def test_ids_mean_the_same_there(translator, tmp_path):
    folder = export_ctranslate2(translator, tmp_path / "model")
    vocabulary = json.loads((folder / "shared_vocabulary.json").read_text("utf-8"))
    assert vocabulary == translator.tokenizer.pieces
    config = json.loads((folder / "config.json").read_text("utf-8"))
    specials = {"bos_token": "[START]", "eos_token": "[END]", "unk_token": "[UNK]"}
    assert specials.items() <= config.items()
    assert config["decoder_start_token"] == "[START]" and config["add_source_eos"]
    saved = ka.SubwordTokenizer.load(folder / "tokenizer")
    assert saved.sha256 == translator.tokenizer.sha256


def test_nothing_is_overwritten(translator, tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(ValueError, match="must not exist.*Received: '.*model'"):
        export_ctranslate2(translator, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_another_export_made_meanwhile_stays(
    translator, tmp_path, monkeypatch
):
    def overtaken(folder):
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "theirs").touch()

    monkeypatch.setattr(export, "flush_folder", overtaken)
    with pytest.raises(ValueError, match="must not exist"):
        export_ctranslate2(translator, tmp_path / "model")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["model", "theirs"]


def test_a_rename_that_cannot_work_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        export._publish(tmp_path / "missing", tmp_path / "model")


def test_nothing_is_left_of_an_export_that_was_killed(
    translator, tmp_path, monkeypatch
):
    seen = []

    def interrupted(folder):
        seen.extend(path.name for path in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "flush_folder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_ctranslate2(translator, tmp_path / "model")
    assert len(seen) == 1 and seen[0].startswith(".unfinished-")
    assert not list(tmp_path.iterdir())


def test_refuses_what_is_no_translator(translator, tmp_path):
    with pytest.raises(ValueError, match="must be a keras_attention.Translator"):
        export_ctranslate2(translator.model, tmp_path / "model")


def test_refuses_an_unknown_quantization(translator, tmp_path):
    with pytest.raises(ValueError, match="one of float32, .*Received: 'int4'"):
        export_ctranslate2(translator, tmp_path / "model", "int4")


def test_refuses_keys_and_values_of_two_sizes(tokenizer, tmp_path):
    other = make(tokenizer, key_dim=4, value_dim=8)
    with pytest.raises(ValueError, match="Received: key_dim=4, value_dim=8"):
        export_ctranslate2(other, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_says_how_to_install_the_package(translator, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name == "ctranslate2":
            raise ImportError("No module named 'ctranslate2'")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r"pip install 'keras-attention\[ctransl"):
        export_ctranslate2(translator, tmp_path / "model")
