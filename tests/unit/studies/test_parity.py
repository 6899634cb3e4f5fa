"""The parity report says what is so, and cannot go stale."""

import ast
import dataclasses
import importlib

import pytest

from keras_attention.presets import PRESETS
from keras_attention.studies.parity import (
    MODELS,
    PAPER,
    departures,
    paper_value,
    preset_configurations,
    value_of,
)
from keras_attention.studies.parity_report import (
    STATEMENTS,
    parity_report,
    parity_rows,
)

# For every field that a statement reads: a value that departs, and what it needs.
OTHERS = {
    "transformer.num_layers": {"num_layers": 3},
    "transformer.model_dim": {"model_dim": 64, "key_dim": 64, "value_dim": 64},
    "transformer.num_heads": {"num_heads": 4, "key_dim": 64, "value_dim": 64},
    "transformer.key_dim": {"key_dim": 16},
    "transformer.value_dim": {"value_dim": 16},
    "transformer.feed_forward_dim": {"feed_forward_dim": 99},
    "transformer.dropout_rate": {"dropout_rate": 0.45},
    "transformer.attention_dropout_rate": {"attention_dropout_rate": 0.25},
    "transformer.attention_window": {"attention_window": 7},
    "transformer.activation": {"activation": "gelu"},
    "transformer.norm_position": {"norm_position": "pre"},
    "transformer.positions": {"positions": "learned", "max_length": 300},
    "transformer.position_layout": {"position_layout": "concatenated"},
    "transformer.use_bias": {"use_bias": True},
    "transformer.share_embeddings": {"share_embeddings": False},
    "transformer.output_bias": {"output_bias": True},
    "training.batch_tokens": {"batch_tokens": 999},
    "training.max_steps": {"max_steps": 77},
    "training.warmup_steps": {"warmup_steps": 55},
    "training.learning_rate_scale": {"learning_rate_scale": 2.5},
    "training.beta_1": {"beta_1": 0.8},
    "training.beta_2": {"beta_2": 0.999},
    "training.optimizer_epsilon": {"optimizer_epsilon": 1e-6},
    "training.gradient_clip_norm": {"gradient_clip_norm": 2.5},
    "training.label_smoothing": {"label_smoothing": 0.35},
    "training.checkpoint_minutes": {"checkpoint_minutes": 7.0},
    "training.average_checkpoints": {"average_checkpoints": 9},
    "training.tokenizer_kind": {"tokenizer_kind": "unigram"},
    "decoding.beam_size": {"beam_size": 7},
    "decoding.length_penalty_alpha": {"length_penalty_alpha": 1.25},
    "decoding.max_extra_length": {"max_extra_length": 33},
}


@pytest.fixture(scope="module")
def base():
    return preset_configurations("base")


def changed(configurations, field):
    part = field.split(".")[0]
    other = dataclasses.replace(getattr(configurations, part), **OTHERS[field])
    return configurations._replace(**{part: other})


@pytest.mark.parametrize("model", ["base", "big", "parsing"])
def test_the_models_of_the_paper_depart_nowhere(model):
    """Presets and the figures of the paper were written down apart."""
    rows = parity_rows(preset_configurations(model), model)
    assert [row[-1] for row in rows] == [""] * len(STATEMENTS)


def test_every_figure_of_the_paper_is_in_a_statement():
    read = {field for statement in STATEMENTS for field in statement.fields}
    assert read == set(PAPER) == set(OTHERS)


@pytest.mark.parametrize("field", sorted(OTHERS))
def test_an_option_that_departs_changes_its_rows(base, field):
    other = changed(base, field)
    for statement, before, after in zip(
        STATEMENTS, parity_rows(base), parity_rows(other), strict=True
    ):
        if field in statement.fields:
            assert before[2] != after[2], "the value is not read from the configuration"
            name, value = field.split(".")[1], value_of(other, field)
            assert f"{name}={value} (paper: {paper_value(field)})" in after[-1]
            assert f"--{name}" in before[-2]
        elif before[-1] != after[-1]:
            # What one option needs may be what another statement is about.
            assert {name for name in OTHERS[field]} & {
                name.split(".")[1] for name in statement.fields
            }


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.says[:40])
def test_code_and_test_are_there(statement, repository):
    module, name = statement.where.split(":")
    assert hasattr(importlib.import_module(module), name)
    path, function = statement.test.split("::")
    tree = ast.parse((repository / path).read_text(encoding="utf-8"))
    assert function in {x.name for x in tree.body if isinstance(x, ast.FunctionDef)}


def test_the_page_is_what_the_report_says(base, repository):
    page = repository / "docs" / "paper.md"
    report = parity_report(base)
    assert page.read_text(encoding="utf-8") == report, (
        "run `python -m trainers.paper_parity > docs/paper.md`"
    )
    assert "41.8" in report and "(`attention_dropout_rate`)" in report


def test_a_table_is_a_table_whatever_it_says(base):
    report = parity_report(changed(base, "transformer.attention_window"))
    rows = [line for line in report.splitlines() if line.startswith("|")]
    assert len(rows) == len(STATEMENTS) + 2
    cells = {len(line.replace("\\|", "").split("|")) for line in rows}
    assert cells == {9}
    assert "2 depart." in report  # the restriction, and what it costs


def test_rows_of_table_3_are_compared_with_base():
    found = preset_configurations("C_n2")
    [layers] = [row for row in parity_rows(found, "C_n2") if row[-1]]
    assert layers[-1] == "num_layers=2 (paper: 6)"
    said = parity_report(found, "C_n2", "C_n2").splitlines()[2]
    assert "with its base model: 30 as printed, 1 depart" in said


def test_a_model_that_is_no_preset(base):
    with pytest.raises(ValueError, match="must be a preset.*base, big.*Received"):
        departures(STATEMENTS[0], base, "huge")
    assert paper_value("transformer.num_layers", "E_learned") == 6
    named = {model for values in PAPER.values() for model in values}
    assert named == {*MODELS, "row"} and set(PRESETS) >= set(MODELS)
