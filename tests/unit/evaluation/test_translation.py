"""Sources and references are compared file by file, before a model is read."""

import pytest

from keras_attention.evaluation.translation import evaluate_translation


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
