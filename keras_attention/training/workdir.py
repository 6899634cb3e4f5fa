"""The directory of a run: its config.json, and files that appear whole or not at all.

A workdir holds `config.json tokenizer/ encoded/ checkpoints/ tensorboard/ model.keras
metrics.jsonl bleu.json .lock`. `encoded/` are the ids of training text in files, made
again if deleted; `.lock` names the process that trains here. What begins with `.tmp-`
was left by a process that was killed; the next start deletes it. `config.json` says
all that made the run; starting again in the same workdir with other values is refused,
because the result would be neither of the two runs.
"""

import json
import pathlib
import platform

import keras
import tensorflow as tf

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.files import parse_object, write_atomically
from keras_attention.version import __version__

CONFIG = "config.json"
TOKENIZER = "tokenizer"
CHECKPOINTS = "checkpoints"
TENSORBOARD = "tensorboard"
MODEL = "model.keras"
METRICS = "metrics.jsonl"

PARTS = {
    "transformer": TransformerConfig,
    "training": TrainingConfig,
    "decoding": DecodingConfig,
}
# What a run may change when it goes on: these do not touch the updates themselves.
CHANGEABLE = {
    "transformer": (),
    "training": (
        "average_checkpoints",
        "checkpoint_minutes",
        "checkpoint_steps",
        "histograms",
        "log_steps",
        "max_minutes",
        "max_steps",
        "patience",
        "patience_metric",
        "peer_timeout_seconds",
        "profile_steps",
        "validation_sentences",
        "validation_steps",
    ),
    "decoding": tuple(DecodingConfig.__dataclass_fields__),
}


def versions():
    """Returns the versions of everything that takes part in an update."""
    return {
        "keras_attention": __version__,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "python": platform.python_version(),
    }


def read_config(workdir):
    """Returns the configuration of a run, or None when the workdir holds none.

    Args:
        workdir: the directory of the run.

    Returns:
        A dictionary: "transformer", "training" and "decoding" hold configurations,
        "data" and "versions" plain values.

    Raises:
        ValueError: the file is not what `write_config` writes.
    """
    path = pathlib.Path(workdir) / CONFIG
    if not path.exists():
        return None
    try:
        record = parse_object(path.read_bytes())
    except ValueError as error:
        raise _no_config(path, error) from error
    try:
        parts = {name: cls.from_dict(record[name]) for name, cls in PARTS.items()}
        return {**record, "data": {**record["data"]}, **parts}
    except (KeyError, TypeError, AttributeError) as error:
        raise _no_config(path, repr(error)) from error


def _no_config(path, received):
    return ValueError(
        f"{path} is not the configuration of a run: expected an object with "
        f"{', '.join(PARTS)}, data. Received: {received}. "
        "Mend it or take a new workdir."
    )


def write_config(workdir, config):
    """Writes `config.json` atomically; `config` is what `read_config` returns."""
    record = {
        name: value.to_dict() if name in PARTS else value
        for name, value in config.items()
    }
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    write_atomically(pathlib.Path(workdir) / CONFIG, text)


def check_same_run(recorded, wanted):
    """Checks that a workdir can go on with the wanted configuration.

    Args:
        recorded: configuration of the workdir, as `read_config` returns it.
        wanted: configuration that is asked for now; "data" may not be known yet.

    Raises:
        ValueError: a field differs that may not change within a run.
    """
    differences = []
    for part in PARTS:
        old, new = recorded[part].to_dict(), wanted[part].to_dict()
        differences += [
            f"{part}.{field}: {old[field]!r} in the workdir, {new[field]!r} asked for"
            for field in old
            if old[field] != new[field] and field not in CHANGEABLE[part]
        ]
    if "data" in wanted:
        differences += _data_differences(recorded["data"], wanted["data"])
    if differences:
        raise ValueError(
            "The workdir holds a run with another configuration, and a run keeps its "
            f"configuration. Received: {'; '.join(differences)}. "
            "Take another workdir, or the values of this one."
        )


def _data_differences(old, new):
    differences = []
    for kind, digest in (("training", "sha256"), ("validation", "valid_sha256")):
        if digest in old and old[digest] != new.get(digest):
            text = f"data: the {kind} pairs are not those of the workdir"
            for name in ("pairs", "sources"):
                if old.get(name) != new.get(name):
                    text += f", {name} {old.get(name)} there, {new.get(name)} now"
            differences.append(text)
    name = "tokenizer_sha256"
    if name in old and old[name] != new.get(name):
        differences.append("data: the tokenizer is not the one the run began with")
    return differences
