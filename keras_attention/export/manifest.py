"""`manifest.json`: what a version was made of, for the people who run it."""

import importlib.metadata
import json
import pathlib

from keras_attention.export.checksums import MANIFEST, files_sha256, weights_sha256
from keras_attention.files import parse_object

_PACKAGES = ("keras_attention", "tensorflow", "tensorflow-text", "keras")


def write_manifest(translator, signatures, folder, workdir=None):
    """Writes `manifest.json`, the last file of a version.

    Args:
        translator: the `Translator` that was exported.
        signatures: the names of its signatures.
        folder: of the version.
        workdir: of the run, for its averaged steps and its BLEU; None = not told.

    Raises:
        ValueError: `metrics.jsonl` or `bleu.json` of the run is damaged.
    """
    tokenizer, model = translator.tokenizer, translator.model
    models = getattr(model, "models", [model])  # of an ensemble
    manifest = {
        "signatures": sorted(signatures),
        "transformer": [each.transformer_config.to_dict() for each in models],
        "decoding": translator.decoding_config.to_dict(),
        "tokenizer": {
            "kind": tokenizer.kind,
            "vocabulary_size": tokenizer.vocabulary_size,
            "sha256": tokenizer.sha256,
        },
        "weights": {"sha256": weights_sha256(folder)},
        "files": files_sha256(folder),
        **({} if workdir is None else _facts_of_run(pathlib.Path(workdir))),
        "versions": {name: _installed_version(name) for name in _PACKAGES},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (pathlib.Path(folder) / MANIFEST).write_text(text, encoding="utf-8")


def _facts_of_run(workdir):
    """Returns which updates were averaged, and the BLEU of the model; None = unknown.

    A run deletes `bleu.json` when it writes another model.
    """
    steps, bleu = None, None
    if (path := workdir / "metrics.jsonl").exists():
        lines = path.read_bytes().split(b"\n")[:-1]  # the last one is "" or torn
        for line in (line for line in lines if b'"average"' in line):
            record = _object(path, line)
            if record.get("kind") == "average":
                steps = record.get("steps")
    if (path := workdir / "bleu.json").exists():
        found = _object(path, path.read_bytes())
        names = ("score", "signature", "sentences", "decoding")
        bleu = {name: found.get(name) for name in names}
    return {"averaged_steps": steps, "bleu": bleu}


def _object(path, content):
    try:
        return parse_object(content)
    except ValueError as error:
        raise ValueError(
            f"Expected a JSON object in {str(path)!r}, to tell it in {MANIFEST}. "
            f"Received: {error}. Move the file away to export without it."
        ) from error


def _installed_version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None  # run from a checkout that was never installed
