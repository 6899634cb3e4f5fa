"""Nothing in the package runs what it reads, or reaches out without being asked."""

import ast
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path.relative_to(ROOT)
    for folder in ("keras_attention", "trainers")
    for path in (ROOT / folder).rglob("*.py")
)
NEVER = {
    "pickle",
    "_pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "yaml",
    "tarfile",
    "ftplib",
    "telnetlib",
    "smtplib",
    "http",
    "xmlrpc",
}
# Who may open connections, and only when a caller names an address.
NETWORK = {
    "socket": {"keras_attention/training/cluster.py", "keras_attention/export/demo.py"},
    "requests": {"keras_attention/export/client_rest.py"},
    "grpc": {
        "keras_attention/export/client_grpc.py",
        "keras_attention/export/client_errors.py",
    },
    "urllib": {"keras_attention/export/client_rest.py"},
    "uvicorn": {"keras_attention/export/demo.py"},
    "asyncio": set(),
    "ssl": set(),
}
BUILTINS = {"eval", "exec", "compile", "__import__"}  # `re.compile` is another
CALLS = {
    "os.system",
    "os.popen",
    "os.execv",
    "os.spawnv",
    "pty.spawn",
    "extract",
    "extractall",
    "unpack_archive",
    "enable_unsafe_deserialization",
    "Lambda",
}
# keyword -> the only values it may have; a call without it is another matter
KEYWORDS = {"shell": False, "allow_pickle": False, "safe_mode": True}
# They run what a file says unless told not to; so the keyword must be there.
NEEDED = {"torch.load": ("weights_only", True)}


def dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def harm(text, path):
    """Yields what a source file does that none of the package may do."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            named = getattr(node, "module", None)
            names = [named] if named else [alias.name for alias in node.names]
            for room in {name.split(".")[0] for name in names}:
                if room in NEVER or path not in NETWORK.get(room, {path}):
                    yield f"{path}:{node.lineno} imports {room}"
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in BUILTINS or name in CALLS or name.rsplit(".", 1)[-1] in CALLS:
            yield f"{path}:{node.lineno} calls {name}"
        given = {word.arg: word.value for word in node.keywords}
        for word, only in KEYWORDS.items():
            value = given.get(word)
            if value is not None and getattr(value, "value", "?") is not only:
                yield f"{path}:{node.lineno} calls {name} with {word}"
        word, only = NEEDED.get(name, (None, None))
        if word and getattr(given.get(word), "value", "?") is not only:
            yield f"{path}:{node.lineno} calls {name} without {word}={only}"


def test_no_source_file_does_harm():
    found = [
        line
        for path in SOURCES
        for line in harm((ROOT / path).read_text("utf-8"), path.as_posix())
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from yaml import load",
        "import http.client",
        "import socket",
        "from urllib.request import urlopen",
        "eval(text)",
        "exec(text)",
        "compile(text, '', 'exec')",
        "os.system(command)",
        "subprocess.run(command, shell=True)",
        "subprocess.run(command, shell=choice)",
        "numpy.load(path, allow_pickle=True)",
        "keras.models.load_model(path, safe_mode=False)",
        "keras.layers.Lambda(f)",
        "keras.config.enable_unsafe_deserialization()",
        "shutil.unpack_archive(path)",
        "archive.extractall(path)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
    ],
)
def test_harm_is_seen(text):
    assert len(list(harm(text, "keras_attention/a.py"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "re.compile('a')",
        "model.compile(loss=loss)",
        "subprocess.run(command)",
        "subprocess.run(command, shell=False)",
        "torch.load(path, weights_only=True)",
        "model.eval()",
    ],
)
def test_what_only_looks_like_harm_is_left_alone(text):
    assert list(harm(text, "keras_attention/a.py")) == []


LOOK = """
import json, os, pkgutil, signal, sys, threading
import absl.flags, keras, numpy, tensorflow, tensorflow_text

def state():
    return {
        "flags": sorted(absl.flags.FLAGS),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "threads of C++": len(os.listdir("/proc/self/task")),
        "environment": dict(os.environ),
        "policy": keras.config.dtype_policy().name,
        "signals": [str(signal.getsignal(x)) for x in (2, 13, 15)],
        "directory": os.getcwd(),
        "hooks": [str(sys.excepthook), str(sys.displayhook)],
        "seed": numpy.random.get_state()[1].tolist(),
    }

events, watched = [], (os.environ["HOME"], os.getcwd())

def watch(event, arguments):
    reaches_out = event.split(".")[0] in ("socket", "subprocess", "urllib", "http")
    runs = event in ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.putenv")
    writes = event in ("os.mkdir", "os.remove", "os.rename", "os.chmod")
    reads = event == "open" and str(arguments[0]).startswith(watched)
    if reaches_out or runs or writes or reads:
        events.append(f"{event} {arguments}")

sys.dont_write_bytecode = True
before = state()
sys.addaudithook(watch)
import keras_attention
names = ["keras_attention"]
for found in pkgutil.walk_packages(keras_attention.__path__, "keras_attention."):
    __import__(found.name)
    names.append(found.name)
said, after = list(events), state()
changed = {x: [before[x], after[x]] for x in before if before[x] != after[x]}
print(json.dumps({"events": said, "changed": changed, "modules": len(names)}))
"""


def test_importing_every_module_leaves_no_trace(tmp_path):
    """No flag, thread, connection, process, setting, or file of the user's."""
    (tmp_path / "home").mkdir()
    (tmp_path / "cwd").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=tmp_path / "cwd",
        env={
            **os.environ,
            "HOME": str(tmp_path / "home"),
            "PYTHONPATH": str(ROOT),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["modules"] > 100
    assert found["events"] == []
    assert found["changed"] == {}
    assert list((tmp_path / "cwd").iterdir()) == []
