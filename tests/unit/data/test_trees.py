"""Trees: what is read, what is refused, and that nothing recurses."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.data.trees import Tree, parse_trees, read_trees

LABELS = st.sampled_from(["S", "NP", "NP-SBJ-1", "-LRB-", "''", ".", "PRP$", "X=2"])
WORDS = st.text(
    st.characters(blacklist_characters="() \t\n\r\f\v", blacklist_categories=["Cs"]),
    min_size=1,
    max_size=6,
)
TREES = st.recursive(
    st.builds(lambda label, word: Tree(label, (word,)), LABELS, WORDS),
    lambda trees: st.builds(
        Tree, LABELS, st.lists(trees | WORDS, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def parse(text):
    return list(parse_trees(text.split("\n")))


def deep_tree(levels):
    tree = Tree("X", ("word",))
    for _ in range(levels):
        tree = Tree("X", (tree,))
    return tree


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read_again(tree):
    assert parse(str(tree)) == [tree]
    spread = str(tree).replace(" ", " \n\t ").replace("(", " ( ").replace(")", " )\n")
    assert parse(spread) == [tree]


def test_words_and_constituents_may_be_mixed():
    (tree,) = parse("(S (NP (DT the) dog) barks)")
    assert tree.leaves() == ["the", "dog", "barks"]
    assert tree.children[1] == "barks"
    assert tree.children[0].children == (Tree("DT", ("the",)), "dog")


@pytest.mark.parametrize("text", ["(A (B c))", "(X y)", "(S (NP a b) c)"])
def test_small_trees(text):
    (tree,) = parse(text)
    assert str(tree) == text


def test_a_root_without_label():
    (tree,) = parse("( (S (NP birds)\n   (VP sing)) )")
    assert tree.label == ""
    assert str(tree) == "( (S (NP birds) (VP sing)))"
    assert parse("((S x))") == [Tree("", (Tree("S", ("x",)),))]


def test_several_trees_and_empty_lines():
    assert [t.leaves() for t in parse("\n(A b)(C d) (E\n\nf)\n")] == [
        ["b"],
        ["d"],
        ["f"],
    ]


def test_brackets_as_words():
    (tree,) = parse("(NP (-LRB- -LRB-) (NN a-LRB-b) (-RRB- -RRB-))")
    assert tree.leaves() == ["-LRB-", "a-LRB-b", "-RRB-"]
    raw = "(NP (-LRB- () (NN ab) (-RRB- )))"
    assert [str(t) for t in parse(raw)] == ["(NP (-LRB- -LRB-) (NN ab) (-RRB- -RRB-))"]
    assert str(Tree("NN", ("f(x)",))) == "(NN f-LRB-x-RRB-)"
    assert Tree("NN", ("f(x)",)) != Tree("NN", ("f-LRB-x-RRB-",))


def test_other_white_space_belongs_to_a_word():
    assert parse("(NN 10\u00a0000)")[0].leaves() == ["10\u00a0000"]


def test_thousands_of_levels():
    tree = deep_tree(5_000)
    text = str(tree)
    (found,) = parse(text)
    assert found == tree
    assert hash(found) == hash(tree)
    assert found != deep_tree(4_999)
    assert found.leaves() == ["word"]
    assert repr(found).endswith(")>")


def test_equality():
    assert Tree("A", ("b", "c")) != Tree("A", ("b",))
    assert Tree("A", (Tree("B", ("c",)),)) != Tree("A", ("B", "c"))
    assert Tree("A", ["b"]) == Tree("A", ("b",))
    assert Tree("A", ("b",)) != "(A b)"


def test_files_plain_and_packed(tmp_path):
    content = "\ufeff(A b)\r\n(C (D e)\n f)".encode()
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(content))
    for name in ("plain", "packed.gz"):
        trees = read_trees(tmp_path / name)
        assert [str(tree) for tree in trees] == ["(A b)", "(C (D e) f)"]


@pytest.mark.parametrize(
    ("text", "line", "received"),
    [
        ("(A b)\n)", 2, "outside of a tree"),
        ("(A b)\n\nword (C d)", 3, "outside of a tree"),
        ("(A b)\n(S (NP c)\n\n", 2, "1 constituents still open"),
        ("(A b)\n(S (NP ) c)", 2, "'NP' with nothing below"),
        ("()", 1, "'' with nothing below"),
        ("(S\n(NP", 1, "2 constituents still open"),
        ("(NN CD4(+))", 1, "'[+]' with nothing below"),
    ],
)
def test_errors_name_the_line(tmp_path, text, line, received):
    path = tmp_path / "trees"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"trees, line {line}: expected .*{received}"):
        read_trees(path)


@pytest.mark.parametrize("label", ["a b", "(", "N)P"])
def test_labels_that_no_file_could_hold(label):
    with pytest.raises(ValueError, match="A label holds neither"):
        Tree(label, ("word",))


@pytest.mark.parametrize("child", ["", "a b", None, 3])
def test_children_that_no_file_could_hold(child):
    with pytest.raises(ValueError, match="A child is a Tree, or a word"):
        Tree("S", (child,))


def test_a_word_right_behind_no_label():
    with pytest.raises(ValueError, match="cannot begin with a word"):
        Tree("", ("word",))


def test_the_treebanks(shared_data):
    for name, count in (("masc/dev", 268), ("masc/test", 325)):
        path = shared_data / "trees" / f"{name}.clean.gz"
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        trees = read_trees(path)
        assert len(trees) == count
        assert [str(tree) for tree in trees] == lines
