"""Trees as sequences of symbols, the words left out, and back (paper, section 6.3)."""

import re

from keras_attention.data.trees import SPACE, Tree

ANY_TAG = "XX"
BARE = "()"  # a word without a tag; no label holds brackets, so this is no closing one
ROOT = "TOP"
_SYMBOL = re.compile(rf"[()]?[^{SPACE}()]*")


def linearize(tree, tags=True):
    """Returns a tree as a sequence of symbols, without its words.

    `(NP` opens a constituent, `)NP` closes it, and every word leaves one symbol behind:
    its tag, or `()` where it has none. With the words, `delinearize` makes the same
    tree of it again.

    Args:
        tree: `Tree`.
        tags: False writes `XX` for every word, so that nothing is lost but the tags.

    Returns:
        List of str.

    Example:

    >>> from keras_attention.data.trees import parse_trees
    >>> (tree,) = parse_trees(["(S (NP (NNP John)) (VP (VBZ sleeps)) (. .))"])
    >>> " ".join(linearize(tree))
    '(S (NP NNP )NP (VP VBZ )VP . )S'
    >>> " ".join(linearize(tree, tags=False))
    '(S (NP XX )NP (VP XX )VP XX )S'

    Reference:
        Section 6.3; Vinyals et al. 2015, "Grammar as a Foreign Language", section 3.1,
        which replaces the tags by `XX`.
    """
    symbols = []
    tag = None
    for kind, item in tree.walk():
        if kind == "word":
            symbols.append((tag or BARE) if tags else ANY_TAG)
        elif item.is_tag:
            tag = item.label if kind == "open" else None
        else:
            symbols.append(f"{'(' if kind == 'open' else ')'}{item.label}")
    return symbols


def delinearize(symbols, words):
    """Returns the tree of a sequence of symbols over given words, repaired if needed.

    Whatever the symbols are, the leaves of the tree are exactly the words:

    - What is no symbol is left out, and so are constituents without a word.
    - A closing bracket closes the innermost constituent of its label and all inside of
      it; if none of that label is open, the innermost of all.
    - A word more than there are symbols goes, tagged `XX`, into the innermost
      constituent that was left open, or else below the root. Symbols of words that are
      not there are left out.
    - What is still open is closed behind the last word.
    - What stands beside the first constituent of several is put below it; where there
      is none, all goes below `TOP`.

    Args:
        symbols: iterable of str, as `linearize` gives or a model predicts.
        words: list of str.

    Returns:
        `Tree`. Without a word it has no child.

    Raises:
        ValueError: a word is empty or holds white space.

    Example:

    >>> print(delinearize("(S (NP NNP )NP (VP VBZ".split(), ["John", "sleeps", "."]))
    (S (NP (NNP John)) (VP (VBZ sleeps) (XX .)))
    """
    words = list(words)
    stack = [("", [])]  # of open constituents; the first holds the roots
    used = 0
    for symbol in symbols:
        if not _SYMBOL.fullmatch(symbol) and symbol != BARE:
            continue
        if symbol[:1] == "(" and symbol != BARE:
            stack.append((symbol[1:], []))
        elif symbol[:1] == ")":
            _close(stack, symbol[1:])
        elif symbol and used < len(words):
            stack[-1][1].append(_leaf(symbol, words[used]))
            used += 1
    for word in words[used:]:
        stack[-1][1].append(_leaf(ANY_TAG, word))
    while len(stack) > 1:
        _close_innermost(stack)
    return _single_root(stack[0][1])


def _leaf(symbol, word):
    return word if symbol == BARE else Tree(symbol, (word,))


def _close(stack, label):
    places = range(len(stack) - 1, 0, -1)
    innermost = len(stack) - 1
    place = next((p for p in places if stack[p][0] == label), innermost)
    while len(stack) > max(place, 1):
        _close_innermost(stack)


def _close_innermost(stack):
    label, children = stack.pop()
    if not children:
        return
    if not label and isinstance(children[0], str):
        label = ROOT  # nothing could write it otherwise
    stack[-1][1].append(Tree(label, tuple(children)))


def _single_root(children):
    roots = [
        place
        for place, child in enumerate(children)
        if isinstance(child, Tree) and not child.is_tag
    ]
    if len(children) == 1 and isinstance(children[0], Tree):
        return children[0]
    if not roots:
        return Tree(ROOT, tuple(children))
    first = roots[0]
    root = children[first]
    before, after = children[:first], children[first + 1 :]
    return Tree(root.label or ROOT, (*before, *root.children, *after))
