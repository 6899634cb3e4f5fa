"""Readers of formats that other libraries parse, which may take a process with them.

They run in a child process: `python -m tests.fuzz.child`.
"""

import hashlib
import io
import json
import shutil
import warnings
import zipfile

import numpy as np

from tests.fuzz.damage import damage_place, damaged, damaged_json
from tests.fuzz.readers import Reader
from tests.fuzz.small import make_translator, save_run


class Checkpoint(Reader):
    """Every tensor has a checksum; so whatever is changed, an answer is the old one."""

    files = (
        "step-3/checkpoint.index",
        "step-3/checkpoint.index",
        "step-3/checkpoint.data-00000-of-00001",
    )

    def make(self):
        import tensorflow as tf

        from keras_attention.training.checkpoints import RunState, _StateEntry

        (self.folder / "step-3").mkdir(exist_ok=True)
        shapes = [(3, 4), (4,), (), (7, 2)]
        values = [np.arange(np.prod(s), dtype="f4").reshape(s) for s in shapes]
        tf.train.Checkpoint(
            weights=[tf.Variable(value) for value in values],
            optimizer=[tf.Variable(3, dtype=tf.int64)],
            state=_StateEntry(RunState(step=3, best_step=3, window={"nll": 1.5})),
        ).write(str(self.folder / "step-3" / "checkpoint"))

    def read(self):
        from keras_attention.training import checkpoint_files as files

        (path,) = files.list_checkpoints(self.folder)
        best = files.best_checkpoint(self.folder)
        try:
            files.check_whole(path)
        except ValueError:
            whole = False
        else:
            whole = best is not None
        weights = {k: v.tolist() for k, v in files.read_weights(path).items()}
        return weights, files.read_state(path), whole

    def wrong(self, answer):
        if answer[:2] != self.right[:2]:
            return "other weights or another state"
        return ""  # what is not whole may have lost what nobody asked for


class Model(Reader):
    """`model.keras`, damaged as a file, or inside with its checksums made anew."""

    files = ("model.keras",)

    def make(self):
        self.inside = False
        save_run(make_translator(), self.folder)

    def content(self, name, random):
        self.inside = random.random() < 0.5
        if not self.inside:
            return damaged(self.clean[name], random)
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.clean[name])) as source:
            chosen = random.choice(source.namelist())
            with zipfile.ZipFile(packed, "w") as target:
                for member in source.namelist():
                    content = source.read(member)
                    if member == chosen:
                        is_json = member.endswith(".json") and random.random() < 0.7
                        content = (damaged_json if is_json else damaged)(
                            content, random
                        )
                    target.writestr(member, content)
        return packed.getvalue()

    def damage(self, random):
        self.inside = False
        return super().damage(random)

    def read(self):
        import keras

        from keras_attention.decoding.loading import load_transformer

        keras.utils.clear_session()
        model = load_transformer(self.folder / "model.keras")
        ids = np.array([[5, 6, 7, 3]], "int32")
        logits = np.asarray(model({"source_ids": ids, "target_ids": ids}))
        return [np.asarray(w) for w in model.weights], logits

    def wrong(self, answer):
        weights, logits = answer
        if not np.isfinite(logits).all():
            return "logits that are no numbers"
        pairs = list(zip(weights, self.right[0], strict=False))
        same = len(weights) == len(self.right[0])
        same = same and all(np.array_equal(one, other) for one, other in pairs)
        return "" if same or self.inside else "other weights"


class Workdir(Reader):
    """A run to translate with, of which any file is damaged, or the pair of two."""

    files = (
        *("config.json", "model.keras", "tokenizer/tokenizer.json"),
        "tokenizer/sentencepiece.model",
    )

    def make(self):
        save_run(make_translator(), self.folder)

    def damage(self, random):
        if random.random() < 0.2:  # somebody changes the model and its sum
            model = damaged(self.clean[self.files[3]], random)
            found = json.loads(self.clean[self.files[2]])
            found["sha256"] = hashlib.sha256(model).hexdigest()
            (self.folder / self.files[3]).write_bytes(model)
            (self.folder / self.files[2]).write_text(json.dumps(found))
            return self.files[3]
        return super().damage(random)

    def restore(self, name):
        super().restore(name)
        (self.folder / self.files[2]).write_bytes(self.clean[self.files[2]])

    def read(self):
        import keras

        from keras_attention.decoding.translator import Translator

        keras.utils.clear_session()
        translator = Translator.load(self.folder)
        config = translator.decoding_config
        return [translator.tokenizer.pieces, config.to_dict()], translator

    def wrong(self, answer):
        told, translator = answer
        if told[0] != self.right[0][0]:
            return "another tokenizer"
        weights = zip(
            translator.model.weights, self.right[1].model.weights, strict=True
        )
        same = all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in weights)
        return "" if same else "other weights"


class SavedModel(Reader):
    """An exported version; `exported` in the folder above is copied if it is there."""

    def make(self):
        from keras_attention.export import export_saved_model

        made = self.folder.parent / "exported"
        if not made.exists():
            export_saved_model(make_translator(), made)
        shutil.copytree(made / "1", self.folder, dirs_exist_ok=True)
        found = (p for p in sorted(self.folder.rglob("*")) if p.is_file())
        names = [str(path.relative_to(self.folder)) for path in found]
        self.files = (*names, "saved_model.pb", "saved_model.pb", "manifest.json")
        self.signed = False

    def damage(self, random):
        self.signed = False
        name = random.choice(self.files)
        path = self.folder / name
        if not damage_place(path, random):
            content = self.content(name, random)
            self.signed = name != "manifest.json" and random.random() < 0.3
            path.write_bytes(content)
            if self.signed:
                self.sign()
        return name

    def sign(self):
        """Somebody writes the sums anew, but for that of the subword model."""
        from keras_attention.export.checksums import files_sha256, weights_sha256

        manifest = json.loads(self.clean["manifest.json"])
        manifest["weights"]["sha256"] = weights_sha256(self.folder)
        manifest["files"] = files_sha256(self.folder)
        (self.folder / "manifest.json").write_text(json.dumps(manifest))

    def restore(self, name):
        super().restore(name)
        super().restore("manifest.json")

    def read(self):
        from keras_attention.export import engine
        from keras_attention.export.allowed_ops import check_ops
        from keras_attention.export.checksums import check_manifest, exported_settings
        from keras_attention.export.guard import check_restored
        from keras_attention.export.warmup import read_warmup

        check_ops(self.folder)
        check_restored(self.folder)
        check_manifest(self.folder)
        exported_settings(self.folder)
        read_warmup(self.folder)
        request = {"signature": "serving_default", "inputs": {"text": ["to be", ""]}}
        return engine.answers(self.folder, [request], timeout=120)

    def wrong(self, answer):
        if answer.get("load_error"):
            return "" if self.signed else f"no load, {answer['load_error']}"
        (answer,) = answer["answers"]
        if "error" in answer:
            return "" if self.signed else f"no answer, {answer['error']}"
        same = answer["outputs"] == self.right["answers"][0]["outputs"]
        return "" if same or self.signed else "another answer"


READERS = {reader.__name__: reader for reader in (Checkpoint, Model, Workdir)}
READERS[SavedModel.__name__] = SavedModel
warnings.filterwarnings("ignore", category=DeprecationWarning)
