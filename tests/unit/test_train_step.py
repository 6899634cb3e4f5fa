"""The benchmark of an update does the work that it says."""

import numpy as np
import pytest

from benchmarks.train_step import __main__ as main
from benchmarks.train_step import contenders
from benchmarks.train_step.work import WORK, Work

SMALL = Work(50, 1, 8, 2, 16, rows=3, length=5, steps=1)


def test_operations_are_those_of_the_matrix_products():
    width, inner, length = 8, 16, 5
    attention = 4 * width * width + 2 * length * width
    blocks = 3 * attention + 2 * (2 * width * inner)
    forward = 2 * 15 * (blocks + 50 * width)
    assert SMALL.operations == 3 * forward


def test_the_shapes_are_those_of_the_published_comparison():
    shapes = {name: (w.rows, w.length, w.vocabulary_size) for name, w in WORK.items()}
    assert shapes == {
        "tiny": (64, 24, 8_000),
        "small": (64, 24, 8_000),
        "base": (16, 32, 37_000),
    }


def test_a_batch_has_no_padding():
    batch = SMALL.batch()
    assert batch.shape == (3, 3, 5) and batch.min() >= 4 and batch.max() < 50


@pytest.mark.parametrize("name", [pytest.param("fit", marks=pytest.mark.slow), "loop"])
def test_a_contender_learns(name):
    train = contenders.CONTENDERS[name](SMALL)
    first = train(1)
    assert np.isfinite(first) and train(500) < first


def test_the_report_gives_ratios_of_minima(capsys):
    def measured(seconds):
        contender = main.Contender.__new__(main.Contender)
        contender.seconds, contender.processor_seconds = seconds, [2.0 * seconds[0]]
        contender.peak_mib, contender.loss = 100.0, 1.0
        return contender

    names = {"loop": [0.2, 0.5], "torch": [0.4, 0.3], main.MACHINE: [0.1]}
    main.report("tiny", {name: measured(times) for name, times in names.items()})
    text = capsys.readouterr().out
    assert "loop is 1.50 x as fast as torch, which takes 2.00 x its CPU time" in text
    assert f"{1536 / 0.2:13.0f}" in text
