"""The table as Markdown, as CSV and for TensorBoard."""

import csv
import dataclasses
import io

import pytest
import tensorflow as tf
from tensorboard.plugins.hparams import plugin_data_pb2

from keras_attention.studies import ablation_table as tables
from keras_attention.studies.ablation_rows import make_base, make_row
from keras_attention.training.event_files import EVENTS, read_records

BASE = make_base("base")
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def result(name, status="done", **values):
    row = make_row(name, BASE)
    return tables.RowResult(name, status, row.change(BASE), row.symbols(), **values)


DONE = result(
    "C_n2",
    parameters=33_644_544,
    steps=100_000,
    minutes=1.5,
    perplexity=6.1149,
    bleu=23.7451,
    signature=SIGNATURE,
)
FAILED = result("C_d1024", "failed", parameters=7, reason="ended by SIGKILL | memory")


def test_markdown_holds_every_row_and_how_it_was_scored():
    lines = tables.markdown([DONE, result("C_n8", "open"), FAILED], ["One budget"])
    lines = lines.splitlines()
    paper = "6.11 | 23.7 |"
    assert lines[2] == f"| C_n2 | N=2 | 33 644 544 | 100 000 | 6.11 | 23.75 | {paper}"
    assert lines[3] == "| C_n8 | N=8 |  |  | open | open | 4.88 | 25.5 |"
    assert lines[4].endswith("| 7 |  | failed | failed | 4.66 | 26.0 |")
    assert {line.count("|") for line in lines[:5]} == {9}
    assert "- One budget." in lines
    assert f"- Signature of BLEU: `{SIGNATURE}`." in lines
    assert lines[-1] == "- C_d1024 failed: ended by SIGKILL | memory"


def test_two_signatures_are_both_told():
    other = dataclasses.replace(DONE, signature="other")
    assert tables.markdown([DONE, other], []).count("Signature of BLEU") == 2


def test_csv_keeps_all_digits_and_what_a_row_is_made_of():
    rows = list(csv.DictReader(io.StringIO(tables.comma_separated([DONE, FAILED]))))
    assert rows[0]["perplexity"] == "6.1149" and rows[0]["bleu"] == "23.7451"
    assert rows[0]["signature"] == SIGNATURE
    assert (rows[0]["N"], rows[0]["h"], rows[0]["paper_bleu"]) == ("2", "8", "23.7")
    assert rows[1]["status"] == "failed" and rows[1]["bleu"] == ""
    assert rows[1]["reason"] == FAILED.reason


def test_a_result_is_read_as_it_was_written(tmp_path):
    assert tables.read_result(tmp_path / "result.json") is None
    tables.write_result(tmp_path / "result.json", DONE)
    assert tables.read_result(tmp_path / "result.json") == DONE


WRONG = [
    f'{{"row": "base", "status": "done", "change": "", "values": {fields}}}'
    for fields in ("[]", '{}, "bleu": "1"', '{}, "bleu": NaN', "null")
]


@pytest.mark.parametrize(
    "text", [*("{", '{"row": "base", "colour": 1}', "3", "[" * 99_999), *WRONG]
)
def test_what_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "result.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="must hold the result of a row.*Received"):
        tables.read_result(tmp_path / "result.json")


def test_the_rows_are_in_the_order_of_the_paper():
    names = [r.row for r in tables.base_first([FAILED, DONE, result("base")])]
    assert names == ["base", "C_n2", "C_d1024"]


def events(folder):
    (path,) = folder.glob(EVENTS)
    for record in read_records(path):
        yield from tf.compat.v1.Event.FromString(record).summary.value


@pytest.mark.parametrize(("row", "tags"), [(DONE, 4), (FAILED, 1)])
def test_tensorboard_gets_a_session_a_row_in_place_of_an_earlier_one(
    tmp_path, row, tags
):
    config = {"preset": row.row, **make_row(row.row, BASE).parts}
    for _ in range(2):
        tables.write_hyper_parameters(tmp_path, row, config)
    found = {value.tag: value for value in events(tmp_path / row.row)}
    scalars = {
        t: float(tf.make_ndarray(v.tensor))
        for t, v in found.items()
        if "/" in t and not t.startswith("_")
    }
    assert len(scalars) == tags and set(scalars) <= set(tables.METRICS)
    assert scalars["dev/parameters"] == row.parameters
    told = plugin_data_pb2.HParamsPluginData
    start, end, columns = (
        told.FromString(found[f"_hparams_/{tag}"].metadata.plugin_data.content)
        for tag in ("session_start_info", "session_end_info", "experiment")
    )
    assert start.session_start_info.hparams["preset"].string_value == row.row
    assert start.session_start_info.hparams["num_layers"].number_value in (2, 6)
    status = end.session_end_info.status
    assert (status == 1) == (row.status == "done")  # STATUS_SUCCESS
    metrics = [m.name.tag for m in columns.experiment.metric_infos]
    assert metrics == list(tables.METRICS)
