"""The benchmark of the search does the work that it says."""

import json

import numpy as np
import pytest

from benchmarks.decode import __main__ as main
from benchmarks.decode import contenders
from benchmarks.decode.work import WORK, Task, Work

SMALL = Work(60, 2, 32, 2, 64, length=5, sentences=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("ctranslate2")
    home = tmp_path_factory.mktemp("decode")
    contenders.prepare(SMALL, home)
    return home


def test_the_shapes_are_those_of_the_published_comparison():
    shapes = {name: (w.vocabulary_size, w.length) for name, w in WORK.items()}
    assert shapes == {"tiny": (8_000, 20), "base": (37_000, 24)}


def test_a_source_is_all_words():
    sources = SMALL.sources(3)
    assert sources.shape == (3, 5) and sources.min() >= 4 and sources.max() < 60


def test_short_batches_are_repeated():
    assert [SMALL.calls(rows) for rows in (1, 3, 4, 128)] == [4, 1, 1, 1]
    assert Task(beams=4, rows=2, length=5, calls=3).tokens == 30


@pytest.mark.parametrize("beams", [1, 4])
def test_contenders_with_the_same_weights_find_the_same(folder, beams):
    task = Task(beams, rows=3, length=7)
    found = {
        name: contenders.CONTENDERS[name](SMALL, folder, 1)(task)
        for name in main.SAME_WEIGHTS
    }
    ours = np.array(found["own"])
    assert ours.shape == (3, 7) and ours.min() >= 4
    assert len(np.unique(ours)) > 3  # it says something
    assert found["ctranslate2"] == found["own"]


def test_hugging_face_writes_as_many_tokens():
    pytest.importorskip("transformers")
    decode = contenders.hugging_face(SMALL, None, 1)
    for beams in (1, 4):
        assert np.shape(decode(Task(beams, rows=3, length=7))) == (3, 7)


def test_an_answer_has_the_figures_of_all_calls():
    asked = []
    task = Task(beams=1, rows=2, length=5, calls=3)
    answer = contenders.answer(lambda task: asked.append(task) or [[7]], task)
    assert asked == [task] * 3 and answer["hypotheses"] == [[7]]
    assert answer["seconds"] > 0 and answer["peak_mib"] > 10


def test_the_peak_is_that_of_the_task():
    def large(task):
        return np.ones(40 * 2**20 // 8).tolist()[:1]

    task = Task(beams=1, rows=1, length=1)
    before = contenders.answer(lambda task: [], task)["peak_mib"]
    assert contenders.answer(large, task)["peak_mib"] > before + 30
    assert contenders.answer(lambda task: [], task)["peak_mib"] < before + 30


def test_a_task_survives_the_pipe():
    task = Task(beams=4, rows=8, length=100, calls=2)
    assert Task(**json.loads(contenders.encode(task))) == task


def test_the_report_gives_ratios_of_minima(capsys):
    def answers(seconds, hypotheses):
        return [
            {
                "seconds": one,
                "processor_seconds": 2 * one,
                "peak_mib": 100.0,
                "hypotheses": hypotheses,
            }
            for one in seconds
        ]

    found = {
        "own": answers([0.4, 1.0], [[5], [6]]),
        "ctranslate2": answers([0.9, 0.6], [[5], [7]]),
    }
    main.report("tiny", Task(beams=4, rows=2, length=20, calls=2), found)
    text = capsys.readouterr().out
    assert "own is 1.50 x as fast as ctranslate2, which takes 1.50 x its CPU" in text
    assert f"{0.2:6.3f} {0.35:9.3f} {0.4:7.3f} {2 * 20 * 2 / 0.4:13.0f}" in text
    assert "equal hypotheses: 0.500" in text


class Recorder:
    """A contender that writes its tasks down and takes a second for ten steps."""

    def __init__(self):
        self.tasks = []

    def work(self, task):
        self.tasks.append(task)
        seconds = task.length / 10
        return {"seconds": seconds, "processor_seconds": seconds, "peak_mib": 1.0}


def test_every_round_counts_but_the_first():
    recorder, task = Recorder(), Task(beams=1, rows=2, length=5, calls=3)
    answers = main.alternate({"own": recorder}, task, rounds=2)
    assert recorder.tasks == [Task(1, 2, 5, calls=1), task, task]
    assert len(answers["own"]) == 2


def test_positions_compare_400_steps_with_100(capsys):
    flags = main.parse(["--positions", "--beams", "4", "--rounds", "1"])
    assert flags.shapes == ["tiny"] and flags.batches == [1, 8]
    recorder = Recorder()
    main.compare_positions("tiny", {"own": recorder}, flags)
    assert {(task.rows, task.length) for task in recorder.tasks} == {
        *((1, 100), (1, 400), (8, 100), (8, 400))
    }
    text = capsys.readouterr().out
    assert "10.000 s for 100 steps,  40.000 s for 400: 4.00 x" in text


def test_the_usual_measurement_is_that_of_all_shapes():
    flags = main.parse([])
    assert flags.shapes == list(WORK) and flags.batches == [1, 8, 32, 128]
    assert flags.contenders == list(contenders.CONTENDERS) and flags.threads == 2


def test_processes_answer_on_their_pipes(tmp_path, monkeypatch):
    program = (
        "import sys\n"
        "for line in sys.stdin:\n"
        "    if line == 'stop\\n':\n"
        "        sys.exit(3)\n"
        "    print(line, end='', flush=True)\n"
    )
    (tmp_path / "echo.py").write_text(program)
    monkeypatch.setattr(main, "MODULE", "echo")
    monkeypatch.setattr(main, "ROOT", tmp_path)
    task = Task(beams=1, rows=2, length=3)
    contender = main.Contender("own", "tiny", str(tmp_path), 1)
    assert contender.work(task) == {"beams": 1, "rows": 2, "length": 3, "calls": 1}
    monkeypatch.setattr(main, "encode", lambda task: "stop\n")
    with pytest.raises(SystemExit, match="own ended with 3"):
        contender.work(task)
    contender.close()
