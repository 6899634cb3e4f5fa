"""Trees as symbols and back: lossless, and repaired without touching a word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.data.linearization import delinearize, linearize
from keras_attention.data.normalization import normalize_tree
from keras_attention.data.trees import Tree, parse_trees, read_trees

LABELS = st.sampled_from(["S", "NP", "VP", "X-1", "."])
WORDS = st.text("ab()XX", min_size=1, max_size=3)
LEAVES = WORDS | st.builds(lambda label, word: Tree(label, (word,)), LABELS, WORDS)
TREES = st.recursive(
    LEAVES,
    lambda trees: st.builds(Tree, LABELS, st.lists(trees, min_size=1, max_size=4)),
    max_leaves=12,
).filter(lambda tree: isinstance(tree, Tree))
SYMBOLS = st.sampled_from(
    "(S )S (NP )NP (VP )VP ( ) () NN XX DT . [UNK] \u2047 (( )) a(b (a)b".split()
) | st.text(max_size=4)


def tree_of(text):
    (tree,) = parse_trees([text])
    return tree


def repaired(symbols, words):
    return str(delinearize(symbols.split(), words.split()))


def depth(tree):
    deepest = level = 0
    for kind, _ in tree.walk():
        level += (kind == "open") - (kind == "close")
        deepest = max(deepest, level)
    return deepest


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_nothing_is_lost(tree):
    assert delinearize(linearize(tree), tree.leaves()) == tree
    without = linearize(tree, tags=False)
    assert sum(symbol == "XX" for symbol in without) == len(tree.leaves())
    assert delinearize(without, tree.leaves()).leaves() == tree.leaves()


@given(st.lists(SYMBOLS, max_size=30), st.lists(WORDS, max_size=8))
@settings(max_examples=200, deadline=None)
def test_whatever_the_symbols_the_words_stay(symbols, words):
    tree = delinearize(symbols, words)
    assert tree.leaves() == words
    if words:  # it can be written, and read again
        assert [str(t) for t in parse_trees([str(tree)])] == [str(tree)]


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP (DT the) dog) barks)",
        "(A (B c))",
        "(X y)",
        "(NP the dog)",
        "( (S (NP birds) (VP sing)))",
    ],
)
def test_trees_of_all_shapes(text):
    tree = tree_of(text)
    assert delinearize(linearize(tree), tree.leaves()) == tree


def test_the_example_of_the_paper():
    tree = tree_of("(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))")
    expected = "(S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S"
    assert " ".join(linearize(tree)) == expected
    normalised = expected.replace("NNP", "XX").replace("VBZ", "XX")
    normalised = normalised.replace("DT NN", "XX XX").replace(" . ", " XX ")
    assert " ".join(linearize(tree, tags=False)) == normalised


def test_thousands_of_levels():
    tree = Tree("NN", ("word",))
    for _ in range(5_000):
        tree = Tree("X", (tree,))
    symbols = linearize(tree)
    assert delinearize(symbols, ["word"]) == tree
    assert depth(delinearize(symbols[:4_000], ["word"])) == 4_001


@pytest.mark.parametrize(
    ("symbols", "words", "expected"),
    [
        # closings that are missing, or too many
        ("(S (NP NN )NP (VP VB", "birds sing", "(S (NP (NN birds)) (VP (VB sing)))"),
        (
            "(S (NP NN )NP (VP VB )VP )S )S )NP",
            "birds sing",
            "(S (NP (NN birds)) (VP (VB sing)))",
        ),
        # a closing of an outer constituent closes the inner ones
        ("(S (NP DT (NP NN )S .", "a b c", "(S (NP (DT a) (NP (NN b))) (. c))"),
        # one of a label that is not open closes the innermost
        ("(S (NP DT )VP NN )S", "a b", "(S (NP (DT a)) (NN b))"),
        # too few symbols of words: into what is open, or below the root
        ("(S (NP DT", "a b", "(S (NP (DT a) (XX b)))"),
        ("(S (NP DT )NP )S", "a b c", "(S (NP (DT a)) (XX b) (XX c))"),
        # too many; constituents without a word
        ("(S (NP DT NN )NP (VP VB )VP )S", "a", "(S (NP (DT a)))"),
        ("(S (NP )NP (VP VB )VP )S", "a", "(S (VP (VB a)))"),
        # several roots, none, and nothing at all
        ("DT (S NN )S (X . )X", "a b c", "(S (DT a) (NN b) (X (. c)))"),
        ("DT NN", "a b", "(TOP (DT a) (NN b))"),
        ("", "a b", "(TOP (XX a) (XX b))"),
        ("", "a", "(XX a)"),
        ("()", "a", "(TOP a)"),
        ("( () )", "a", "(TOP a)"),
        ("(S NN )S", "", "(TOP)"),
        # what is no symbol
        ("(S a(b (N(P NN )S", "a", "(S (NN a))"),
        ("(S \u2047 )S", "a", "(S (\u2047 a))"),
    ],
)
def test_repair(symbols, words, expected):
    assert repaired(symbols, words) == expected


@pytest.mark.parametrize("word", ["", "a b", "a\tb"])
def test_what_is_no_word(word):
    with pytest.raises(ValueError, match="a word that is neither empty"):
        delinearize(["NN"], [word])
    with pytest.raises(ValueError, match="a word that is neither empty"):
        delinearize(["()"], [word])


def test_the_treebanks(shared_data):
    for name in ("masc/dev", "masc/test"):
        for tree in read_trees(shared_data / "trees" / f"{name}.clean.gz"):
            assert delinearize(linearize(tree), tree.leaves()) == tree
            assert normalize_tree(tree) == tree
