"""The binaries: one after the other on one workdir, and as processes that fail."""

import gzip
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys

import pytest
from absl import app, flags
from absl.testing import flagsaver

from keras_attention.training.checkpoint_files import list_checkpoints
from trainers import (
    average_checkpoints,
    evaluate_translation,
    export_translation,
    learn_vocabulary,
    train_translation,
    translate,
)
from trainers._paths import readable

flags.FLAGS.mark_as_parsed()
PAIRS = [
    ("the dog runs .", "der Hund läuft ."),
    ("the cat sleeps .", "die Katze schläft ."),
    ("a child plays .", "ein Kind spielt ."),
    ("the small dog sees a cat .", "der kleine Hund sieht eine Katze ."),
    ("a cat sees the child .", "eine Katze sieht das Kind ."),
    ("the child runs .", "das Kind läuft ."),
]
SMALL = {
    "num_layers": 1,
    "model_dim": 16,
    "num_heads": 2,
    "feed_forward_dim": 32,
    "batch_tokens": 64,
    "max_steps": 4,
    "warmup_steps": 10,
    "max_source_length": 32,
    "max_target_length": 32,
    "rows_multiple": 2,
    "checkpoint_steps": 2,
    "average_checkpoints": 2,
    "log_steps": 2,
    "max_extra_length": 3,
}
TEXT_OF_TRAINING = ("train_source", "train_target", "valid_source", "valid_target")


def call(binary, **values):
    """Runs the `main` of a binary with flags, all others unset, in this process."""
    with flagsaver.flagsaver(**values):
        return binary.main()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    paths = folder / "corpus.en", folder / "corpus.de"
    for path, side in zip(paths, zip(*PAIRS, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return [str(path) for path in paths]


@pytest.fixture(scope="module")
def workdir(corpus, tmp_path_factory):
    """A finished run of four updates."""
    directory = tmp_path_factory.mktemp("run") / "new" / "run"
    sides = {name: [corpus["target" in name]] for name in TEXT_OF_TRAINING}
    code = call(
        train_translation, workdir=str(directory), vocabulary_size=60, **sides, **SMALL
    )
    assert not code
    return directory


def test_train_translation_fills_the_workdir(workdir):
    names = {path.name for path in workdir.iterdir()}
    expected = "config.json tokenizer checkpoints tensorboard model.keras metrics.jsonl"
    assert set(expected.split()) <= names
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    assert set(config) >= {"transformer", "training", "decoding", "data", "versions"}
    assert config["transformer"]["model_dim"] == SMALL["model_dim"]
    assert config["training"]["max_steps"] == SMALL["max_steps"]
    assert config["decoding"]["max_extra_length"] == SMALL["max_extra_length"]


def test_learn_vocabulary(corpus, tmp_path):
    values = {"train_source": corpus[:1], "train_target": corpus[1:]}
    call(learn_vocabulary, workdir=str(tmp_path / "w"), vocabulary_size=50, **values)
    record = json.loads((tmp_path / "w/tokenizer/tokenizer.json").read_text())
    assert (record["kind"], record["vocabulary_size"]) == ("bpe", 50)
    with pytest.raises(app.UsageError, match="already holds tokenizer/tokenizer.json"):
        call(
            learn_vocabulary, workdir=str(tmp_path / "w"), vocabulary_size=40, **values
        )
    (tmp_path / "config.json").touch()
    with pytest.raises(app.UsageError, match="already holds config.json"):
        call(learn_vocabulary, workdir=str(tmp_path), vocabulary_size=40, **values)


def test_average_checkpoints(workdir, caplog):
    before = (workdir / "model.keras").stat().st_mtime_ns
    steps = [path.name for path in list_checkpoints(workdir / "checkpoints")]
    with caplog.at_level("INFO", "absl"):
        call(average_checkpoints, workdir=str(workdir), average_checkpoints=2)
        call(average_checkpoints, workdir=str(workdir), average_checkpoints=1)
    assert f"the model is the mean of {', '.join(steps[-2:])}" in caplog.messages
    assert f"the model is {steps[-1]}" in caplog.messages
    assert (workdir / "model.keras").stat().st_mtime_ns > before


def test_evaluate_translation(workdir, corpus, capsys):
    source, reference = corpus[:1], corpus[1:]
    values = {"source": source, "reference": reference, "beam_size": 2}
    call(evaluate_translation, workdir=str(workdir), sustained_flops=2e9, **values)
    report = json.loads((workdir / "bleu.json").read_text(encoding="utf-8"))
    tokenized, cost = report["tokenized_bleu"], report["training_cost"]
    assert capsys.readouterr().out.split("\n") == [
        f"BLEU = {report['score']:.2f}  {report['signature']}",
        f"BLEU = {tokenized['score']:.2f}  {tokenized['signature']}",
        f"training counted_flops = {cost['counted_flops']:.2e}",
        f"training estimated_flops = {cost['estimated_flops']:.2e}",
        "",
    ]
    assert "tok:moses-de+compounds" in tokenized["signature"]
    assert cost["updates"] == SMALL["max_steps"]
    assert cost["estimated_flops"] == cost["seconds"] * cost["devices"] * 2e9
    assert "tok:13a" in report["signature"] and "case:mixed" in report["signature"]
    assert report["sentences"] == len(PAIRS)
    assert report["decoding"]["beam_size"] == 2
    assert report["decoding"]["max_extra_length"] == SMALL["max_extra_length"]
    assert report["config"]["transformer"]["model_dim"] == SMALL["model_dim"]


def test_translate_gives_a_line_for_every_line(workdir, tmp_path):
    lines = [b"the dog runs .", b"", b"   ", b"\xff\xfe", b"the cat sleeps .\r"]
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"\n".join(lines))  # no line feed at the end
    call(translate, workdir=str(workdir), input=str(source), output=str(output))
    translated = output.read_bytes().split(b"\n")
    assert translated.pop() == b""
    assert len(translated) == len(lines)
    assert translated[1] == translated[2] == b""


def test_translate_does_not_write_over_its_input(workdir, corpus):
    before = pathlib.Path(corpus[0]).read_bytes()
    with pytest.raises(ValueError, match="is the input itself"):
        call(translate, workdir=str(workdir), input=corpus[0], output=corpus[0])
    assert pathlib.Path(corpus[0]).read_bytes() == before


@pytest.mark.slow
def test_translate_keeps_the_old_output_until_the_new_one_is_whole(
    workdir, corpus, tmp_path
):
    output = tmp_path / "out.txt"
    output.write_text("precious\n")
    values = {"workdir": str(workdir), "output": str(output)}
    with pytest.raises(ValueError, match="beam_size"):
        call(translate, **values, input=corpus[0], beam_size=0)
    damaged = tmp_path / "in.gz"
    damaged.write_bytes(gzip.compress(random.Random(1).randbytes(9_999))[:-99])
    with pytest.raises(OSError, match="in.gz is no whole gzip file"):
        call(translate, **values, input=str(damaged))
    assert output.read_text() == "precious\n"
    assert {path.name for path in tmp_path.iterdir()} == {"out.txt", "in.gz"}
    call(translate, **values, input=corpus[0])
    assert output.read_bytes().count(b"\n") == len(PAIRS)


@pytest.mark.slow
def test_export_translation_is_served_without_the_package(
    workdir, corpus, tmp_path, capsys
):
    from keras_attention.studies.quickstart import served_translations

    folders = {"workdir": str(workdir), "export_dir": str(tmp_path / "model")}
    call(export_translation, **folders, input=str(corpus[0]))
    version = tmp_path / "model" / "1"
    assert capsys.readouterr().out == f"{version}\n"
    sources = [source for source, _ in PAIRS] + ["the dog\u2028runs\x85 ."]
    served = served_translations(version, sources)
    from keras_attention import Translator

    assert list(served.values()) == Translator.load(workdir)(sources)


# --- As processes: one clear line, an exit code, no traceback. ---


def failure(run_binary, name, *arguments):
    """Returns (exit code, the one line that the binary says) of a run that fails."""
    done = run_binary(name, *arguments)
    said = done.stderr.decode()
    assert "Traceback" not in said, said
    (line,) = said.splitlines()
    assert line.startswith("ka-")
    return done.returncode, line


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        (
            "learn_vocabulary",
            ["--vocabulary_size=9"],
            2,
            "no text: name --train",
        ),
        (
            "learn_vocabulary",
            ["--vocabulary_size=9", "--train_source=x,y", "--train_target=z"],
            2,
            "must name as many files; received 2 and 1",
        ),
        ("learn_vocabulary", ["--vocabulary_size=many"], 2, "--vocabulary_size=many"),
        ("train_translation", [], 2, "--workdir is required"),
        ("train_translation", ["--workdr=x"], 2, "Unknown command line flag 'workdr'"),
        ("train_translation", ["word"], 2, "unexpected argument: word"),
        ("train_translation", ["--activation=x"], 2, "--activation=x"),
        ("train_translation", ["--preset=x"], 2, "--preset=x"),
        (
            "learn_vocabulary",
            [
                "--vocabulary_size=9",
                "--synthetic",
                "--valid_source=x",
                "--valid_target=x",
            ],
            2,
            "--valid_source has no meaning beside --synthetic",
        ),
        (
            "learn_vocabulary",
            ["--vocabulary_size=9", "--synthetic", "--source_language=en"],
            2,
            "--source_language has no meaning without --tfds",
        ),
        ("translate", ["--workdir=/nowhere/run"], 1, "no such directory: /nowhere/run"),
        ("evaluate_translation", ["--workdir=/nowhere"], 1, "no such directory"),
        ("export_translation", ["--workdir=/nowhere"], 1, "no such directory"),
        ("average_checkpoints", ["--workdir=/nowhere"], 1, "no such directory"),
        ("score", ["--workdir=/nowhere"], 1, "no such directory"),
        ("export_ctranslate2", ["--workdir=/nowhere"], 1, "no such directory"),
        ("score", ["--format=nbest"], 2, "--format=nbest"),
    ],
)
def test_wrong_flags(run_binary, name, arguments, code, text):
    found_code, line = failure(run_binary, name, *arguments)
    assert found_code == code
    assert text in line


def test_the_texts_that_an_export_is_compared_on_are_missing(run_binary, tmp_path):
    for name in ("model.keras", "tokenizer", "config.json"):
        (tmp_path / name).mkdir()
    folders = [f"--workdir={tmp_path}", f"--export_dir={tmp_path / 'models'}"]
    missing = f"--input={tmp_path / 'missing.en'}"
    code, line = failure(run_binary, "export_translation", *folders, missing)
    assert code == 1
    assert "--input" in line and "no such file" in line and "missing.en" in line
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize("name", ["learn_vocabulary", "train_translation"])
def test_a_missing_file(run_binary, name, corpus, tmp_path):
    code, line = failure(
        run_binary,
        name,
        f"--workdir={tmp_path / 'run'}",
        "--vocabulary_size=50",
        f"--train_source={corpus[0]},{tmp_path / 'missing.en'}",
        f"--train_target={corpus[1]},{corpus[1]}",
    )
    assert (code, "no such file" in line, "missing.en" in line) == (1, True, True)
    assert "--train_source" in line


@pytest.mark.parametrize("name", ["learn_vocabulary", "train_translation"])
def test_an_unwritable_workdir(run_binary, name, corpus):
    # Below a regular file nobody can make a directory, root included.
    code, line = failure(
        run_binary,
        name,
        f"--workdir={corpus[0]}/run",
        "--vocabulary_size=50",
        f"--train_source={corpus[0]}",
        f"--train_target={corpus[1]}",
    )
    assert code == 1
    assert "--workdir: cannot make" in line


def test_unequal_files(run_binary, corpus, tmp_path):
    shorter = tmp_path / "shorter.de"
    shorter.write_text("eine Zeile\n", encoding="utf-8")
    code, line = failure(
        run_binary,
        "train_translation",
        f"--workdir={tmp_path / 'run'}",
        "--vocabulary_size=50",
        f"--train_source={corpus[0]}",
        f"--train_target={shorter}",
    )
    assert code == 2
    assert f"{corpus[0]} with 6 and {shorter} with 1 lines" in line


@pytest.mark.slow
def test_empty_files(run_binary, tmp_path):
    (tmp_path / "empty").touch()
    code, line = failure(
        run_binary,
        "learn_vocabulary",
        f"--workdir={tmp_path / 'run'}",
        "--vocabulary_size=50",
        f"--train_source={tmp_path / 'empty'}",
        f"--train_target={tmp_path / 'empty'}",
    )
    assert code == 2
    assert "there is no text to learn from" in line


@pytest.mark.slow
def test_evaluation_of_unequal_files(run_binary, workdir, corpus, tmp_path):
    (tmp_path / "short").write_text("eine Zeile\n", encoding="utf-8")
    code, line = failure(
        run_binary,
        "evaluate_translation",
        f"--workdir={workdir}",
        f"--source={corpus[0]}",
        f"--reference={tmp_path / 'short'}",
    )
    assert code == 2
    assert "with 6 and" in line and "with 1 lines" in line


def test_translate_from_stdin_to_stdout(run_binary, workdir):
    done = run_binary(
        "translate", f"--workdir={workdir}", stdin=b"the dog runs .\n\na cat sees .\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 3
    assert done.stdout.split(b"\n")[1] == b""


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_traceback(workdir):
    command = [sys.executable, "-m", "trainers.translate", f"--workdir={workdir}"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    process.stdout.close()
    _, said = process.communicate(b"the dog runs .\n" * 3, timeout=300)
    assert process.returncode == 1
    assert b"Traceback" not in said


def in_shell(command, **values):
    """Runs a line of bash; {translate} and {train} in it are binaries."""
    python = f"{shlex.quote(sys.executable)} -m trainers."
    values.update(translate=f"{python}translate", train=f"{python}train_translation")
    command = command.format(**values)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=pathlib.Path(__file__).resolve().parents[2],
        capture_output=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("{translate} --workdir {run} <&-", 1, "stdin is closed"),
        ("{translate} --workdir {run} </dev/null >&-", 1, "stdout is closed"),
        ("{translate} --workdir {run} <{out} --output {out}", 2, "is the input itself"),
        ("{translate} --workdir {run} --input {cut}", 1, "cut.gz is no whole gzip"),
        ("{translate} --workdir {run} --input {out} --output {run}", 1, "not a direct"),
        ("{translate} --workdir {run} --output {run}/no/x", 1, "no such directory"),
    ],
)
def test_a_wrong_input_or_output(command, code, text, tmp_path):
    # Answered before anything in the workdir is read, so an empty run is enough.
    (tmp_path / "config.json").touch()
    (tmp_path / "model.keras").touch()
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "out").write_text("precious\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"text")[:6])
    paths = {name: tmp_path / name for name in ("out",)}
    done = in_shell(command, run=tmp_path, cut=tmp_path / "cut.gz", **paths)
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, text in line) == (code, True), line
    assert (tmp_path / "out").read_text() == "precious\n"


@pytest.mark.slow
def test_a_pipe_as_input_and_closed_streams(workdir, corpus, tmp_path):
    command = "{translate} --workdir {run} --input <(cat {en}) --output {out} <&- >&-"
    done = in_shell(command, run=workdir, en=corpus[0], out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes().count(b"\n") == len(PAIRS)


def test_readable_takes_nothing_out_of_a_pipe():
    reading, writing = os.pipe()
    os.write(writing, b"first\n")
    os.close(writing)
    readable(f"/dev/fd/{reading}", "--input")
    assert os.read(reading, 99) == b"first\n"
    os.close(reading)


def test_help_whose_reader_goes_away():
    done = in_shell("({train} --help; echo $? >&2) | true")
    assert done.stderr.decode().splitlines() in (["0"], ["1"])
