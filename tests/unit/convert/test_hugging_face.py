"""Whole folders: what is refused, and what equals `transformers` itself."""

import json
import warnings

import numpy as np
import pytest

import keras_attention as ka
from keras_attention.convert import hugging_face
from tests.unit.convert import marian_models
from tests.unit.convert.conftest import SOURCES, TARGETS, write

TEXTS = [*SOURCES, "the old dog", ">>deu<< a red ball", "she sings \u2603", ""]


def change(folder, **fields):
    path = folder / "config.json"
    values = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({k: v for k, v in values.items() if v != "gone"}))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model_type", "bart", "model_type='marian'.*Received: .*'bart'"),
        ("normalize_before", True, "normalize_before=False.*Received: .*True"),
        ("normalize_embedding", True, "normalize_embedding=False.*Received: .*True"),
        ("add_final_layer_norm", True, "add_final_layer_norm=False.*Received: .*True"),
        ("static_position_embeddings", False, "embeddings=True.*Received: .*False"),
        ("share_encoder_decoder_embeddings", False, "embeddings=True.*Received: "),
        ("decoder_layers", 3, "encoder_layers equal.*Received: 2 and 3"),
        ("decoder_attention_heads", 2, "heads equal.*Received: 3 and 2"),
        ("decoder_ffn_dim", 24, "ffn_dim equal.*Received: 20 and 24"),
        ("activation_function", "gelu_new", "must be one of relu.*Received: 'gelu_new"),
        ("vocab_size", 500, r"belong together.*vocab_size=\d+.*Received: 500"),
        ("decoder_vocab_size", 500, r"decoder_vocab_size=\d+.*Received: 500"),
        ("pad_token_id", 3, r"pad_token_id=\d+.*Received: 3"),
        ("decoder_start_token_id", 0, r"decoder_start_token_id=\d+.*Received: 0"),
        ("eos_token_id", 2, "eos_token_id=0.*Received: 2"),
        ("d_model", "12", "value of type int as d_model. Received: '12'"),
        ("encoder_layers", None, "type int as encoder_layers. Received: 'None'"),
        ("dropout", None, "type float as dropout. Received: 'None'"),
        ("scale_embedding", 1, "type bool as scale_embedding. Received: '1'"),
        ("activation_function", [], "type str as activation_function. Received"),
        ("d_model", "gone", "must hold d_model. Received: .*save_pretrained"),
    ],
)
def test_what_would_give_other_logits_is_refused(marian_folder, field, value, message):
    change(marian_folder, **{field: value})
    with pytest.raises(ValueError, match=message):
        ka.convert.load_marian(marian_folder)


def test_broken_folders_are_refused(marian_folder):
    with pytest.raises(ValueError, match="model.safetensors or .*Received: "):
        ka.convert.load_marian(marian_folder)
    for content in (b"{", b"\xff", b"[]", b"[" * 99_999, b'{"a": 1, "a": 2}'):
        (marian_folder / "config.json").write_bytes(content)
        with pytest.raises(ValueError, match="readable config.json. Received: "):
            ka.convert.load_marian(marian_folder)
    (marian_folder / "config.json").unlink()
    with pytest.raises(ValueError, match="readable config.json. Received: "):
        ka.convert.load_marian(str(marian_folder))


def test_a_size_that_the_weights_do_not_fill_makes_no_model(marian_folder, monkeypatch):
    monkeypatch.setattr(
        hugging_face, "read_tensors", lambda _: {"a": np.ones(9, "float32")}
    )
    monkeypatch.setattr(hugging_face, "build_marian", None)
    change(marian_folder, d_model=3 * 10**9)
    with pytest.raises(ValueError, match="of one Marian model.*at least.*Received: 9"):
        ka.convert.load_marian(marian_folder)


VARIANTS = {
    "opus": {},
    "unscaled": {"scale_embedding": False},
    "untied": {"tie_word_embeddings": False},
    "relu, one layer": {
        "activation_function": "relu",
        "encoder_layers": 1,
        "decoder_layers": 1,
    },
    "gelu, 14 wide": {
        "activation_function": "gelu",
        "d_model": 14,
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
    },
}


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in list(VARIANTS)[1:]]


@pytest.fixture(scope="module", params=["opus", *SLOW])
def pair(request, marian_files, tmp_path_factory):
    """A model of Hugging Face, its folder, and the translator made of that."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("safetensors")
    folder = write(marian_files, tmp_path_factory.mktemp("home") / "marian")
    change(folder, **VARIANTS[request.param])
    config = json.loads((folder / "config.json").read_text())
    model = marian_models.random_model(config)
    model.save_pretrained(folder)
    return model, folder, ka.convert.load_marian(folder)


def ours(translator, ids):
    rows = translator.tokenizer.vocabulary.rows
    found = np.vectorize(lambda i: 0 if i == -1 else rows.index(i, 1))(ids)
    return found


def logits(translator, source, target):
    target_ids = ours(translator, target)
    target_ids[:, 0] = ka.START_ID
    inputs = {"source_ids": ours(translator, source), "target_ids": target_ids}
    return np.asarray(translator.model(inputs))[..., 1:]


def random_ids(model, rows, length):
    draw = np.random.default_rng(3)
    return draw.integers(1, model.config.vocab_size - 1, (rows, length))


def test_logits_are_equal(pair):
    model, _, translator = pair
    source, target = random_ids(model, 4, 30), random_ids(model, 4, 25)
    source[1, 20:], source[2, 3:], target[:, 0] = -1, -1, -1
    expected = marian_models.logits(model, source, target)
    rows = translator.tokenizer.vocabulary.rows[1:]
    found = logits(translator, source, target)
    np.testing.assert_allclose(found, expected[..., rows], atol=1e-4)


def marian_tokenizer(folder):
    import transformers

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
        return transformers.MarianTokenizer.from_pretrained(folder)


def test_ids_are_equal(pair):
    _, folder, translator = pair
    theirs, rows = marian_tokenizer(folder), translator.tokenizer.vocabulary.rows
    for found, ask in (
        (translator.encode(TEXTS)[0], {"text": TEXTS}),
        (translator.encode(TARGETS, targets=True)[0], {"text_target": TARGETS}),
    ):
        expected = theirs(**ask)["input_ids"]
        found = [[rows[i] for i in row if i] for row in found.numpy().tolist()]
        assert found == expected


def test_probabilities_are_equal(pair):
    import torch

    model, folder, translator = pair
    tokenizer = marian_tokenizer(folder)
    for source, target, found in zip(
        SOURCES, TARGETS, translator.score(SOURCES, TARGETS), strict=True
    ):
        inputs = tokenizer([source], text_target=[target], return_tensors="pt")
        with torch.no_grad():
            loss = model(**inputs).loss.item()
        assert found == pytest.approx(-loss * inputs["labels"].numel(), abs=1e-3)


def test_greedy_translations_are_equal(pair):
    import torch

    model, folder, translator = pair
    tokenizer = marian_tokenizer(folder)
    found = translator.translate(TEXTS[:-1], beam_size=1, max_extra_length=5)
    rows = translator.tokenizer.vocabulary.rows
    for text, translation in zip(TEXTS, found, strict=False):
        inputs = tokenizer([text], return_tensors="pt")
        with torch.no_grad():
            [expected] = model.generate(
                **inputs,
                num_beams=1,
                do_sample=False,
                max_new_tokens=inputs["input_ids"].shape[1] - 1 + 5,
                bad_words_ids=[[model.config.pad_token_id]],
            ).tolist()
        expected = expected[1:]  # without the padding that starts it
        expected = expected[: expected.index(0)] if 0 in expected else expected
        assert [rows[i] for i in translation.hypotheses[0].ids] == expected


def test_the_older_file_gives_the_same_model(pair, tmp_path):
    import torch

    model, folder, translator = pair
    for name in ("config.json", "source.spm", "target.spm", "vocab.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    again = ka.convert.load_marian(tmp_path)
    for old, new in zip(translator.model.weights, again.model.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(old), np.asarray(new))


def test_settings_of_the_translator(pair):
    model, folder, translator = pair
    assert translator.decoding_config.max_source_length == 63
    config = ka.DecodingConfig(beam_size=2)
    other = ka.convert.load_marian(folder, config, dtype_policy="mixed_bfloat16")
    assert other.decoding_config == config
    assert other.model.dtype_policy.name == "mixed_bfloat16"
    assert model.config.dropout == other.model.transformer_config.dropout_rate
