"""A table row by row, with stand-ins for the binaries, and once with them.

The stand-ins need no TensorFlow: one "trains" by writing what a run leaves, one
"scores". A file `plan.json` says which row fails, and where a signal comes.
"""

import io
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from keras_attention.data.synthetic import synthetic_corpus
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.evaluation.corpus_bleu import corpus_bleu
from keras_attention.studies import ablation, ablation_shared
from keras_attention.studies.ablation_rows import make_base, make_row
from keras_attention.studies.ablation_table import read_result

STAND_IN = """
import json, os, pathlib, signal, sys
binary = pathlib.Path(sys.argv[0]).stem
flags = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
workdir = pathlib.Path(flags["workdir"])
row = workdir.name
with open("calls.txt", "a") as calls:
    calls.write(f"{binary} {row}\\n")
plan = json.loads(pathlib.Path("plan.json").read_text())
what = plan.get(f"{binary} {row}")
if what == "fail":
    sys.exit(f"ka-{binary}: error: {row} has no room")
if what == "stop":
    os.kill(os.getppid(), signal.SIGTERM)
    signal.pause()
if binary == "train_translation":
    assert (workdir / "tokenizer" / "tokenizer.json").exists()
    assert (workdir / "encoded").is_dir()
    record = {"kind": "final", "step": 5, "minutes": 0.5, "perplexity": len(row) + 0.5}
    (workdir / "metrics.jsonl").write_text(json.dumps(record) + "\\n")
else:
    lines = pathlib.Path(flags["source"]).read_text().splitlines()
    report = {"score": float(len(lines)), "signature": "s|t"}
    (workdir / "bleu.json").write_text(json.dumps(report))
"""
SMALL = {
    "num_layers": 3,
    "model_dim": 16,
    "num_heads": 8,
    "feed_forward_dim": 32,
    "dropout_rate": 0.1,
}


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    lines = ["the dog runs .", "der Hund läuft .", "a cat sleeps .", "ein Kind"]
    SubwordTokenizer.learn_from_lines(lines, 40).save(folder)
    return folder


@pytest.fixture
def place(tmp_path, monkeypatch, tiny_corpus, pieces):
    """Stand-ins for the binaries, and the workdir of a table with pieces."""
    (tmp_path / "trainers").mkdir()
    for name in ("train_translation", "evaluate_translation"):
        path = tmp_path / "trainers" / f"{name}.py"
        path.write_text(STAND_IN, encoding="utf-8")
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    (tmp_path / "calls.txt").touch()
    shutil.copytree(pieces, tmp_path / "table" / "tokenizer")
    monkeypatch.chdir(tmp_path)
    # To build a model takes a second or more.
    monkeypatch.setattr(ablation, "count_parameters", lambda row: 12_345)
    return tmp_path


def plan(**what):
    words = {name.replace("__", " "): value for name, value in what.items()}
    pathlib.Path("plan.json").write_text(json.dumps(words), encoding="utf-8")


def calls():
    text = pathlib.Path("calls.txt").read_text(encoding="utf-8")
    pathlib.Path("calls.txt").write_text("", encoding="utf-8")
    return text.splitlines()


def table(rows, stream=None, transformer=None, **training):
    data = {f"{split}_source": ["corpus.en"] for split in ("train", "valid")}
    data |= {f"{split}_target": ["corpus.de"] for split in ("train", "valid")}
    return ablation.ablate(
        "table",
        data,
        rows,
        "tiny",
        {**SMALL, **(transformer or {})},
        {"max_steps": 5, **training},
        stream=stream or io.StringIO(),
    )


def cells(name):
    text = pathlib.Path("table/table.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_rows_are_trained_scored_and_not_repeated(place):
    stream = io.StringIO()
    result = table(["base", "C_n2"], stream)
    assert result.exit_code == 0 and [r.row for r in result.rows] == ["base", "C_n2"]
    assert calls() == [
        f"{binary}_translation {row}"
        for row in ("base", "C_n2")
        for binary in ("train", "evaluate")
    ]
    assert cells("C_n2")[:5] == ["N=1", "12 345", "5", "4.50", "6.00"]
    assert "Signature of BLEU: `s|t`" in (place / "table/table.md").read_text()
    assert "[C_n2] ppl 4.50  BLEU 6.00" in stream.getvalue()
    for row in ("base", "C_n2"):
        assert list((place / "table/tensorboard" / row).iterdir())
        assert (place / "table/rows" / row / "encoded").resolve() == (
            place / "table/encoded"
        )

    later = table(["A_h1", "C_n2"])
    assert calls() == ["train_translation A_h1", "evaluate_translation A_h1"]
    assert [row.row for row in later.rows] == ["A_h1", "C_n2"]
    assert cells("base")[3] == "4.50" and cells("A_h1")[3] == "4.50"
    assert (place / "table/table.csv").read_text().count("\n") == 4


def test_the_parameters_are_those_of_the_paper_s_formula():
    base = make_base("tiny", {**SMALL, "vocabulary_size": 40})
    row = make_row("C_n2", base)  # V=40, D=16, F=32, N=1
    assert ablation.count_parameters(row) == (
        40 * 16
        + (4 * 16 * 16 + 2 * 16 * 32 + 32 + 16 + 4 * 16)
        + (8 * 16 * 16 + 2 * 16 * 32 + 32 + 16 + 6 * 16)
    )


def test_a_row_that_fails_is_told_and_tried_again(place):
    plan(train_translation__C_n2="fail", evaluate_translation__D_p0="fail")
    result = table(["base", "C_n2", "C_n4", "D_p0"])
    assert result.exit_code == 1
    assert [r.row for r in result.rows if r.status == "failed"] == ["C_n2", "D_p0"]
    assert "evaluate_translation C_n2" not in calls()  # and C_n4 went on
    assert cells("C_n4")[3] == "4.50" and cells("C_n2")[3:5] == ["failed", "failed"]
    text = (place / "table/table.md").read_text()
    assert "- C_n2 failed: C_n2 has no room" in text

    assert table(["base", "C_n4"]).exit_code == 0  # of the rows asked for
    plan()
    assert table(["base", "C_n2", "C_n4", "D_p0"]).exit_code == 0
    assert calls() == [
        f"{binary}_translation {row}"
        for row in ("C_n2", "D_p0")
        for binary in ("train", "evaluate")
    ]
    assert "failed" not in (place / "table/table.md").read_text()


@pytest.mark.parametrize("where", ["train_translation", "evaluate_translation"])
def test_a_signal_stops_the_table_and_the_same_call_goes_on(place, where):
    plan(**{f"{where}__C_n2": "stop"})
    stream = io.StringIO()
    result = table(["base", "C_n2", "C_n4"], stream)
    assert result.exit_code == 128 + signal.SIGTERM and result.rows == []
    assert "the same command goes on" in stream.getvalue()
    assert cells("C_n2")[3] == cells("C_n4")[3] == "open"
    assert read_result("table/rows/C_n2/result.json") is None
    calls()
    plan()
    assert table(["base", "C_n2", "C_n4"]).exit_code == 0
    assert "train_translation C_n2" in calls()


def test_a_workdir_made_with_other_flags_is_refused(place):
    table(["base"])
    calls()
    with pytest.raises(ValueError, match="made with other flags.*max_steps: 5 there"):
        table(["base"], max_steps=6)
    with pytest.raises(ValueError, match="feed_forward_dim: 32 there, 64 now"):
        table(["C_n2"], transformer={"feed_forward_dim": 64})
    with pytest.raises(ValueError, match="the table's tokenizer, 40. Received: 50"):
        table(["base"], transformer={"vocabulary_size": 50})
    for side in ("en", "de"):
        path = place / f"corpus.{side}"
        path.write_text(path.read_text("utf-8") + "more\n", encoding="utf-8")
    with pytest.raises(ValueError, match="data.dev_sha256.*data.train_sha256"):
        table(["base"])
    assert calls() == []
    assert cells("base")[3] == "4.50"  # nothing was lost


def test_what_cannot_work_is_told_before_anything_is_done(place):
    with pytest.raises(ValueError, match="Row C_d256"):
        table(["base", "C_d256"], transformer={"model_dim": 8})
    (place / "table/tokenizer/tokenizer.json").unlink()
    with pytest.raises(ValueError, match="`vocabulary_size` is needed"):
        table(["base"])
    with pytest.raises(ValueError, match="no validation files"):
        ablation.ablate("table", {"synthetic": False}, ["base"], "tiny")
    assert calls() == [] and not (place / "table/rows").exists()


def test_the_workdir_of_a_run_is_refused(place):
    (place / "table/config.json").write_text("{}")
    with pytest.raises(ValueError, match="workdir of its own.*holds a run"):
        table(["base"])


@pytest.mark.parametrize("text", ["{", "[]", '{"transformer": 3}', "[" * 99_999])
def test_a_record_that_is_none_is_refused(tmp_path, text):
    assert ablation_shared.read_record(tmp_path) is None
    (tmp_path / "ablation.json").write_text(text)
    with pytest.raises(ValueError, match="rows of a table share. Received"):
        ablation_shared.read_record(tmp_path)


def test_pieces_that_cannot_be_learned_are_told(place):
    shutil.rmtree(place / "table/tokenizer")
    stand_in = (place / "trainers/train_translation.py").read_text()
    (place / "trainers/learn_vocabulary.py").write_text(stand_in)
    plan(learn_vocabulary__table="fail")
    with pytest.raises(ValueError, match="cannot be learned: table has no room"):
        table(["base"], transformer={"vocabulary_size": 40})


def test_the_dev_set_keeps_every_line_and_never_breaks_one(tmp_path, monkeypatch):
    for name, text in {"a": "x\n\ny\n", "b": "u\nv\nw", "c": "z\n", "d": "t\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = {name: str(tmp_path / name) for name in "abcd"}
    data = {
        "valid_source": [paths["a"], paths["c"]],
        "valid_target": [paths["b"], paths["d"]],
    }
    found = ablation_shared.dev_set(data)
    assert found == [["x", "", "y", "z"], ["u", "v", "w", "t"]]
    with pytest.raises(ValueError, match="equal numbers of lines"):
        ablation_shared.dev_set(
            {"valid_source": [paths["a"]], "valid_target": [paths["c"]]}
        )

    pairs = type("Pairs", (), {"sources": ["a\nb"], "targets": ["c"]})
    asked = []

    def read(*names):
        asked.append(names)
        return pairs

    monkeypatch.setattr(ablation_shared, "pairs_from_tfds", read)
    given = {"tfds": "some/de-en", "source_language": "de", "tfds_data_dir": "/d"}
    assert ablation_shared.dev_set(given) == [["a b"], ["c"]]
    assert asked == [("some/de-en", "validation", "de", None, "/d")]


def test_the_embedded_corpus_has_a_dev_set(monkeypatch):
    monkeypatch.setattr(
        "keras_attention.training.sources.SYNTHETIC_PAIRS", {"valid": 20}
    )
    sources, targets = ablation_shared.dev_set({"synthetic": True})
    pairs = synthetic_corpus("valid", 20)
    assert sources == [pair.source for pair in pairs]
    assert targets == [pair.target for pair in pairs]


FLAGS = (
    "--base_preset=tiny",
    "--vocabulary_size=60",
    "--num_layers=1",
    "--model_dim=16",
    "--num_heads=2",
    "--feed_forward_dim=32",
    "--dropout_rate=0.1",
    "--batch_tokens=64",
    "--rows_multiple=2",
    "--warmup_steps=10",
    "--checkpoint_steps=2",
    "--max_extra_length=3",
)


def ka_ablate(repository, workdir, corpus, *flags):
    source, target = corpus
    sides = [f"--train_source={source}", f"--train_target={target}"]
    sides += [f"--valid_source={source}", f"--valid_target={target}"]
    command = [sys.executable, "-m", "trainers.ablate", f"--workdir={workdir}"]
    return subprocess.Popen(
        [*command, *sides, *FLAGS, *flags],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.slow
def test_a_killed_table_goes_on_within_its_row_and_a_budget_of_zero_fails(
    tmp_path, tiny_corpus, repository
):
    workdir = tmp_path / "table"
    flags = ("--rows=E_learned", "--max_steps=40", "--log_steps=1")
    with ka_ablate(repository, workdir, tiny_corpus, *flags) as process:
        for line in process.stderr:
            if "step 7/" in line:
                break
        process.kill()
    with ka_ablate(repository, workdir, tiny_corpus, *flags) as process:
        said, told = process.communicate()
    assert process.returncode == 0, told
    assert re.search(r"\[E_learned\] .*goes on from .*step-\d", told)
    assert "step 1/40" not in told
    result = read_result(workdir / "rows/E_learned/result.json")
    assert result.status == "done" and result.steps == 40 and result.perplexity > 1
    assert result.signature == corpus_bleu(["a"], ["a"]).signature
    assert said == (workdir / "table.md").read_text(encoding="utf-8")
    assert "| E_learned | positions=256 learned |" in said

    flags = ("--rows=base", "--max_minutes=1e-9", "--max_steps=40")
    with ka_ablate(repository, tmp_path / "zero", tiny_corpus, *flags) as process:
        said, told = process.communicate()
    assert process.returncode == 1
    assert "- base failed: " in said and "checkpoint" in said
    assert told.splitlines()[-1] == "ka-ablate: error: rows that failed: base"
