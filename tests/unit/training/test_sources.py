import pytest

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.training.sources import load_corpora


def test_files_give_pairs_to_learn_from_and_to_validate_with(tiny_corpus):
    source, target = ([str(path)] for path in tiny_corpus)
    corpora = load_corpora(source, target)
    assert len(corpora.train) == 6 and corpora.valid is None
    corpora = load_corpora(source, target, source, target)
    lines = corpora.valid.sources + corpora.valid.targets
    assert lines == list(corpora.train.lines())


# Characters at which other readers end a line; a LF alone ends one here.
ODD = "un\r\ndeux\u2028bis\ntrois\x0bter\n\nquatre\x85fin\rsuite"
CLEAN = ["un", "deux bis", "trois ter", "quatre fin suite"]


@pytest.mark.parametrize("last", ["", "\n"])
def test_lines_of_both_corpora_and_of_the_vocabulary_are_the_same(tmp_path, last):
    source, target = tmp_path / "s", tmp_path / "t"
    source.write_bytes((ODD + last).encode())
    target.write_bytes(b"x\ny\nz\nv\nw" + last.encode())
    train, valid = load_corpora(*[[str(source)], [str(target)]] * 2)
    assert len(train) == valid.counts["read"] == 5
    assert valid.counts["empty"] == 1
    assert valid.targets == ["x", "y", "z", "w"]
    assert list(train.lines()) == valid.sources + valid.targets
    learned = SubwordTokenizer.learn_from_lines(CLEAN, 25)
    assert SubwordTokenizer.learn([source], 25).pieces == learned.pieces
    for lines in (valid.sources, [*train.lines()][:4]):
        ids = learned.tokenize(lines).to_list()
        assert ids == learned.tokenize(CLEAN).to_list()


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({}, "none of them"),
        ({"tfds": "a", "synthetic": True}, "tfds; synthetic"),
        ({"train_source": ["a"], "tfds": "a"}, "train_source and train_target; tfds"),
        ({"tfds": "a", "trees": {"synthetic": True}}, "tfds; trees"),
    ],
)
def test_exactly_one_kind_of_source(arguments, received):
    with pytest.raises(ValueError, match=f"exactly one of .*Received: {received}"):
        load_corpora(**arguments)


def test_one_side_without_the_other(tiny_corpus):
    source, target = ([str(path)] for path in tiny_corpus)
    with pytest.raises(ValueError, match="as many target files"):
        load_corpora(train_source=source)
    with pytest.raises(ValueError, match="as many target files"):
        load_corpora(source, target, valid_source=source)
