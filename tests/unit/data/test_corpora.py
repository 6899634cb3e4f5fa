"""A pair lives or dies as a pair."""

import gzip

import pytest

from keras_attention.data import ParallelCorpus, pairs_from_tfds, read_pairs


def write(path, content):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(content)
    return path


def test_an_empty_side_drops_the_pair(tmp_path):
    source = write(tmp_path / "s", b"a\n\nb\n \t\nc\n")
    target = write(tmp_path / "t.gz", b"x\ny\nz\nu\n \n")
    corpus = read_pairs(source, [target])
    assert (corpus.sources, corpus.targets) == (["a", "b"], ["x", "z"])
    assert corpus.counts == {"read": 5, "empty": 3}
    assert len(corpus) == 2
    assert corpus.numbers == [1, 3]
    assert list(corpus.lines()) == ["a", "b", "x", "z"]


def test_several_files_are_read_in_order(tmp_path):
    sources = [write(tmp_path / "s1", b"a\n"), write(tmp_path / "s2", b"b\nc")]
    targets = [write(tmp_path / "t1", b"x\n"), write(tmp_path / "t2", b"y\nz\n")]
    corpus = read_pairs(sources, targets)
    assert (corpus.sources, corpus.targets) == (["a", "b", "c"], ["x", "y", "z"])


def test_unequal_files_are_an_error_that_names_both(tmp_path):
    source, target = write(tmp_path / "s", b"a\nb\nc\n"), write(tmp_path / "t", b"x\ny")
    with pytest.raises(ValueError, match=r"/s with 3 and .*/t with 2 lines"):
        read_pairs([source], [target])
    # equal sums do not hide unequal files
    with pytest.raises(ValueError, match="equal numbers of lines"):
        read_pairs([source, target], [target, source])


def test_numbers_of_files_must_agree(tmp_path):
    path = write(tmp_path / "s", b"a\n")
    for sources, targets in (([path], []), ([], []), ([path, path], [path])):
        with pytest.raises(ValueError, match="as many target files"):
            read_pairs(sources, targets)


def test_nothing_left_is_an_error(tmp_path):
    source, target = write(tmp_path / "s", b"a\n\n"), write(tmp_path / "t", b" \nx\n")
    with pytest.raises(ValueError, match=r"/s, .*/t: .*no pair with text.*'empty': 2"):
        read_pairs(source, target)
    empty = write(tmp_path / "e", b"")
    with pytest.raises(ValueError, match="no pair with text"):
        read_pairs(empty, empty)


def test_sides_must_be_equally_long():
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        ParallelCorpus.from_pairs(["a", "b"], ["x"])
    with pytest.raises(ValueError, match="`numbers` must .* 1 numbers for 2 pairs"):
        ParallelCorpus(["a", "b"], ["x", "y"], numbers=[1])


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "en.train.txt", b"a dog\na cat\n\n")
    write(tmp_path / "de.train.txt", "ein Hund\neine Kätze\nx\n".encode())
    return tmp_path


def test_tfds_folder(folder):
    corpus = pairs_from_tfds("translate_folder", "train", "en", "de", data_dir=folder)
    assert corpus.sources == ["a dog", "a cat"]
    assert corpus.targets == ["ein Hund", "eine Kätze"]
    turned = pairs_from_tfds("translate_folder", source_language="de", data_dir=folder)
    assert (turned.sources, turned.targets) == (corpus.targets, corpus.sources)
    default = pairs_from_tfds("translate_folder", data_dir=folder)
    assert {*default.sources, *default.targets} == {*corpus.lines()}


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"split": "test"}, "Cannot read split 'test'.*test"),
        ({"source_language": "fr"}, "languages among.*'fr'"),
        ({"source_language": "en", "target_language": "en"}, "two different"),
    ],
)
def test_tfds_errors(folder, arguments, words):
    with pytest.raises(ValueError, match=words):
        pairs_from_tfds("translate_folder", data_dir=folder, **arguments)


def test_tfds_unknown_name(tmp_path):
    with pytest.raises(ValueError, match="Cannot read .*'no_such_corpus'") as error:
        pairs_from_tfds("no_such_corpus", data_dir=tmp_path)
    assert "\n" not in str(error.value)
