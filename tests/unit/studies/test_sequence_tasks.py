"""SCAN and the symbol tasks: what is read, what is held out, what is counted."""

import gzip
import json
import sys

import pytest

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.studies import sequence_tasks
from keras_attention.studies.sequence_tasks import (
    LONGER,
    MAX_LENGTH,
    PIECES,
    SCAN_TASKS,
    SYMBOL_TASKS,
    TRAINED,
    read_scan,
    run_task,
    sequence_accuracy,
    task_pairs,
)

LINES = "IN: jump OUT: I_JUMP\nIN: walk twice OUT: I_WALK I_WALK\n"
PAIRS = [("jump", "I_JUMP"), ("walk twice", "I_WALK I_WALK")]


@pytest.fixture
def scan(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"tasks_{part}_length.txt").write_text(LINES)
        packed = tmp_path / f"tasks_{part}_addprim_jump.txt.gz"
        packed.write_bytes(gzip.compress(LINES.encode()))
    return tmp_path


def test_scan_is_read_plain_and_packed(scan):
    joined = [(command, actions.replace("_", "")) for command, actions in PAIRS]
    assert task_pairs("scan-length", scan) == (joined, {"test": joined})
    assert task_pairs("scan-jump", scan) == (joined, {"test": joined})


@pytest.mark.parametrize("last", ["", "\n"])
def test_only_line_feeds_end_a_pair(tmp_path, last):
    text = "IN: a\x0bb OUT: A\u2028B\r\nIN: c OUT: C\x85D"
    (tmp_path / "x").write_bytes((text + last).encode())
    assert read_scan(tmp_path / "x") == [("a\x0bb", "A\u2028B"), ("c", "C\x85D")]


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("IN: a OUT: A\nIN: b\n", "line 2: expected `IN: .*Received: 'IN: b'"),
        ("in: a OUT: A\n", "line 1: expected"),
        ("IN: a OUT: \n", "line 1: expected"),
        ("", "expected pairs.*Received: an empty file"),
    ],
)
def test_what_is_no_scan(tmp_path, text, pattern):
    (tmp_path / "x").write_text(text)
    with pytest.raises(ValueError, match=pattern):
        read_scan(tmp_path / "x")


@pytest.mark.parametrize("name", sorted(SCAN_TASKS))
def test_the_published_sizes(name, shared_data):
    sizes = {"scan-simple": (16_728, 4_182), "scan-length": (16_990, 3_920)}
    train, tests = task_pairs(name, shared_data / "tasks" / "scan")
    assert (len(train), len(tests["test"])) == sizes.get(name, (14_670, 7_706))
    texts = [side for pair in train for side in pair]
    tokenizer = SubwordTokenizer.learn_from_lines(texts, PIECES["scan"])
    actions = [pair[1] for pair in train + tests["test"]]
    lengths = tokenizer.tokenize(actions).row_lengths().numpy()
    assert lengths.tolist() == [len(text.split()) for text in actions]
    assert lengths.max() < MAX_LENGTH  # none is dropped or cut


def test_missing_files_of_scan(tmp_path):
    pattern = "needs tasks_train_simple.txt or .*Received: data=.*which has neither"
    with pytest.raises(ValueError, match=pattern):
        task_pairs("scan-simple", tmp_path)


@pytest.mark.parametrize("name", sorted(SYMBOL_TASKS))
def test_longer_strings_are_longer_than_any_in_training(name):
    train, tests = task_pairs(name)
    lengths = {len(source.split()) for source, _ in train}
    assert (min(lengths), max(lengths)) == TRAINED
    assert len(tests) == 1 + len(LONGER)
    for (low, high), pairs in zip((TRAINED, *LONGER), tests.values(), strict=True):
        assert {low <= len(source.split()) <= high for source, _ in pairs} == {True}
        assert not set(pairs) & set(train)
        for source, target in pairs:
            symbols = source.split()
            expected = {"copy": symbols, "reverse": symbols[::-1]}
            assert target.split() == expected.get(name, sorted(symbols))


def test_an_output_counts_as_a_whole():
    assert sequence_accuracy(["a b", "a", ""], ["a b", "b", ""]) == pytest.approx(2 / 3)
    for sides in ((["a"], []), ([], [])):
        with pytest.raises(ValueError, match="at least one. Received"):
            sequence_accuracy(*sides)


def test_what_is_no_task():
    with pytest.raises(ValueError, match="task.*copy.*Received: task='add'"):
        task_pairs("add")
    with pytest.raises(ValueError, match="positions.*Received: positions='none'"):
        run_task("copy", "/nowhere", positions="none")


def test_a_missing_folder_is_one_line(monkeypatch, capsys, tmp_path):
    arguments = ["scan-jump", f"--data={tmp_path}", f"--workdir={tmp_path / 'w'}"]
    monkeypatch.setattr(sys, "argv", ["sequence_tasks", *arguments])
    with pytest.raises(SystemExit) as ended:
        sequence_tasks.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "w").exists()


@pytest.mark.slow
@pytest.mark.parametrize("positions", sequence_tasks.POSITIONS)
def test_a_run_writes_what_it_says(positions, scan, tmp_path, monkeypatch):
    monkeypatch.setattr(sequence_tasks, "PIECES", {"scan": 30})
    report = run_task(
        "scan-length",
        tmp_path / "run",
        positions,
        scan,
        training={"max_steps": 3, "checkpoint_steps": 3},
        transformer={"num_layers": 1, "model_dim": 16, "num_heads": 2},
    )
    written = (tmp_path / "run" / sequence_tasks.REPORT).read_text()
    assert json.loads(written) == report
    assert report["steps"] == 3 and 0 <= report["accuracy"]["test"] <= 1
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["transformer"]["positions"] == positions
