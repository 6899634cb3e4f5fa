"""A run that learns to parse: the same trainer, search, workdir and export."""

import json
import os

import numpy as np
import pytest

from keras_attention.data.synthetic import synthetic_corpus
from keras_attention.data.trees import read_trees
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.parsing import evaluate_parsing
from keras_attention.training.run import train
from keras_attention.training.workdir import read_config

SMALL = {
    "preset": "parsing",
    "transformer": {
        "vocabulary_size": 250,
        "num_layers": 1,
        "model_dim": 16,
        "num_heads": 2,
        "feed_forward_dim": 16,
    },
    "training": {
        "batch_tokens": 256,
        "max_steps": 3,
        "checkpoint_steps": 3,
        "validation_sentences": 2,
        "average_checkpoints": 1,
    },
    "decoding": {"beam_size": 2, "max_extra_length": 20},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    examples = synthetic_corpus("train", 60)
    parts = {"train": examples[:30], "extra": examples[30:50], "valid": examples[50:]}
    for name, part in parts.items():
        text = "".join(f"{example.tree}\n" for example in part)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def small_run(workdir, files, **trees):
    named = {name: [str(files / name)] for name in ("train", "extra", "valid")}
    with open(os.devnull, "w") as silence:
        data = {"trees": {**named, **trees}}
        return train(workdir, data, **SMALL, stream=silence)


@pytest.fixture(scope="module")
def workdir(files, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run") / "parser"
    small_run(directory, files, extra_weight=0.25)
    return directory


def test_every_sentence_gets_a_tree_of_its_words(workdir, files):
    gold = read_trees(files / "valid")
    report = evaluate_parsing(workdir, [files / "valid"])
    predicted = read_trees(workdir / "predicted.trees")
    assert [tree.leaves() for tree in predicted] == [tree.leaves() for tree in gold]
    assert report["sentences"] == 10 and report["error_sentences"] == 0
    assert 0 <= report["f1"] <= 100
    assert report["decoding"]["beam_size"] == 2
    written = json.loads((workdir / "brackets.json").read_text())
    assert written["f1"] == report["f1"]


def test_the_workdir_is_one_as_of_translation(workdir):
    translator = Translator.load(workdir)
    symbols = translator.tokenizer.symbols
    assert "(NP" in symbols and ")NP" in symbols
    (line,) = translator.translate_lines(["the (NP dog sleeps ."])
    assert isinstance(line, str)
    gold = "(TOP (S (NP DT NN )NP (VP VBZ )VP . )S )TOP"
    (score,) = translator.score(["the dog sleeps ."], [gold])
    assert np.isfinite(score) and score < 0
    pieces = translator.tokenizer.tokenize_targets([gold])
    assert 1 not in pieces.flat_values.numpy()


def test_a_run_goes_on_with_its_own_trees_only(workdir, files):
    before = read_config(workdir)["data"]
    with open(os.devnull, "w") as silence:
        result = train(workdir, training={"max_steps": 4}, stream=silence)
    assert result.step == 4
    assert read_config(workdir)["data"]["sha256"] == before["sha256"]
    assert before["sources"]["trees"]["extra_weight"] == 0.25
    with pytest.raises(ValueError, match="the training pairs are not those"):
        small_run(workdir, files, extra_weight=0.5)


@pytest.mark.slow
def test_the_binaries(files, tmp_path, run_binary):
    def run(name, *arguments, code=0):
        done = run_binary(name, "--workdir", tmp_path / "run", *arguments)
        assert done.returncode == code, done.stderr.decode()
        return done.stdout.decode(), done.stderr.decode()

    flags = [
        f"--{name}={value}"
        for part in ("transformer", "training")
        for name, value in SMALL[part].items()
    ]
    trees = [f"--{name}_trees={files / name}" for name in ("train", "extra", "valid")]
    _, said = run("train_parsing", "--extra_weight=1", *flags, code=2)
    assert "no trees: name --train_trees or --synthetic" in said
    _, said = run("train_parsing", "--synthetic", trees[0], code=2)
    assert "--train_trees has no meaning beside --synthetic" in said
    _, said = run("train_parsing", trees[0], "--extra_weight=1", code=2)
    assert "--extra_weight has no meaning without --extra_trees" in said
    run("train_parsing", *trees, "--extra_weight=0.5", *flags)
    run("train_parsing", "--max_steps=4")
    output = tmp_path / "predicted"
    said, _ = run(
        "evaluate_parsing",
        f"--trees={files / 'valid'}",
        f"--output={output}",
        "--beam_size=3",
        "--max_extra_length=5",
    )
    assert said.startswith("F1 = ") and " tags " in said
    assert len(read_trees(output)) == 10
    _, said = run("evaluate_parsing", "--synthetic", f"--trees={output}", code=2)
    assert "--trees has no meaning beside --synthetic" in said
    _, said = run("evaluate_parsing", code=2)
    assert "--trees is required" in said
    (tmp_path / "broken").write_text("(S (NP\n")
    _, said = run("evaluate_parsing", f"--trees={tmp_path / 'broken'}", code=2)
    assert "broken, line 1: expected trees in matching brackets" in said
    said, _ = run("export_translation", f"--export_dir={tmp_path / 'export'}")
    assert said.strip() == str(tmp_path / "export" / "1")


@pytest.mark.campaign
def test_the_grammar_is_parsed(tmp_path):
    """The recipe of docs/parsing.md."""
    train(
        tmp_path,
        {"trees": {"synthetic": True}},
        preset="parsing",
        transformer={
            "vocabulary_size": 700,
            "num_layers": 2,
            "model_dim": 128,
            "num_heads": 4,
            "feed_forward_dim": 256,
            "dropout_rate": 0.0,
        },
        training={
            "batch_tokens": 1_536,
            "max_steps": 3_000,
            "warmup_steps": 300,
            "label_smoothing": 0.0,
            "checkpoint_steps": 100,
            "average_checkpoints": 2,
            "validation_steps": 5_000,
            "validation_sentences": 0,
        },
    )
    report = evaluate_parsing(tmp_path, synthetic=True, beam_size=4)
    assert report["sentences"] == 1_000 and report["error_sentences"] == 0
    assert report["f1"] >= 95.0
