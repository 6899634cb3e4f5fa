"""The messages of TensorFlow Serving, without TensorFlow.

The modules of tensorflow-serving-api import messages of tensorflow, and importing a
message imports all of TensorFlow. A module that only knows the folder stands in for
it: the server then is a process without Python TensorFlow, as a real one is. Only the
program `server` calls `stand_in`.
"""

import importlib.util
import pathlib
import sys


def stand_in():
    """Puts a module with nothing but tensorflow's folder in its place."""
    # Made, with its `__path__`, and not executed.
    module = importlib.util.module_from_spec(importlib.util.find_spec("tensorflow"))
    sys.modules["tensorflow"] = module


def load_engine():
    """The engine that `keras_attention.export` brings, by its path."""
    root = pathlib.Path(__file__).resolve().parents[2]
    path = root / "keras_attention" / "export" / "engine.py"
    spec = importlib.util.spec_from_file_location("serving_engine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


engine = load_engine()
