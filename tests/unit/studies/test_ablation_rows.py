"""The rows of Table 3: presets with the paper's base, in its ratios with others."""

import pytest

from keras_attention.config import TrainingConfig, TransformerConfig
from keras_attention.presets import PRESETS
from keras_attention.studies import ablation_rows as rows
from trainers import ablate

SMALL = {"num_layers": 3, "model_dim": 64, "num_heads": 8, "feed_forward_dim": 256}
SYMBOL = {
    "num_layers": "N",
    "model_dim": "d_model",
    "num_heads": "h",
    "feed_forward_dim": "d_ff",
    "key_dim": "d_k",
    "value_dim": "d_v",
    "dropout_rate": "P_drop",
    "label_smoothing": "eps_ls",
}


def small_base(**transformer):
    return rows.make_base("tiny", {**SMALL, "dropout_rate": 0.1, **transformer})


@pytest.mark.parametrize("name", rows.ALL_ROWS)
def test_with_the_base_of_the_paper_a_row_is_its_preset(name):
    row = rows.make_row(name, rows.make_base("base"))
    assert row.transformer == TransformerConfig.from_preset(
        name, vocabulary_size=37_000
    )
    training = TrainingConfig.from_preset(name, average_checkpoints=1)
    assert row.training == training  # not averaged, 6.2


def test_big_is_a_row_under_the_budget_of_the_base():
    row = rows.make_row("big", rows.make_base("base"))
    assert row.transformer == TransformerConfig.from_preset(
        "big", vocabulary_size=37_000
    )
    assert row.training.max_steps == 100_000
    assert "big" in rows.ROWS and "big" not in rows.ALL_ROWS


def test_every_row_of_the_paper_has_its_figures_and_its_preset():
    assert set(rows.ROWS) == set(rows.PAPER) <= set(PRESETS)
    assert {n for n in PRESETS if "_" in n} == set(rows.ALL_ROWS) - {"base"}
    assert ablate.BASE_PRESETS == rows.BASE_PRESETS


@pytest.mark.parametrize("name", [n for n in rows.ROWS if n not in ("base", "big")])
def test_each_row_keeps_its_ratio_to_the_base(name):
    paper, small = rows.make_base("base"), small_base()
    # Learned positions aside, which are as many as the longest text has pieces.
    varied = [s for s in SYMBOL.values() if s != "positions"]
    for symbol in varied:
        expected = (
            rows.make_row(name, paper).symbols()[symbol] / paper.symbols()[symbol]
        )
        mine = rows.make_row(name, small).symbols()[symbol] / small.symbols()[symbol]
        assert mine == pytest.approx(expected), symbol


def test_sizes_are_whole_numbers_of_at_least_one():
    tiny = rows.make_base("tiny")  # 4 layers, 4 heads
    found = {n: rows.make_row(n, tiny).transformer for n in rows.ALL_ROWS}
    assert [found[n].num_layers for n in ("C_n2", "C_n4", "C_n8")] == [1, 3, 5]
    assert [found[n].num_heads for n in ("A_h1", "A_h4", "A_h32")] == [1, 2, 16]
    one = rows.make_base("tiny", {"num_layers": 1, "num_heads": 1})
    assert rows.make_row("C_n2", one).transformer.num_layers == 1
    assert rows.make_row("A_h1", one).transformer.num_heads == 1


def test_learned_positions_reach_the_longest_text():
    training = {"max_source_length": 40, "max_target_length": 60}
    row = rows.make_row("E_learned", rows.make_base("tiny", None, training))
    assert row.transformer.max_length == 60
    assert row.training.max_source_length == 40
    assert row.training.max_target_length == 59


def test_the_base_is_never_averaged_and_its_fields_can_be_replaced():
    base = rows.make_base(
        "big",
        {"num_heads": 8, "vocabulary_size": 500},
        {"average_checkpoints": 7, "seed": 4},
        {"beam_size": 2},
    )
    assert base.transformer.num_heads == 8 and base.transformer.model_dim == 1024
    assert base.transformer.vocabulary_size == 500
    assert base.training.average_checkpoints == 1 and base.training.seed == 4
    assert base.decoding.beam_size == 2


def test_rows_come_in_the_order_of_the_paper_and_once():
    names = ["D_p0", "base", "A_h1", "D_p0"]
    found = rows.make_rows(names, small_base())
    assert [row.name for row in found] == ["base", "A_h1", "D_p0"]


def test_a_change_is_told_in_the_symbols_of_the_paper():
    base = small_base()
    told = {n: rows.make_row(n, base).change(base) for n in rows.ALL_ROWS}
    assert told["A_h4"] == "h=4, d_k=16, d_v=16"
    assert told["B_dk16"] == "d_k=2"
    assert told["D_ls2"] == "eps_ls=0.2"
    assert told["E_learned"] == "positions=256 learned"
    assert told["base"] == ""
    assert base.change().startswith("N=3, d_model=64, d_ff=256, h=8, d_k=8")


@pytest.mark.parametrize("names", [["A_h2"], ["base", "tiny"], []])
def test_unknown_rows_are_refused(names):
    with pytest.raises(ValueError, match="rows of a table must be among.*Received"):
        rows.make_rows(names, small_base())


def test_a_base_that_is_no_base_is_refused():
    with pytest.raises(ValueError, match="must be one of base, big, tiny.*'A_h1'"):
        rows.make_base("A_h1")


@pytest.mark.parametrize("field", ["key_dim", "value_dim"])
def test_widths_of_a_head_are_refused_in_the_base(field):
    with pytest.raises(ValueError, match=f"leave `{field}`.*Received: {field}=8"):
        small_base(**{field: 8})


def test_rows_that_a_small_base_cannot_tell_apart_are_refused():
    base = small_base(num_layers=1)
    with pytest.raises(ValueError, match="must differ. Received: base and C_n2 with"):
        rows.make_rows(["C_n2"], base)
    with pytest.raises(ValueError, match="C_n2 and C_n4"):
        rows.make_rows(["C_n2", "C_n4"], small_base(num_layers=2))
    with pytest.raises(ValueError, match="base and D_p2"):
        rows.make_rows(["D_p2"], small_base(dropout_rate=0.0))


def test_a_row_that_cannot_work_is_named():
    with pytest.raises(ValueError, match="Row D_p2 of this base.*dropout_rate"):
        rows.make_rows(["D_p2"], small_base(dropout_rate=0.5))
    with pytest.raises(ValueError, match="Row C_d256 of this base.*num_heads"):
        rows.make_rows(["C_d256"], small_base(model_dim=24))
