import pytest

from keras_attention.training.sources import load_corpora


def test_files_give_pairs_to_learn_from_and_to_validate_with(tiny_corpus):
    source, target = ([str(path)] for path in tiny_corpus)
    corpora = load_corpora(source, target)
    assert len(corpora.train) == 6 and corpora.valid is None
    corpora = load_corpora(source, target, source, target)
    lines = corpora.valid.sources + corpora.valid.targets
    assert lines == list(corpora.train.lines())


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
