"""The whole way on the embedded corpus: learn, train, average, score, export, serve.

`make quickstart` runs it; every step is the library function behind a binary.
"""

import pathlib
import subprocess
import sys
import time

from keras_attention.data.synthetic import synthetic_corpus
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.translation import evaluate_translation
from keras_attention.export.saved_model import export_saved_model
from keras_attention.training.run import train
from keras_attention.training.workdir import TENSORBOARD

WORKDIR, EXPORT_DIR = "quickstart", "saved_models/quickstart"
HELD_OUT = 1_000

# Small enough for two cores and eleven minutes; the rest is the paper's.
PRESET = "tiny"
TRANSFORMER = {
    "vocabulary_size": 2_000,
    "num_layers": 2,
    "feed_forward_dim": 512,
    "dropout_rate": 0.0,
}
TRAINING = {
    "batch_tokens": 2_048,
    "max_steps": 2_400,
    "max_minutes": 11.0,
    "warmup_steps": 500,
    "checkpoint_steps": 100,
    "average_checkpoints": 5,
    "validation_steps": 500,
    "validation_sentences": 100,
    "log_steps": 50,
}

# Imports TensorFlow and its text operations only; what it loads must bring the rest.
CLIENT = """
import sys
import tensorflow as tf
import tensorflow_text
served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
texts = sys.stdin.buffer.read().split(b"\\n")[:-1]
answer = served(text=tf.constant(texts, tf.string))
if "keras_attention" in sys.modules:
    sys.exit("the export has imported keras_attention")
for translation in answer["translation"].numpy():
    sys.stdout.buffer.write(translation + b"\\n")
"""


def quickstart(
    workdir=WORKDIR,
    export_dir=EXPORT_DIR,
    transformer=None,
    training=None,
    held_out=HELD_OUT,
):
    """Runs the whole way and prints what came out of each step.

    A second call finds the finished run: it scores and exports again. A call that is
    stopped ends the process; the next one goes on.

    Args:
        workdir: directory of the run.
        export_dir: where the next version of the SavedModel goes.
        transformer, training: dictionaries of fields that replace the recipe's.
        held_out: sentences of the test split to score.

    Returns:
        Dictionary: "bleu" and "novel_bleu" (reports of `evaluate_translation` on all
        held-out sentences and on those with combinations that training never has),
        "version" (path of the export) and "translations" (source -> served one).
    """
    started = time.monotonic()
    workdir = pathlib.Path(workdir)
    result = train(
        workdir,
        data={"synthetic": True},
        preset=PRESET,
        transformer={**TRANSFORMER, **(transformer or {})},
        training={**TRAINING, **(training or {})},
    )
    if result.model_path is None:  # SIGTERM or Ctrl-C
        print("stopped; the same command goes on from the last checkpoint")
        sys.exit(result.exit_code)
    _say(started, f"trained {result.step} updates and averaged the last checkpoints")
    examples = synthetic_corpus("test", held_out)
    novel = [example for example in examples if example.novel]
    novel_report = _evaluate(workdir, "novel", novel)
    _say(started, _score("held-out, new combinations of clauses", novel_report))
    report = _evaluate(workdir, "test", examples)
    _say(started, _score("held-out", report))
    sources = [example.source for example in examples]
    version = export_saved_model(Translator.load(workdir), export_dir, texts=sources)
    _say(started, f"exported to {version}")
    translations = served_translations(version, sources[:5])
    _say(started, "translated through the export, in a process without this package:")
    for source, translation in translations.items():
        print(f"    {source}\n    -> {translation}")
    print(f"TensorBoard logs: {workdir / TENSORBOARD}")
    return {
        "bleu": report,
        "novel_bleu": novel_report,
        "version": version,
        "translations": translations,
    }


def served_translations(version, sources):
    """Returns {source: translation} of a SavedModel, asked in a fresh process.

    Args:
        version: path of the SavedModel.
        sources: list of str.

    Raises:
        RuntimeError: the process failed; what it said is told.
    """
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(pathlib.Path(version).resolve())],
        input="".join(f"{source}\n" for source in sources).encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(
            "The process that loads the export failed. Expected translations. "
            f"Received: {done.stderr.decode(errors='replace')[-2000:]}"
        )
    said = done.stdout.decode().split("\n")[:-1]
    return dict(zip(sources, said, strict=True))


def _evaluate(workdir, name, examples):
    paths = []
    for side in ("source", "target"):
        path = workdir / f"{name}.{side}"
        lines = [f"{getattr(example, side)}\n" for example in examples]
        path.write_text("".join(lines), encoding="utf-8")
        paths.append(path)
    return evaluate_translation(workdir, paths[:1], paths[1:])


def _score(what, report):
    return (
        f"BLEU {report['score']:.2f} on {report['sentences']} sentences ({what})\n"
        f"    {report['signature']}"
    )


def _say(started, text):
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    print(f"[{minutes:2d}:{seconds:02d}] {text}", flush=True)


if __name__ == "__main__":
    quickstart()
