"""Files are paired line by line, and are what they were when they were counted."""

import gzip

import pytest

from keras_attention.data import ParallelFiles, parallel_files, read_pairs


def write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel_files, "PAIRS_A_BLOCK", 2)
    sources = [
        write(tmp_path / "s1", b"a\n\nb\n \t\nc\n"),
        write(tmp_path / "s2", b"d\r\ne"),
    ]
    targets = [
        write(tmp_path / "t1.gz", b"x\ny\nz\nu\n \n"),
        write(tmp_path / "t2", b"v\nw\n"),
    ]
    return sources, targets


def test_files_hold_the_pairs_that_reading_them_gives(files):
    streamed, read = ParallelFiles(*files), read_pairs(*files)
    blocks = list(streamed.blocks())
    assert [s for block in blocks for s in block.sources] == read.sources
    assert [t for block in blocks for t in block.targets] == read.targets
    assert (
        [n for block in blocks for n in block.numbers] == read.numbers == [1, 3, 6, 7]
    )
    assert sum(block.empty for block in blocks) == read.counts["empty"] == 3
    assert len(streamed) == read.counts["read"] == 7
    assert list(streamed.lines()) == list(read.lines())
    assert max(len(block.sources) for block in blocks) == 2


def test_blank_blocks_do_not_end_a_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel_files, "PAIRS_A_BLOCK", 2)
    path = write(tmp_path / "s", b"\n\n\n\na\n")
    blocks = list(ParallelFiles(path, path).blocks())
    assert [block.sources for block in blocks] == [[], [], ["a"]]


def test_the_fingerprint_is_that_of_the_text(files, tmp_path):
    first = ParallelFiles(*files).sha256
    assert ParallelFiles(*files).sha256 == first
    packed = write(tmp_path / "s1.gz", files[0][0].read_bytes())
    assert ParallelFiles([packed, files[0][1]], files[1]).sha256 == first
    others = {
        ParallelFiles(*files[::-1]).sha256,
        ParallelFiles(*(side[::-1] for side in files)).sha256,
        ParallelFiles(*(side[:1] for side in files)).sha256,
    }
    write(files[0][0], b"a\n\nb\n \t\nC\n")
    others.add(ParallelFiles(*files).sha256)
    assert len(others | {first}) == 5


def test_unequal_files_are_an_error_before_anything_is_done(tmp_path):
    source, target = write(tmp_path / "s", b"a\nb\nc\n"), write(tmp_path / "t", b"x\ny")
    with pytest.raises(ValueError, match=r"/s with 3 and .*/t with 2 lines"):
        ParallelFiles([source], [target])
    with pytest.raises(ValueError, match="equal numbers of lines"):
        ParallelFiles([source, target], [target, source])
    with pytest.raises(ValueError, match="Cannot read the text file .*/none"):
        ParallelFiles(source, tmp_path / "none")


def test_numbers_of_files_must_agree(tmp_path):
    path = write(tmp_path / "s", b"a\n")
    for sources, targets in (([path], []), ([], []), ([path, path], [path])):
        with pytest.raises(ValueError, match="as many target files"):
            ParallelFiles(sources, targets)


@pytest.mark.parametrize("content", [b"a\n", b"a\nb\nc\nd\n", b"", b"a\nb\nc\n"])
@pytest.mark.parametrize("changed", ["s", "t", "both"])
def test_a_file_that_changes_is_noticed(tmp_path, monkeypatch, content, changed):
    monkeypatch.setattr(parallel_files, "PAIRS_A_BLOCK", 2)
    paths = [write(tmp_path / name, b"a\nb\n") for name in "st"]
    files = ParallelFiles(*paths)
    for path in paths:
        if changed in (path.name, "both"):
            write(path, content)
    with pytest.raises(ValueError, match="/s or .*/t changed while they were read"):
        list(files.blocks())


def test_text_that_is_replaced_by_as_many_lines_is_an_error(tmp_path):
    source, target = tmp_path / "en", tmp_path / "de"
    source.write_text("a dog\n")
    target.write_text("ein Hund\n")
    files = ParallelFiles(source, target)
    assert list(files.lines()) == ["a dog", "ein Hund"]
    source.write_text("a cat!\n")
    with pytest.raises(ValueError, match="changed while they were read"):
        list(files.blocks())
