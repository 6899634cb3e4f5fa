"""What a run can be asked for beside its plain course: callbacks, a start, XLA."""

import csv
import io
import re
import signal

import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention.training.checkpoint_files import list_checkpoints, read_weights
from keras_attention.training.progress import read_metrics
from keras_attention.training.run import train
from tests.integration.small_runs import (
    SMALL,
    Signal,
    assert_same_run,
    copy_corpora,
    small_run,
)


def records_of(workdir, kind):
    return [r for r in read_metrics(workdir / "metrics.jsonl") if r["kind"] == kind]


@pytest.mark.slow
def test_callbacks_of_keras_take_part(tmp_path):
    seen = []
    callbacks = [
        # No epoch is better by 100, so the run ends after its second.
        keras.callbacks.EarlyStopping("val_nll", mode="min", min_delta=100, patience=1),
        keras.callbacks.ModelCheckpoint(
            tmp_path / "best.keras", "val_nll", mode="min", save_best_only=True
        ),
        keras.callbacks.CSVLogger(tmp_path / "epochs.csv"),
        keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: seen.append(sorted(logs))
        ),
    ]
    run = tmp_path / "run"
    result = small_run(
        run, callbacks=callbacks, max_steps=500, validation_steps=2, log_steps=1
    )
    assert result.reason == "callback"
    names = ["loss", "nll", "perplexity", "token_accuracy"]
    assert seen == [names] * result.step
    with open(tmp_path / "epochs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0", "1"]
    validations = [r["nll"] for r in records_of(run, "validation")]
    assert float(rows[-1]["val_nll"]) in validations
    trained = records_of(run, "train")
    for epoch, row in enumerate(rows):
        nlls = [r["nll"] for r in trained if r["epoch"] == epoch]
        assert min(nlls) < float(row["nll"]) < max(nlls)
    kept = keras.saving.load_model(tmp_path / "best.keras")
    last = read_weights(list_checkpoints(run / "checkpoints")[-1])
    for number, array in enumerate(kept.get_weights()):  # the better of two epochs
        np.testing.assert_array_equal(array, last[number])


@pytest.mark.slow
def test_a_run_from_anothers_weights_begins_its_schedule_anew(tmp_path):
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    small_run(first, max_steps=5, log_steps=1)

    class First(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.weights = [np.array(weight) for weight in self.model.get_weights()]
            self.updates = int(self.model.optimizer.iterations)

    begun = First()
    options = {
        "preset": "tiny",
        "corpora": copy_corpora(),
        "initial_workdir": first,
        "stream": io.StringIO(),
    }
    sizes = {k: v for k, v in SMALL["transformer"].items() if k != "vocabulary_size"}
    training = {**SMALL["training"], "max_steps": 2, "log_steps": 1}
    parts = {"transformer": sizes, "training": training}
    train(second, callbacks=[begun], **parts, **options)
    averaged = keras.saving.load_model(first / "model.keras").get_weights()
    for one, weight in zip(begun.weights, averaged, strict=True):
        np.testing.assert_array_equal(one, weight)
    assert begun.updates == 0
    rates = [
        [r["learning_rate"] for r in records_of(d, "train")] for d in (first, second)
    ]
    assert rates[1] == rates[0][:2]

    lines = [line for side in copy_corpora()[0].sources for line in side.split()]
    unlike = ka.SubwordTokenizer.learn_from_lines(lines[:20], 12, "unigram")
    unlike.save(other / "tokenizer")
    with pytest.raises(ValueError, match="only with its vocabulary. Received: differ"):
        train(other, **parts, **options)


class Overflow(keras.callbacks.Callback):
    """Makes the next gradients overflow in float16 after the second update."""

    done = 0

    def on_train_batch_end(self, batch, logs=None):
        self.done += 1
        if self.done == 2:
            self.model.optimizer.dynamic_scale.assign(2.0**26)


@pytest.mark.slow
def test_a_run_in_float16_goes_on_with_its_scale_and_its_schedule(tmp_path):
    options = {"dtype_policy": "mixed_float16", "log_steps": 1, "warmup_steps": 100}
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    small_run(whole, callbacks=[Overflow()], **options)
    small_run(parted, callbacks=[Overflow(), Signal(signal.SIGTERM, 4)], **options)
    small_run(parted, **options)
    assert_same_run(whole, parted)
    records = records_of(whole, "train")
    skipped = [record["skipped_updates"] for record in records]
    assert skipped[:2] == [0, 0] and skipped[2] == 1 and 1 < skipped[-1] < 10
    schedule = ka.NoamSchedule(16, 100)
    for record in records:
        updates = record["step"] - record["skipped_updates"]
        assert record["learning_rate"] == pytest.approx(float(schedule(updates - 1)))
    assert all(np.isfinite(record["nll"]) for record in records)


@pytest.mark.slow
def test_a_compiled_run_is_the_same_run(tmp_path):
    stream, weights = io.StringIO(), []
    # Rates of Adam up to 0.009; at ten times that noise alone grows to 1e-5.
    changed = {"validation_steps": None, "learning_rate_scale": 0.1}
    training = {**SMALL["training"], **changed}
    for jit_compile in (False, True):
        workdir = tmp_path / str(jit_compile)
        train(
            workdir,
            preset="tiny",
            transformer={**SMALL["transformer"], "dropout_rate": 0.0},
            training={**training, "jit_compile": jit_compile},
            corpora=(copy_corpora()[0], None),
            stream=stream,
        )
        weights.append(read_weights(list_checkpoints(workdir / "checkpoints")[-1]))
    (end,) = records_of(workdir, "end")
    lines = [line for line in stream.getvalue().splitlines() if "compiling" in line]
    assert 1 < end["compilations"] == len(lines)
    done, shapes = re.search(r"\((\d+) of (\d+)\)$", lines[-1]).groups()
    assert int(done) == end["compilations"] <= int(shapes)
    for number, array in weights[0].items():
        np.testing.assert_allclose(array, weights[1][number], atol=1e-5)
