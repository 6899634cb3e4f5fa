"""What is left of a treebank's trees for parsing, and their words as text."""

import re

from keras_attention.data.linearization import ROOT
from keras_attention.data.trees import Tree

DROPPED = frozenset({"-NONE-", "CODE"})  # traces, and marks of the transcription
ROOTS = frozenset({"TOP", "ROOT", "S1"})
_FUNCTION = re.compile(r"(?<=.)[-=].*")
_UNESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}


def normalize_tree(tree):
    """Returns a tree as parsers are trained and scored, the usual practice.

    - Traces (`-NONE-`), `CODE` and what has no other word below it are left out.
    - Labels and tags end before the first `-` or `=` (`NP-SBJ-1` -> `NP`), but not
      those that begin with `-`, such as `-LRB-`.
    - Constituents without a label are left out; what is below them stays.
    - The root is `TOP`, also where it was called ROOT or S1 or was missing.

    Args:
        tree: `Tree`.

    Returns:
        `Tree`; None if no word is left.

    Example:

    >>> from keras_attention.data.trees import parse_trees
    >>> (tree,) = parse_trees(["( (S (NP-SBJ-1 (-NONE- *)) (VP (VB go)) (. !)) )"])
    >>> print(normalize_tree(tree))
    (TOP (S (VP (VB go)) (. !)))
    """
    stack = [[]]
    for kind, item in tree.walk():
        if kind == "open":
            stack.append([])
        elif kind == "word":
            stack[-1].append(item)
        else:
            children = stack.pop()
            stack[-1] += _closed(item.label, children)
    children = stack[0]
    if not children:
        return None
    root = children[0]
    if len(children) == 1 and root.label in ROOTS and not root.is_tag:
        return Tree(ROOT, root.children)
    return Tree(ROOT, tuple(children))


def _closed(label, children):
    """What a constituent leaves in the one above it."""
    if not children or label in DROPPED:
        return []
    if not label:
        return children
    cut = label if label.startswith("-") else _FUNCTION.sub("", label)
    return [Tree(cut, tuple(children))]


def sentence(words):
    """Returns the words of a tree as the text that the model reads.

    Brackets and slashes are as in plain text; nothing else changes.

    Args:
        words: list of str.

    Returns:
        str, the words with a space between.

    Example:

    >>> sentence(["a", "-LRB-", "1\\\\/2", "-RRB-"])
    'a ( 1/2 )'
    """
    plain = (_UNESCAPED.get(word, word).replace("\\/", "/") for word in words)
    return " ".join(plain)
