"""Imports between rooms go strictly down, and each room keeps to its libraries."""

import ast
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = {
    "version": 0,
    "vocabulary": 0,
    "checks": 0,
    "config_base": 0,
    "config": 0,
    "decoding_config": 0,
    "files": 0,
    "presets": 0,
    "ops": 1,
    "layers": 2,
    "objectives": 2,
    "models": 3,
    "data": 3,
    "decoding": 4,
    "evaluation": 5,
    "training": 6,
    "export": 6,
    "convert": 6,
    "studies": 7,
    "trainers": 8,
}
# What a room may import beside the standard library and lower rooms.
BELOW_TENSORFLOW = {
    "version": set(),
    "vocabulary": set(),
    "checks": set(),
    "config_base": set(),
    "config": set(),
    "decoding_config": set(),
    "files": set(),
    "presets": set(),
    "ops": {"keras", "numpy"},
    "layers": {"keras", "numpy"},
    "objectives": {"keras", "numpy"},
    "models": {"keras", "numpy"},
}
INSIDE_FUNCTIONS_ONLY = {
    "tensorflow_datasets",
    "sacrebleu",
    "matplotlib",
    "sentencepiece",
    "ctranslate2",
    "requests",
    "grpc",
    "tensorflow_serving",
    "safetensors",
    "torch",
    "gradio",
    "fastapi",
    "starlette",
    "uvicorn",
}
SOURCES = sorted(
    path.relative_to(ROOT)
    for folder in ("keras_attention", "trainers")
    for path in (ROOT / folder).rglob("*.py")
)


def room(path):
    """The room of a source file, or None for the package's own `__init__.py`."""
    parts = path.with_suffix("").parts
    if parts[0] == "trainers":
        return "trainers"
    return None if parts[1] == "__init__" else parts[1]


def imports(path):
    """Yields (absolute module, line, is at module level) of every import."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    package = path.parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [".".join([*base, *((node.module or "").split("."))]).rstrip(".")]
        elif isinstance(node, ast.ImportFrom):
            # `from keras_attention import ops` names a room in its list.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield name, node.lineno, id(node) not in inner


ON_TENSORFLOW = {
    ("models", "update.py"),
    ("models", "chunks.py"),
    ("objectives", "adam.py"),
    ("ops", "cache.py"),
    ("ops", "decoding.py"),
}


def fault(path, name, module_level):
    """What is wrong with one import, or None."""
    here = room(path)
    top, *rest = name.split(".")
    if top in ("keras_attention", "trainers"):
        there = "trainers" if top == "trainers" else (rest[0] if rest else None)
        if here is None:
            return "the package imports a trainer" if there == "trainers" else None
        if there == here or RANKS.get(there) == RANKS.get(here) == 0:
            return None  # the files of rank 0 are one room
        if there not in RANKS:
            return f"imports the whole package ({name}), which lies above every room"
        if RANKS[there] >= RANKS[here]:
            return f"{here} (rank {RANKS[here]}) imports {there} (rank {RANKS[there]})"
        if here == "trainers" and module_level:
            return "a trainer imports the library before its flags are parsed"
        return None
    if top in sys.stdlib_module_names:
        return None
    if name.startswith("keras.src"):
        return "keras.src is not public"
    if module_level and top in INSIDE_FUNCTIONS_ONLY:
        return f"{top} is imported at module level"
    if here == "trainers" and top != "absl":
        return f"a trainer imports {top}"
    if here != "trainers" and name.startswith("absl.flags"):
        return "only trainers know flags"
    allowed = BELOW_TENSORFLOW.get(here)
    # They run on TensorFlow only, and are imported where they are used.
    on_tensorflow = (path.parent.name, path.name) in ON_TENSORFLOW
    if allowed is not None and top not in allowed and not on_tensorflow:
        return f"{here} imports {top}"
    return None


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_go_down(path):
    faults = [
        f"{path}:{line}: {problem}"
        for name, line, module_level in imports(path)
        if (problem := fault(path, name, module_level))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_attribute_of_keras_src(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "keras.src"
    ]
    assert not found, f"{path}: keras.src at lines {found}"


@pytest.mark.parametrize(
    ("path", "name", "module_level"),
    [
        ("keras_attention/ops/masks.py", "keras_attention.layers.x", True),
        ("keras_attention/ops/masks.py", "tensorflow", False),
        ("keras_attention/layers/a.py", "keras_attention.objectives.losses", True),
        ("keras_attention/layers/a.py", "keras_attention", True),
        ("keras_attention/config.py", "keras", True),
        ("keras_attention/models/build.py", "tensorflow", True),
        ("keras_attention/data/corpora.py", "tensorflow_datasets", True),
        ("keras_attention/data/corpora.py", "keras.src.ops", True),
        ("keras_attention/export/a.py", "keras_attention.training.run", False),
        ("keras_attention/training/run.py", "absl.flags", True),
        ("trainers/translate.py", "keras_attention.config", True),
        ("trainers/translate.py", "tensorflow", False),
    ],
)
def test_the_rule_itself_finds_a_fault(path, name, module_level):
    assert fault(pathlib.Path(path), name, module_level)


@pytest.mark.parametrize(
    ("path", "name", "module_level"),
    [
        ("keras_attention/ops/masks.py", "keras_attention.ops.cache", True),
        ("keras_attention/models/update.py", "tensorflow", True),
        ("keras_attention/data/corpora.py", "tensorflow_datasets", False),
        ("keras_attention/training/run.py", "keras_attention.data.corpora", True),
        ("trainers/translate.py", "keras_attention.decoding.translator", False),
    ],
)
def test_the_rule_itself_lets_pass(path, name, module_level):
    assert fault(pathlib.Path(path), name, module_level) is None
