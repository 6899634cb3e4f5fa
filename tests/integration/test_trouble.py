"""What ends a run before its time: a full disk, bad numbers, another run, a change."""

import contextlib
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest

from keras_attention.data.corpora import ParallelCorpus
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.training import loop as loops
from keras_attention.training.averaging import average_workdir
from keras_attention.training.checkpoint_files import list_checkpoints
from keras_attention.training.lock import locked
from keras_attention.training.progress import read_metrics
from tests.integration.small_runs import (
    SMALL,
    Signal,
    assert_same_run,
    copy_corpora,
    small_run,
)


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """A run that a signal stopped at update 5 of 14."""
    workdir = tmp_path_factory.mktemp("part")
    small_run(workdir, callbacks=[Signal(signal.SIGTERM, 5)])
    return workdir


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a disk of 1 MiB; skips where it may not be mounted."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(directory)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(directory, spare=0):
    """Leaves at most some bytes of a disk free."""
    with contextlib.suppress(OSError), open(directory / "filler", "wb") as stream:
        while shutil.disk_usage(directory).free > spare:
            stream.write(bytes(1_024))
            stream.flush()


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 60_000])
def test_a_full_disk_ends_the_run_which_goes_on_once_there_is_room(
    part, small_disk, tmp_path, spare
):
    # 60 kB are enough for the history, and not for a checkpoint beside it.
    whole = shutil.copytree(part, tmp_path / "whole")
    workdir = shutil.copytree(part, small_disk / "run")
    before = {p.name for p in list_checkpoints(workdir / "checkpoints")}
    fill(small_disk, spare)
    expected = f"Cannot write to {workdir}: No space left on device. .* goes on"
    with pytest.raises(OSError, match=expected) as error:
        small_run(workdir)
    assert "\n" not in str(error.value)
    kept = {path.name for path in (workdir / "checkpoints").iterdir()}
    assert before <= kept and not any(name.startswith(".tmp") for name in kept)
    (small_disk / "filler").unlink()
    small_run(workdir)
    small_run(whole)
    assert_same_run(whole, workdir)


def test_a_loss_that_is_no_number_names_the_lines_of_the_first_bad_batch(
    tmp_path, monkeypatch
):
    (train, valid), update = copy_corpora(), loops.Loop._update
    sources = ["", *train.sources[:20], " ", *train.sources[20:]]
    targets = ["x", *train.targets[:20], "y", *train.targets[20:]]
    gapped = ParallelCorpus.from_pairs(sources, targets)
    batches = []

    def poisoned(self, inputs, label_ids, counts):
        if self.state.step == 9:  # found at the save after update 12
            weight = self.parts.model.trainable_variables[0]
            weight.assign(np.full(weight.shape, np.nan))
        batches.append(inputs["source_ids"].numpy())
        return update(self, inputs, label_ids, counts)

    monkeypatch.setattr(loops.Loop, "_update", poisoned)
    options = {"log_steps": 12, "checkpoint_steps": 4, "validation_steps": 12}
    with pytest.raises(FloatingPointError) as error:
        small_run(tmp_path, corpora=(gapped, valid), **options)
    text = str(error.value)
    assert (
        "since update 10 " in text and f"{tmp_path / 'checkpoints' / 'step-8'}" in text
    )
    assert len(batches) == 12, "it is found at the next save"
    record = read_metrics(tmp_path / "metrics.jsonl")[-1]
    assert (record["kind"], record["step"]) == ("not_finite", 10)
    assert f"the pairs {', '.join(map(str, record['pairs'][:20]))}" in text
    assert ids_of(tmp_path, sources, record["pairs"]) == rows_of(batches[9])


def ids_of(workdir, sources, numbers):
    tokenizer = SubwordTokenizer.load(workdir / "tokenizer")
    lines = [sources[number - 1] for number in numbers]
    return sorted(map(tuple, tokenizer.tokenize(lines).to_list()))


def rows_of(batch):
    return sorted(tuple(row[row > 3].tolist()) for row in batch if row.any())


def test_two_processes_do_not_train_in_one_workdir(part):
    with locked(part):
        with pytest.raises(BlockingIOError, match="in use by process"):
            small_run(part)
        average_workdir(part)  # a reader may
    (part / "model.keras").unlink()


def changed(corpora, **sides):
    train, valid = corpora
    parts = {"sources": list(train.sources), "targets": list(train.targets), **sides}
    return ParallelCorpus.from_pairs(parts["sources"], parts["targets"]), valid


OTHERS = {
    "seed": ("training", {"seed": 2}, r"training\.seed: 1 in .*, 2 asked for"),
    "policy": (
        "training",
        {"dtype_policy": "mixed_bfloat16"},
        r"training\.dtype_policy: 'float32' in .*, 'mixed_bfloat16' asked",
    ),
    "rate": ("training", {"warmup_steps": 9}, r"warmup_steps: 8 in .*, 9 asked for"),
    "line": (
        "corpora",
        {"sources": {3: "cd cd"}},
        "pairs are not those of the workdir",
    ),
    "more": ("corpora", {"more": True}, "pairs are not those of the workdir"),
    "side": ("corpora", {"target": True}, "pairs are not those of the workdir"),
    "valid": ("corpora", {"valid": True}, "validation pairs are not those of the"),
    "size": (
        "transformer",
        {"vocabulary_size": 27},
        "vocabulary_size: 28 in the workdir, 27",
    ),
    "dropout": (
        "transformer",
        {"dropout_rate": 0.2},
        r"dropout_rate: 0\.3 in .*, 0\.2",
    ),
}


@pytest.mark.parametrize("change", OTHERS)
def test_a_run_keeps_its_configuration_corpus_and_vocabulary(part, change, monkeypatch):
    kind, values, expected = OTHERS[change]
    before = {p.name for p in list_checkpoints(part / "checkpoints")}
    corpora, training = copy_corpora(), {}
    if kind == "training":
        training = values
    elif kind == "transformer":
        monkeypatch.setitem(SMALL, "transformer", {**SMALL["transformer"], **values})
    else:
        sides = {s: list(getattr(corpora[0], s)) for s in ("sources", "targets")}
        for place, line in values.get("sources", {}).items():
            sides["sources"][place] = line
        if "more" in values:
            sides = {name: lines + ["ab ef"] for name, lines in sides.items()}
        if "target" in values:
            sides["targets"] = [f"{line} ab" for line in sides["targets"]]
        corpora = changed(corpora, **sides)
        if "valid" in values:
            corpora = corpora[0], copy_corpora()[0]
    with pytest.raises(ValueError, match=expected):
        small_run(part, corpora=corpora, **training)
    assert {p.name for p in list_checkpoints(part / "checkpoints")} == before


def test_another_tokenizer_is_refused(part, tmp_path):
    workdir = shutil.copytree(part, tmp_path / "run")
    shutil.rmtree(workdir / "tokenizer")
    lines = [line.replace("ef", "eg") for line in copy_corpora()[0].lines()]
    other = SubwordTokenizer.learn_from_lines(lines, 28)
    other.save(workdir / "tokenizer")
    with pytest.raises(ValueError, match="tokenizer is not the one the run began with"):
        small_run(workdir)
