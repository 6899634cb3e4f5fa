"""The flags of every binary: their names, their defaults, and how fast they answer."""

import dataclasses
import pathlib
import resource
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from keras_attention import config, presets
from trainers import _fields, _flags

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = {
    "transformer": config.TransformerConfig,
    "training": config.TrainingConfig,
    "decoding": config.DecodingConfig,
}
BINARIES = sorted(
    path.stem for path in (ROOT / "trainers").glob("[a-z]*.py") if path.stem != "_flags"
)
# Every binary names a run, but those that only need what was made of one.
MAIN_FLAG = {"request_translation": b"--address", "demo": b"--version_dir"}
CPU_SECONDS = 2.0  # of a process that only answers about its flags


@pytest.mark.parametrize("part", PARTS)
def test_flags_are_the_fields_of_the_configuration(part):
    fields = {field.name: field for field in dataclasses.fields(PARTS[part])}
    table = _flags.CONFIG_FIELDS[part]
    assert list(table) == list(fields)
    for name, (kind, default, _) in table.items():
        required = fields[name].default is dataclasses.MISSING
        assert default == (None if required else fields[name].default), name
        annotation = fields[name].type
        expected = str if isinstance(kind, tuple) else kind
        if kind == [int]:
            expected = tuple[int, ...]
        assert annotation in (expected, expected | None), name


def test_choices_are_those_of_the_configuration():
    choices = {
        "activation": config.ACTIVATIONS,
        "norm_position": config.NORM_POSITIONS,
        "positions": config.POSITIONS,
        "position_layout": config.LAYOUTS,
        "dtype_policy": config.DTYPE_POLICIES,
        "patience_metric": config.PATIENCE_METRICS,
        "tokenizer_kind": config.TOKENIZER_KINDS,
    }
    table = {
        name: kind
        for part in _flags.CONFIG_FIELDS.values()
        for name, (kind, _, _) in part.items()
        if isinstance(kind, tuple)
    }
    assert table == choices


def test_preset_names_are_those_of_the_library():
    assert _fields.PRESET_NAMES == tuple(presets.PRESETS)


def test_the_help_of_a_flag_names_its_default():
    help_text = run("train_translation", "--help").stdout.decode()
    joined = " ".join(help_text.split())
    for part in ("transformer", "training"):
        for name, (_, default, what) in _flags.CONFIG_FIELDS[part].items():
            told = "none" if default is None else str(default).lower()
            assert f"{what} (default: {told}, or the preset's)" in joined, name


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, "-m", f"trainers.{name}", *arguments],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )


def key_flags(name):
    """Names of the flags that a binary shows in its help."""
    root = xml.etree.ElementTree.fromstring(run(name, "--helpxml").stdout)
    return {
        flag.findtext("name")
        for flag in root.iter("flag")
        if flag.findtext("key") == "yes"
    }


@pytest.mark.parametrize("name", BINARIES)
def test_console_script_and_module_are_the_same(name):
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert f'"{name}"' in text
    source = (ROOT / "trainers" / f"{name}.py").read_text(encoding="utf-8")
    assert "\ndef run():\n" in source
    assert source.endswith('\nif __name__ == "__main__":\n    run()\n')


@pytest.mark.parametrize("name", BINARIES)
def test_no_flag_is_left_out_of_the_help(name):
    """`--help` shows those of the binary alone, not those of modules that it uses."""
    root = xml.etree.ElementTree.fromstring(run(name, "--helpxml").stdout)
    owners = {flag.findtext("file") for flag in root.iter("flag")}
    assert not [owner for owner in owners if owner.startswith("trainers._")]


@pytest.mark.parametrize("name", BINARIES)
def test_the_console_script_has_the_help_of_the_module(name):
    script = (
        f"import sys; sys.argv = ['ka-script', '--help']; "
        f"from trainers.{name} import run; run()"
    )
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert said.returncode == 0
    assert MAIN_FLAG.get(name, b"--workdir") in said.stdout
    flags = [line.split(b":")[0] for line in said.stdout.splitlines() if b"--" in line]
    module = run(name, "--help").stdout.splitlines()
    assert flags == [line.split(b":")[0] for line in module if b"--" in line]


@pytest.mark.parametrize("name", BINARIES)
@pytest.mark.parametrize("flag", ["--help", "--unknown_flag=1"])
def test_answers_about_flags_at_once(name, flag):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run(name, flag)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < CPU_SECONDS
    if flag == "--help":
        assert result.returncode == 0
        assert MAIN_FLAG.get(name, b"--workdir") in result.stdout
    else:
        assert result.returncode == 2
        assert result.stderr.count(b"\n") == 1
        assert b"Unknown command line flag 'unknown_flag'" in result.stderr
