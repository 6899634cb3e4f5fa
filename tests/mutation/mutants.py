"""Small mistakes, drawn at random from the source of the package.

A site is one place where one operator, number or truth value can be exchanged. What no
test could see is left out: messages of errors, docstrings, annotations, logging and
the names that a package exports.
"""

import ast
import dataclasses
import pathlib
import random

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
JOINED = {ast.And: ast.Or, ast.Or: ast.And}
_QUIET = ("warn", "info", "debug", "error", "warning", "log", "exception", "print")
_UNSEEN = ("__init__.py", "__main__.py", "version.py")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One mistake.

    Attributes:
        path: of the file below the root, with slashes.
        line: of the mistake, from 1.
        start, end: where it lies in the file, in bytes.
        before, after: source text.
    """

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def apply(self, root):
        """Writes the mistake into the tree below `root`; returns the old content."""
        path = pathlib.Path(root, self.path)
        content = path.read_bytes()
        found = content[self.start : self.end].decode()
        if found != self.before:
            raise ValueError(
                f"{path}, line {self.line}: expected {self.before!r}. Received: "
                f"{found!r}. The tree is not the one that it was drawn from."
            )
        changed = content[: self.start] + self.after.encode() + content[self.end :]
        path.write_bytes(changed)
        return content

    def __str__(self):
        return f"{self.path}:{self.line}  {self.before}  ->  {self.after}"


def sites(path, root):
    """Returns all `Mutant`s of one file."""
    content = pathlib.Path(path).read_bytes()
    offsets = [0]
    for line in content.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    name = pathlib.Path(path).relative_to(root).as_posix()
    found = []
    for node, after in _exchanged(ast.parse(content)):
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[node.end_lineno - 1] + node.end_col_offset
        before = content[start:end].decode()
        found.append(Mutant(name, node.lineno, start, end, before, after))
    return found


def _exchanged(tree):
    """Yields (node, text in its place) for all that is worth a mistake."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _unseen(node):
            continue
        other = _other(node)
        if other is not None:
            # In brackets it stays one operand of what is around it.
            yield node, f"({ast.unparse(other)})"
        waiting += _seen_children(node)


def _seen_children(node):
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _unseen(node):
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.Call):
        called = node.func
        name = getattr(called, "attr", getattr(called, "id", ""))
        return name in _QUIET
    return False


def _other(node):
    """Returns the node with one thing exchanged, or None."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = COMPARED[type(node.ops[0])]()
        return ast.Compare(node.left, [other], node.comparators)
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        text = (ast.Constant, ast.JoinedStr)
        strings = [x for x in (node.left, node.right) if isinstance(x, text)]
        if any(isinstance(getattr(x, "value", ""), str) for x in strings):
            return None
        return ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(JOINED[type(node.op)](), node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + 1)
    return None


def draw(root, count, seed, rooms):
    """Draws mutants, the same for the same arguments and source.

    Args:
        root: folder that holds `keras_attention/`.
        count: how many, no two in one line.
        seed: int.
        rooms: names of folders and files of the package to draw from, each as often
            as the others as long as it has sites left.

    Returns:
        List of `Mutant`.
    """
    chance, drawn, lines = random.Random(seed), [], set()
    left = {room: _sites_of_room(pathlib.Path(root), room) for room in rooms}
    for mutants in left.values():
        chance.shuffle(mutants)
    while len(drawn) < count and any(left.values()):
        for mutants in left.values():
            while mutants:
                mutant = mutants.pop()
                if (mutant.path, mutant.line) not in lines:
                    lines.add((mutant.path, mutant.line))
                    drawn.append(mutant)
                    break
    return drawn[:count]


def _sites_of_room(root, room):
    base = root / "keras_attention" / room
    paths = [base] if base.is_file() else sorted(base.rglob("*.py"))
    kept = [path for path in paths if path.name not in _UNSEEN]
    return [mutant for path in kept for mutant in sites(path, root)]
