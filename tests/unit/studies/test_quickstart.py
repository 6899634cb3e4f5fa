"""The quickstart's parts that need no long training."""

import ast
import json
import subprocess

import pytest

from keras_attention.config import TrainingConfig, TransformerConfig
from keras_attention.studies import quickstart


def test_the_recipe_is_valid_and_fits_ten_minutes():
    TransformerConfig.from_preset(quickstart.PRESET, **quickstart.TRANSFORMER)
    training = TrainingConfig.from_preset(quickstart.PRESET, **quickstart.TRAINING)
    assert training.max_minutes <= 11
    assert training.checkpoint_steps * training.average_checkpoints < training.max_steps


def test_the_client_imports_tensorflow_and_its_text_operations_only():
    names = {
        alias.name
        for node in ast.walk(ast.parse(quickstart.CLIENT))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert names == {"sys", "tensorflow", "tensorflow_text"}


def test_line_feeds_alone_stand_between_texts_and_between_answers(
    tmp_path, monkeypatch
):
    asked = []

    def answer(command, input, **_):
        asked.append(input)
        said = "".join(f"{text.upper()}\n" for text in input.decode().split("\n")[:-1])
        return subprocess.CompletedProcess(command, 0, said.encode(), b"")

    monkeypatch.setattr(quickstart.subprocess, "run", answer)
    texts = ["a\u2028b", "c\x85d"]
    found = quickstart.served_translations(tmp_path, texts)
    assert found == {text: text.upper() for text in texts}
    assert quickstart.served_translations(tmp_path, []) == {}
    assert asked == ["a\u2028b\nc\x85d\n".encode(), b""]


def test_a_directory_that_is_no_export_is_told(tmp_path):
    with pytest.raises(RuntimeError, match="loads the export failed.*Received"):
        quickstart.served_translations(tmp_path, ["the dog"])


@pytest.mark.slow
def test_the_whole_way_in_a_few_updates(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "keras_attention.training.sources.SYNTHETIC_PAIRS",
        {"train": 300, "valid": 20},
    )
    small = {"vocabulary_size": 300, "num_layers": 1, "model_dim": 16}
    result = quickstart.quickstart(
        tmp_path / "run",
        tmp_path / "saved",
        transformer={**small, "num_heads": 2, "feed_forward_dim": 32},
        training={
            "max_steps": 4,
            "checkpoint_steps": 2,
            "average_checkpoints": 2,
            "batch_tokens": 256,
            "validation_sentences": 5,
        },
        held_out=40,
    )
    printed = capsys.readouterr().out
    assert result["version"] == tmp_path / "saved" / "1"
    assert result["bleu"]["sentences"] == 40
    assert 0 < result["novel_bleu"]["sentences"] < 40
    assert len(result["translations"]) == 5
    assert "TensorBoard logs: " in printed and result["bleu"]["signature"] in printed
    written = json.loads((tmp_path / "run/bleu.json").read_text(encoding="utf-8"))
    assert written["sentences"] == 40
