"""Constituency trees: read from Penn-style brackets and written as such.

Nothing here recurses, so trees may be thousands of levels deep.
"""

import dataclasses
import re

from keras_attention.data.lines import iterate_lines

SPACE = r" \t\n\r\f\v"  # others, such as a no-break space, may be part of a word
_TOKEN = re.compile(rf"[()]|[^{SPACE}()]+")
_NOT_IN_LABEL = re.compile(rf"[{SPACE}()]")
_NOT_IN_WORD = re.compile(rf"[{SPACE}]")
# A bracket that stands as it is in the leaf of a bracket, and nowhere else.
_RAW = re.compile(rf"\((-[LR]RB-)[{SPACE}]+([()])\)")
ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
_ESCAPE = str.maketrans(ESCAPES)


@dataclasses.dataclass(frozen=True, eq=False, repr=False, slots=True)
class Tree:
    """A constituent: a label and what is below it.

    A part-of-speech tag is a constituent whose only child is a word. Words and
    constituents may be mixed below one. Trees are equal if labels, words and brackets
    are. A bracket inside a word is written as `-LRB-` or `-RRB-`.

    Args:
        label: str, without white space and brackets; "" for a root that has none.
        children: words (str) and `Tree`s, in their order.

    Raises:
        ValueError: a label or a word that no file of brackets could hold.

    Example:

    >>> tree = Tree("S", (Tree("NP", (Tree("DT", ("the",)), "dog")), "barks"))
    >>> print(tree)
    (S (NP (DT the) dog) barks)
    >>> tree.leaves()
    ['the', 'dog', 'barks']
    """

    label: str
    children: tuple

    def __post_init__(self):
        object.__setattr__(self, "children", tuple(self.children))
        if _NOT_IN_LABEL.search(self.label):
            raise ValueError(
                "A label holds neither white space nor brackets. "
                f"Received: {self.label!r}. Rename the constituent."
            )
        for child in self.children:
            wrong = isinstance(child, str) and _NOT_IN_WORD.search(child)
            if child == "" or wrong or not isinstance(child, str | Tree):
                raise ValueError(
                    "A child is a Tree, or a word that is neither empty nor holds "
                    f"white space. Received: {child!r} below {self.label!r}. "
                    "Split the text into words."
                )
        if not self.label and self.children and isinstance(self.children[0], str):
            raise ValueError(
                "A constituent without a label cannot begin with a word, which would "
                f"be read as its label. Received: {self.children[0]!r} below ''. "
                "Give it a label."
            )

    @property
    def is_tag(self):
        """Whether its only child is a word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    def walk(self):
        """Yields ("open", tree), ("word", word) and ("close", tree) in text order."""
        yield "open", self
        stack = [(self, iter(self.children))]
        while stack:
            tree, children = stack[-1]
            for child in children:
                if isinstance(child, str):
                    yield "word", child
                else:
                    yield "open", child
                    stack.append((child, iter(child.children)))
                    break
            else:
                stack.pop()
                yield "close", tree

    def leaves(self):
        """Returns its words, a list of str."""
        return [word for kind, word in self.walk() if kind == "word"]

    def __str__(self):
        parts = []
        for kind, item in self.walk():
            if kind == "open":
                parts.append(f" ({item.label}")
            elif kind == "word":
                parts.append(f" {item.translate(_ESCAPE)}")
            else:
                parts.append(")")
        return "".join(parts)[1:]

    def __repr__(self):
        return f"<Tree {self}>"

    def __eq__(self, other):
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or _parts(self) == _parts(other)

    def __hash__(self):
        return hash(str(self))


def _parts(tree):
    return [x if kind == "word" else (kind, x.label) for kind, x in tree.walk()]


def read_trees(path):
    """Reads all trees of a file.

    A tree may stretch over lines, and a line may hold several. Words and constituents
    may be mixed below a constituent, and its label may be missing, as that of a root
    often is. Brackets in words are written `-LRB-` and `-RRB-`; a bracket alone below
    one of these tags may also stand as it is, `(-LRB- ()`.

    Args:
        path: of the file; plain or `.gz`.

    Returns:
        List of `Tree`.

    Raises:
        ValueError: the file cannot be read or its brackets do not match; the message
            names the line.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees"
    >>> _ = path.write_text("( (S (NP birds)\\n  (VP sing)) )\\n(X y)\\n")
    >>> [str(tree) for tree in read_trees(path)]
    ['( (S (NP birds) (VP sing)))', '(X y)']
    """
    return list(iterate_trees(path))


def iterate_trees(path):
    """Yields the trees of `read_trees` one after the other, in little memory."""
    return parse_trees(iterate_lines(path), path)


def parse_trees(lines, name="text"):
    """Yields the trees in lines of text.

    Args:
        lines: iterable of str.
        name: of the text, for messages.

    Raises:
        ValueError: as `read_trees`.

    Example:

    >>> [tree.label for tree in parse_trees(["(A b) (C", "d)"])]
    ['A', 'C']
    """
    stack, began = [], 0  # of open constituents: [label or None, children]
    for number, line in enumerate(lines, start=1):
        line = _RAW.sub(lambda raw: f"({raw[1]} {ESCAPES[raw[2]]})", line)
        for token in _TOKEN.findall(line):
            if token == "(":
                if not stack:
                    began = number
                elif stack[-1][0] is None:
                    stack[-1][0] = ""
                stack.append([None, []])
            elif not stack:
                _fail(name, number, "text or a closing bracket outside of a tree")
            elif token != ")":
                _add_text(stack[-1], token)
            else:
                tree = _closed(stack.pop(), name, number)
                if stack:
                    stack[-1][1].append(tree)
                else:
                    yield tree
    if stack:
        what = f"the end of the text, {len(stack)} constituents still open"
        _fail(name, began, f"a tree that begins here and then {what}")


def _add_text(constituent, token):
    if constituent[0] is None:
        constituent[0] = token
    else:
        constituent[1].append(token)


def _closed(constituent, name, number):
    label, children = constituent
    if not children:
        _fail(name, number, f"the constituent {label or ''!r} with nothing below it")
    return Tree(label, tuple(children))


def _fail(name, number, received):
    raise ValueError(
        f"{name}, line {number}: expected trees in matching brackets, such as "
        f"(S (NP (NNS dogs)) (VP (VBP bark))). Received: {received}. Mend the line; "
        "brackets in words are written -LRB- and -RRB-."
    )
