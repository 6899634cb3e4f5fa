"""The model that a run leaves behind: the average of its last checkpoints."""

import pathlib
import warnings

import numpy as np
from absl import logging

from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.decoding.loading import load_transformer
from keras_attention.decoding.model_files import least_weights
from keras_attention.evaluation.translation import BLEU
from keras_attention.files import replacing
from keras_attention.models.build import build_transformer
from keras_attention.training import workdir as workdirs
from keras_attention.training.checkpoint_files import (
    best_checkpoint,
    checkpoint_step,
    list_checkpoints,
    read_weights,
    scheduled_checkpoints,
)
from keras_attention.training.progress import append_metrics

# A run that goes on beside deletes checkpoints; each of its saves costs one attempt.
_ATTEMPTS = 5
# What may differ between a model and the one whose weights it starts from.
_FREE_FIELDS = ("dropout_rate", "attention_dropout_rate", "attention_chunk_length")


def average_workdir(workdir, config=None, count=None, best=False):
    """Averages the last checkpoints of a run into its `model.keras` (paper, 6.1).

    A damaged checkpoint among them is left out with a warning, and so, silently, is one
    that a signal or a best BLEU made: the average is that of the schedule. The run may
    go on meanwhile; its checkpoints are only read.

    Args:
        workdir: directory of the run.
        config: its configuration; None = read from the workdir.
        count: checkpoints to average; None = the configuration's; fewer are taken when
            the run has fewer.
        best: take the one checkpoint with the best validation BLEU instead.

    Returns:
        (path of `model.keras`, list of the averaged weights).

    Raises:
        ValueError: no run, no checkpoint that can be read, no validation BLEU for
            `best`, a count below 1, or checkpoints of different models.
    """
    workdir = pathlib.Path(workdir)
    config = config or workdirs.read_config(workdir)
    if config is None:
        raise ValueError(
            f"Expected the workdir of a run. Received: {workdir}, which has no "
            f"{workdirs.CONFIG}. Train in it first."
        )
    count = config["training"].average_checkpoints if count is None else count
    if count < 1:
        raise ValueError(f"`count` must be at least 1. Received: {count}.")
    paths, weights = _weights(workdir / workdirs.CHECKPOINTS, count, best)
    _check_enough(weights, config["transformer"], paths[0])
    model = build_transformer(config["transformer"], config["training"].dtype_policy)
    model.set_weights(weights)
    path = save_model(model, workdir / workdirs.MODEL)
    (workdir / BLEU).unlink(missing_ok=True)  # it was that of other weights
    steps = [checkpoint_step(each) for each in paths]
    append_metrics(
        workdir / workdirs.METRICS,
        {"kind": "average", "step": steps[-1], "steps": steps},
    )
    return path, weights


def _check_enough(weights, config, path):
    # Before a model is made: a damaged size would take all memory.
    found, least = sum(weight.size for weight in weights), least_weights(config)
    if found < least:
        raise ValueError(
            f"Expected checkpoints of the model in {workdirs.CONFIG}, which has at "
            f"least {least} weights. Received: {path} with {found}. Restore the one "
            "or the other."
        )


def _weights(folder, count, best):
    for left in reversed(range(_ATTEMPTS)):
        if best:
            paths = [_best(folder)]
        else:
            paths = (scheduled_checkpoints(folder) or list_checkpoints(folder))[-count:]
        try:
            readable = _readable(paths)
            weights = average_weights(readable)
            names = ", ".join(path.name for path in readable)
            logging.info(
                "the model is %s%s", "the mean of " * (len(readable) > 1), names
            )
            return readable, weights
        except ValueError:
            if left == 0 or all(path.exists() for path in paths):
                raise


def _best(folder):
    path = best_checkpoint(folder)
    if path is None:
        raise ValueError(
            "Expected a checkpoint with a validation BLEU. Received: none in "
            f"{folder}. Train with validation pairs, or average the last ones."
        )
    return path


def _readable(paths):
    # Reads them once more than the average does, one at a time: memory stays bounded.
    kept = []
    for path in paths:
        try:
            read_weights(path)
        except ValueError as error:
            if not path.exists():  # a run that goes on has deleted it
                raise
            warnings.warn(f"{error} The average leaves it out.", stacklevel=3)
        else:
            kept.append(path)
    if paths and not kept:
        raise ValueError(
            "Expected at least one checkpoint that can be read. Received: "
            f"{len(paths)} damaged ones beside {paths[-1]}. Restore one of them, or "
            "train again in another workdir."
        )
    return kept


def average_weights(paths):
    """Returns the mean of the model weights of several checkpoints (paper, 6.1).

    Sums are float32 (float64 for float64 weights), the result has the dtype of the
    weight. The optimizer, its step count and the generators are left out. The average
    of one checkpoint is that checkpoint, bit for bit.

    Args:
        paths: of the checkpoints, at least one.

    Returns:
        A list of NumPy arrays in the order of `model.weights`.

    Raises:
        ValueError: no checkpoint, or checkpoints of different models.
    """
    if not paths:
        raise ValueError(
            "Expected at least one checkpoint to average. Received: none. Train first."
        )
    first = read_weights(paths[0])
    total = {key: value.astype(_sum_dtype(value)) for key, value in first.items()}
    for path in paths[1:]:
        weights = read_weights(path)
        _check_same_keys(first, weights, paths[0], path)
        for key, value in weights.items():
            total[key] += value.astype(total[key].dtype)
    count = len(paths)
    return [(total[k] / count).astype(value.dtype) for k, value in first.items()]


def _sum_dtype(value):
    return np.float64 if value.dtype == np.float64 else np.float32


def _check_same_keys(first, second, first_path, second_path):
    def described(weights):
        return {
            f"weights/{key} {value.dtype.name}{list(value.shape)}"
            for key, value in weights.items()
        }

    one, two = described(first), described(second)
    if one != two:
        raise ValueError(
            "Checkpoints to average must hold the same weights. Received: only in "
            f"{first_path}: {sorted(one - two)}; only in {second_path}: "
            f"{sorted(two - one)}. Average checkpoints of one run."
        )


def save_model(model, path):
    """Saves a model as `.keras`, whole or not at all; returns the path."""
    with replacing(path) as temporary:
        model.save(temporary)
    return pathlib.Path(path)


def load_initial_weights(model, config, tokenizer, initial_workdir):
    """Gives a new run the weights of an earlier one.

    Args:
        model: of the new run.
        config: of the new run.
        tokenizer: of the new run.
        initial_workdir: directory of the earlier run, with its `model.keras`.

    Raises:
        ValueError: no such model or a damaged one, another vocabulary, or a model
            that differs in more than its dropout rates.
    """
    initial = pathlib.Path(initial_workdir)
    if workdirs.read_config(initial) is None or not (initial / workdirs.MODEL).exists():
        raise ValueError(
            "`initial_workdir` must hold a finished run with its averaged model. "
            f"Received: {initial}. Finish or average that run first."
        )
    vocabulary = SubwordTokenizer.load(initial / workdirs.TOKENIZER)
    if vocabulary.sha256 != tokenizer.sha256:
        raise ValueError(
            "A run can start from another's weights only with its vocabulary. "
            "Received: different tokenizers. Copy "
            f"{initial / workdirs.TOKENIZER} into the new "
            "workdir before training."
        )
    earlier = load_transformer(initial / workdirs.MODEL)
    old, new = earlier.transformer_config.to_dict(), config["transformer"].to_dict()
    differences = [
        f"{field}: {old[field]!r} in {initial}, {new[field]!r} asked for"
        for field in old
        if old[field] != new[field] and field not in _FREE_FIELDS
    ]
    if differences:
        raise ValueError(
            "A run can start from another's weights only with the same model. "
            f"Received: {'; '.join(differences)}. Ask for that run's values."
        )
    model.set_weights(earlier.get_weights())
