"""Treebank trees as parsers are trained on them."""

import gzip

import pytest

from keras_attention.data.normalization import normalize_tree, sentence
from keras_attention.data.trees import Tree, parse_trees


def normalized(text):
    (tree,) = parse_trees([text])
    return str(normalize_tree(tree))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # function tags and numbers, but not labels that begin with a dash
        (
            "( (S (NP-SBJ-1 (NN a)) (VP=2 (VB=3 b) (-LRB- -LRB-))) )",
            "(TOP (S (NP (NN a)) (VP (VB b) (-LRB- -LRB-))))",
        ),
        ("(TOP (X (PRP$ my) (. -)))", "(TOP (X (PRP$ my) (. -)))"),
        # traces take with them what held nothing else
        (
            "(S (NP (NP (-NONE- *T*))) (VP (VB go) (S (NP (-NONE- *)))))",
            "(TOP (S (VP (VB go))))",
        ),
        ("(S (CODE <TURN>) (NN a))", "(TOP (S (NN a)))"),
        # roots
        ("(ROOT (S (NN a)))", "(TOP (S (NN a)))"),
        ("(S1 (S (NN a)))", "(TOP (S (NN a)))"),
        ("(S (NN a))", "(TOP (S (NN a)))"),
        ("(NN a)", "(TOP (NN a))"),
        ("(TOP a)", "(TOP (TOP a))"),
        ("( (S (NN a)) (. .) )", "(TOP (S (NN a)) (. .))"),
        # constituents without a label
        ("(TOP (S ( (NN a) (NN b)) c))", "(TOP (S (NN a) (NN b) c))"),
        # words stay, whatever they look like
        ("(TOP (NN-1 a-1=2))", "(TOP (NN a-1=2))"),
    ],
)
def test_normalized(text, expected):
    assert normalized(text) == expected
    assert normalized(expected) == expected


def test_nothing_left():
    (tree,) = parse_trees(["( (S (NP (-NONE- *)) (CODE x)) )"])
    assert normalize_tree(tree) is None


def test_thousands_of_levels():
    tree = Tree("NN", ("word",))
    for _ in range(5_000):
        tree = Tree("X-1", (tree,))
    assert normalize_tree(tree).leaves() == ["word"]


def test_text_of_words():
    words = "-LRB- -LCB- ab -RCB- -RRB- 1\\/2 `` -LSB- -RSB- - -NONE-".split()
    assert sentence(words) == "( { ab } ) 1/2 `` [ ] - -NONE-"


def test_the_raw_treebank_becomes_the_clean_one(shared_data):
    for split in ("dev", "test"):
        folder = shared_data / "trees" / "masc"
        raw = gzip.decompress((folder / f"{split}.raw.tsv.gz").read_bytes()).decode()
        clean = gzip.decompress((folder / f"{split}.clean.gz").read_bytes()).decode()
        found = [normalized(line.split("\t")[1]) for line in raw.splitlines()]
        assert found == clean.splitlines()
