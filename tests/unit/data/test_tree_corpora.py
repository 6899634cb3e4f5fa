"""Corpora of trees: in memory, in files, weighted, and those of the grammar."""

import gzip

import numpy as np
import pytest

from keras_attention.data.linearization import delinearize
from keras_attention.data.tree_corpora import (
    SYNTHETIC_TREES,
    TreeCorpus,
    TreeFiles,
    load_trees,
    synthetic_trees,
    tree_pair,
)
from keras_attention.data.trees import parse_trees

GOLD = "( (S (NP-SBJ (NNS dogs)) (VP (VBP bark))) )\n( (NP (-NONE- *)) )\n(X (NN a))\n"
EXTRA = "(TOP (S (VP (VB go))))\n"


@pytest.fixture
def files(tmp_path):
    gold, extra = tmp_path / "gold", tmp_path / "extra.gz"
    gold.write_text(GOLD)
    extra.write_bytes(gzip.compress(EXTRA.encode()))
    return gold, extra


def sides(corpus):
    blocks = list(corpus.blocks())
    return [
        [line for block in blocks for line in getattr(block, side)]
        for side in ("sources", "targets", "numbers")
    ]


def test_trees_in_files_and_in_memory_are_one_corpus(files):
    gold, extra = files
    in_files = TreeFiles([gold], [extra])
    trees = list(parse_trees((GOLD + EXTRA).splitlines()))
    in_memory = TreeCorpus.from_trees(trees)
    assert sides(in_files) == sides(in_memory)
    assert sides(in_files)[2] == [1, 3, 4]
    assert in_files.symbols == in_memory.symbols
    assert len(in_files) == 4 and len(in_memory) == 3
    assert list(in_files.lines()) == list(in_memory.lines()) == ["dogs bark", "a", "go"]
    assert set(in_files.symbols) >= {"(TOP", ")TOP", "NNS", "(NP"}
    assert not any("-" in symbol for symbol in in_files.symbols)


def test_tags_or_none(files):
    symbols = TreeFiles([files[0]], tags=False).symbols
    assert [s for s in symbols if s[0] not in "()"] == ["XX"]
    assert TreeFiles([files[0]]).sha256 != TreeFiles([files[0]], tags=False).sha256
    text = sides(TreeFiles([files[0]], tags=False))[1][0]
    assert text == "(TOP (S (NP XX )NP (VP XX )VP )S )TOP"


def test_weights_are_those_of_the_extra_trees(files):
    gold, extra = files
    numbers = np.array([1, 3, 4])
    weights = TreeFiles([gold], [extra], extra_weight=0.25).weights(numbers)
    assert weights.dtype == np.float32 and weights.tolist() == [1.0, 1.0, 0.25]
    assert TreeFiles([gold], [extra]).weights(numbers) is None
    assert TreeFiles([gold], extra_weight=0.5).weights(numbers) is None
    for weight in (0.0, -1.0, float("inf")):
        with pytest.raises(ValueError, match="`extra_weight` must be a finite number"):
            TreeFiles([gold], [extra], extra_weight=weight)


def test_a_file_that_changes_is_refused(files):
    corpus = TreeFiles(files)
    files[0].write_text(GOLD + EXTRA)
    with pytest.raises(ValueError, match="gold.*: a file changed while it was read"):
        list(corpus.blocks())


def test_nothing_to_learn_from(tmp_path):
    path = tmp_path / "traces"
    path.write_text("(TOP (NP (-NONE- *)))\n")
    with pytest.raises(ValueError, match="traces without a tree that has a word"):
        TreeFiles([path])
    with pytest.raises(ValueError, match="holds no pair"):
        TreeCorpus.from_trees([])


def test_the_trees_of_the_grammar():
    trees = synthetic_trees("test")
    assert len(trees) == SYNTHETIC_TREES["test"]
    for tree in trees[:100]:
        source, target = tree_pair(tree)
        assert delinearize(target.split(), source.split()) == tree


def test_a_run_reads_files(files):
    gold, extra = map(str, files)
    train, valid = load_trees([gold], [extra], [extra], extra_weight=2.0, tags=False)
    assert len(train) == 4 and valid.sources == ["go"]
    assert train.weights(np.array([4])).tolist() == [2.0]
    assert valid.targets == ["(TOP (S (VP XX )VP )S )TOP"]
    assert load_trees([gold])[1] is None


def test_a_run_reads_the_grammar(monkeypatch):
    monkeypatch.setitem(SYNTHETIC_TREES, "train", 5)
    monkeypatch.setitem(SYNTHETIC_TREES, "valid", 3)
    train, valid = load_trees(synthetic=True)
    assert (len(train), len(valid)) == (5, 3)
    assert train.symbols and train.lines


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"train": ["a"], "synthetic": True},
        {"synthetic": True, "valid": ["a"]},
        {"synthetic": True, "extra": ["a"]},
    ],
)
def test_exactly_one_kind_of_trees(arguments):
    with pytest.raises(ValueError, match="Expected files of trees to learn from, or"):
        load_trees(**arguments)
