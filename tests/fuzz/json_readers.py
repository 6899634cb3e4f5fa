"""Readers of the JSON files of the package; see `readers`."""

import dataclasses
import json
import re

from tests.fuzz.damage import damaged_json
from tests.fuzz.readers import Reader


def config(**more):
    """A whole `config.json` of a run."""
    from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
    from keras_attention.training import workdir as workdirs

    return {
        "preset": "tiny",
        "transformer": TransformerConfig.from_preset("tiny", vocabulary_size=50),
        "training": TrainingConfig.from_preset("tiny"),
        "decoding": DecodingConfig(),
        "data": {"sha256": "a", "pairs": 3, "sources": {"target_language": "de"}},
        "versions": workdirs.versions(),
        **more,
    }


def meant(content, name):
    """The part `name` of JSON text, with the defaults of its configuration."""
    from keras_attention.training.workdir import PARTS

    told = json.loads(content)[name]
    return json.loads(json.dumps(PARTS[name](**told).to_dict()))


class RunConfig(Reader):
    files = ("config.json",)

    def make(self):
        from keras_attention.training import workdir as workdirs

        workdirs.write_config(self.folder, config())

    def read(self):
        from keras_attention.training import workdir as workdirs

        found = workdirs.read_config(self.folder)
        if found is not None:  # it can be written and read again
            workdirs.write_config(self.folder / "..", found)
            if workdirs.read_config(self.folder / "..") != found:
                raise AssertionError("written, and read, it is another")
        return found

    def wrong(self, answer):
        if answer is None:
            return "" if not (self.folder / "config.json").exists() else "no run"
        content = self.bytes_of("config.json")
        for name in ("transformer", "training", "decoding"):
            if json.loads(json.dumps(answer[name].to_dict())) != meant(content, name):
                return f"another {name}"
        return "" if answer["data"] == json.loads(content)["data"] else "other data"


class SearchConfig(RunConfig):
    def read(self):
        from keras_attention.decoding.loading import _read_config, read_record
        from keras_attention.evaluation.translation import _cost, _target_language

        decoding, sha256 = _read_config(self.folder)
        record = read_record(self.folder)
        _cost(self.folder, record, None)
        _target_language(None, record)
        return decoding, sha256

    def wrong(self, answer):
        told = json.loads(json.dumps(answer[0].to_dict()))
        content = self.bytes_of("config.json")
        return "" if told == meant(content, "decoding") else "another search"


class Metrics(Reader):
    files = ("metrics.jsonl",)

    def make(self):
        records = [{"kind": "train", "step": i, "nll": 1.5 / (i + 1)} for i in range(9)]
        records[4] = {"kind": "average", "step": 4, "steps": [3, 4]}
        records[6] = {"kind": "validation", "step": 6, "examples": ["schläft\u2028"]}
        text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
        (self.folder / "metrics.jsonl").write_text(text)

    def content(self, name, random):
        if random.random() < 0.5:
            lines = self.clean[name].splitlines(keepends=True)
            row = random.randrange(len(lines))
            lines[row] = damaged_json(lines[row], random).replace(b"\n", b" ") + b"\n"
            return b"".join(lines)
        return super().content(name, random)

    def read(self):
        from keras_attention.training.progress import MetricsLog, read_metrics

        path = self.folder / "metrics.jsonl"
        found, content = read_metrics(path), self.bytes_of(path.name)
        if path.is_file():
            log = MetricsLog(path)
            log.open_at(8)
            log.close()
            kept = read_metrics(path)
            path.write_bytes(content)
            if str([r for r in found if r in kept]) != str(kept):
                raise AssertionError("other records are kept")
        return found

    def wrong(self, answer):
        text = self.bytes_of("metrics.jsonl").decode("utf-8", "replace")
        lines = re.split(r"\r\n|\n|\r", text)  # JSON has none of them in a text
        told = [json.loads(line) for line in lines[:-1]]
        return "" if str(told) == str(answer) else "other records"


class Manifest(Reader):
    files = ("manifest.json", "bleu.json", "metrics.jsonl")

    def make(self):
        values = {
            "signatures": ["nbest"],
            "decoding": {"beam_size": 4, "length_penalty_alpha": 0.6},
            "tokenizer": {"kind": "bpe", "sha256": "0" * 64},
            "weights": {"sha256": "1" * 64},
            "files": {"saved_model.pb": "2" * 64},
        }
        bleu = {"score": 31.5, "signature": "x", "decoding": {"beam_size": 4}}
        average = {"kind": "average", "step": 4, "steps": [3, 4]}
        (self.folder / "manifest.json").write_text(json.dumps(values))
        (self.folder / "bleu.json").write_text(json.dumps(bleu))
        (self.folder / "metrics.jsonl").write_text(json.dumps(average) + "\n")

    def read(self):
        from keras_attention.export.checksums import exported_settings, read_manifest
        from keras_attention.export.manifest import _facts_of_run

        manifest, settings = read_manifest(self.folder), exported_settings(self.folder)
        json.dumps(manifest, ensure_ascii=False).encode()
        json.dumps(_facts_of_run(self.folder), ensure_ascii=False).encode()
        return manifest, settings

    def wrong(self, answer):
        content = self.bytes_of("manifest.json")
        told = json.loads(content) if content else {}
        return "" if answer == (told, told.get("decoding", {})) else "another manifest"


class Table(Reader):
    """What a table of many runs keeps."""

    files = ("result.json", "ablation.json")

    def make(self):
        from keras_attention.studies.ablation_table import RowResult, write_result

        row = RowResult("C_n2", "done", "N=2", {}, 33_644_544, 100_000, 9.0, 6.5, 23.1)
        write_result(self.folder / "result.json", row)
        parts = {name: {"a": 1} for name in ("transformer", "training", "decoding")}
        text = json.dumps({**parts, "data": {}})
        (self.folder / "ablation.json").write_text(text)

    def read(self):
        from keras_attention.studies.ablation_shared import read_record
        from keras_attention.studies.ablation_table import comma_separated, read_result

        result = read_result(self.folder / "result.json")
        if result is not None:
            comma_separated([dataclasses.replace(result, row="C_n2")])
        return result, read_record(self.folder)

    def wrong(self, answer):
        content = self.bytes_of("result.json")
        told = json.loads(content) if content else None
        found = answer[0] and {k: v for k, v in vars(answer[0]).items() if k in told}
        return "" if found == told else "another result"
