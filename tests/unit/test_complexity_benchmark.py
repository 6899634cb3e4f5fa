"""The measurement of Table 1: every layer runs, figures come from what was measured."""

import argparse
import json

import pytest

from benchmarks import complexity


def arguments_of(**others):
    values = dict(shortest=8, longest=16, model_dim=8, window=2, chunk_length=4)
    values |= dict(repeats=1, patience=60, fitted=2)
    return argparse.Namespace(**(values | others))


@pytest.mark.slow
@pytest.mark.parametrize("kind", complexity.KINDS)
def test_every_layer_is_measured(kind, capsys):
    complexity.measure(kind, arguments_of())
    points = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [point["length"] for point in points] == [8, 16]
    assert all(point["seconds"] > 0 and point["bytes"] >= 0 for point in points)


def test_what_takes_too_long_is_not_doubled(capsys):
    complexity.measure("convolutional", arguments_of(patience=0))
    assert len(capsys.readouterr().out.splitlines()) == 1


def points_of(exponent):
    return [
        {"length": n, "seconds": 1e-3 * (n / 8) ** exponent, "bytes": 1_000_000 * n}
        for n in (8, 16, 32)
    ]


def test_the_table_and_the_plot(capsys, tmp_path):
    results = {"lstm": points_of(1), "self_attention": points_of(2)[:2]}
    complexity.print_table(results, arguments_of())
    *_, first, second = capsys.readouterr().out.splitlines()
    assert first == "| lstm | 1.0 / 8 | 2.0 / 16 | 4.0 / 32 | n^1.00 | n^1.00 |"
    assert second == "| self_attention | 1.0 / 8 | 4.0 / 16 |  | n^2.00 | n^1.00 |"
    complexity.draw(
        {kind: points_of(2) for kind in complexity.KINDS}, tmp_path / "x.png"
    )
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"
