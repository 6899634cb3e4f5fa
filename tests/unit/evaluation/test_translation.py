"""Sources and references are compared file by file, before a model is read."""

import json

import pytest

from keras_attention.evaluation.translation import (
    _cost,
    _target_language,
    evaluate_translation,
)


def text_files(folder, side, *counts):
    paths = [folder / f"{number}.{side}" for number in range(len(counts))]
    for path, count in zip(paths, counts, strict=True):
        path.write_text("a line\n" * count, encoding="utf-8")
    return paths


def test_files_that_shift_against_each_other_are_refused(tmp_path):
    sources = text_files(tmp_path, "en", 3, 2, 3)
    references = text_files(tmp_path, "de", 3, 3, 2)  # equal sums
    expected = r"Received: .*1\.en with 2 and .*1\.de with 3 lines"
    with pytest.raises(ValueError, match=expected):
        evaluate_translation(tmp_path, sources, references)


def test_as_many_references_as_sources(tmp_path):
    sources, references = (
        text_files(tmp_path, "en", 2),
        text_files(tmp_path, "de", 1, 1),
    )
    with pytest.raises(ValueError, match="Received: 1 source and 2 reference files"):
        evaluate_translation(tmp_path, sources, references)


def test_files_without_a_line(tmp_path):
    sides = [text_files(tmp_path, side, 0) for side in ("en", "de")]
    with pytest.raises(ValueError, match=r"Nothing to score.*Received: .*0\.en"):
        evaluate_translation(tmp_path, *sides)


def a_run(folder):
    """A workdir with what is read before its model is."""
    data = {"update_flops": 5.0, "sources": None}
    config = {"devices": 2, "data": data, "decoding": {}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    lines = [
        '{"kind": "train", "step": 3, "minutes": 0.5}',
        '{"kind": "end", "step": 3}',
        '{"kind": "trai',  # being written
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder, *(text_files(folder, side, 1) for side in ("en", "de"))


def test_another_language_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match=r"`target_language`.*de, en, fr.*'cs'"):
        evaluate_translation(*a_run(tmp_path), target_language="cs")


def test_a_wrong_rate_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match=r"`sustained_flops` must be positive.*-1"):
        evaluate_translation(*a_run(tmp_path), sustained_flops=-1.0)


@pytest.mark.parametrize(
    ("wanted", "sources", "expected"),
    [
        (None, None, "de"),
        (None, {"tfds": "a", "target_language": "fr"}, "fr"),
        (None, {"tfds": "a", "target_language": "hi"}, "de"),
        ("en", {"tfds": "a", "target_language": "fr"}, "en"),
    ],
)
def test_the_language_is_that_asked_for_or_of_the_run(wanted, sources, expected):
    assert _target_language(wanted, {"data": {"sources": sources}}) == expected


def test_the_cost_is_of_the_newest_record_with_a_time(tmp_path):
    workdir, *_ = a_run(tmp_path)
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    cost = _cost(workdir, config, None)
    expected = {"seconds": 30.0, "devices": 2, "updates": 3, "counted_flops": 15.0}
    assert cost == expected
    assert _cost(workdir, {"data": {}}, None) is None  # of an older version
    (workdir / "metrics.jsonl").unlink()
    assert _cost(workdir, config, None) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("devices", "2"),
        ("devices", True),
        ("data", {"update_flops": None}),
        ("data", {}),
    ],
)
def test_no_cost_comes_of_what_is_no_number(tmp_path, name, value):
    workdir, *_ = a_run(tmp_path)
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    assert _cost(workdir, config, None) is not None
    assert _cost(workdir, {**config, name: value}, None) is None
    newest = '{"step": 9, "minutes": "1"}\n[1]\n{"minutes": 2}\n' + "[" * 99_999
    with open(workdir / "metrics.jsonl", "a", encoding="utf-8") as stream:
        stream.write(newest)
    assert _cost(workdir, config, None)["updates"] == 3  # of the newest that has both
