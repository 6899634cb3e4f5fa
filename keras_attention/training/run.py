"""A run: from two text files, or the workdir of an earlier part, to a trained model."""

import contextlib
import dataclasses
import pathlib
import signal

from keras_attention.decoding.loading import load_transformer
from keras_attention.files import delete_leftovers
from keras_attention.training.averaging import average_workdir, load_initial_weights
from keras_attention.training.callbacks import make_callbacks
from keras_attention.training.checkpoints import Checkpoints, RunState
from keras_attention.training.cluster import read_cluster
from keras_attention.training.followers import Mute
from keras_attention.training.lock import locked, naming_disk_errors
from keras_attention.training.loop import Loop, RunParts
from keras_attention.training.memory import peak_memory_gib
from keras_attention.training.pictures import Pictures, choose_pair
from keras_attention.training.prepare import choose_config, compiled_model, prepare
from keras_attention.training.profiler import Profiler
from keras_attention.training.progress import MetricsLog, Progress, duration
from keras_attention.training.signals import StopSignals
from keras_attention.training.steps import Steps
from keras_attention.training.strategy import make_strategy
from keras_attention.training.tensorboard import TensorBoardLog
from keras_attention.training.validation import Validator
from keras_attention.training.workdir import (
    CHECKPOINTS,
    METRICS,
    MODEL,
    TENSORBOARD,
    TOKENIZER,
    read_config,
    write_config,
)
from keras_attention.training.workers import connect, workers_of

SPARE_CHECKPOINTS = 2  # kept at least, so that a damaged newest one has a fallback


@dataclasses.dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Args:
        reason: "max_steps", "max_minutes", "patience", "callback", "SIGTERM", "SIGINT".
        step: updates done.
        seconds: of training, over all resumes.
        validation: figures of the averaged model; empty after a signal.
        model_path: of the averaged model; None after a signal.

    Example:

    >>> RunResult("SIGTERM", 10, 2.5, {}, None).exit_code
    143
    """

    reason: str
    step: int
    seconds: float
    validation: dict
    model_path: pathlib.Path | None

    @property
    def exit_code(self):
        """0, or 128 + the number of the signal: 143 for SIGTERM, 130 for SIGINT."""
        if self.reason.startswith("SIG"):
            return 128 + signal.Signals[self.reason].value
        return 0


def train(
    workdir,
    data=None,
    preset=None,
    transformer=None,
    training=None,
    decoding=None,
    corpora=None,
    initial_workdir=None,
    callbacks=(),
    strategy=None,
    stream=None,
):
    """Trains a model in a workdir, or goes on where the workdir's run was stopped.

    A workdir without a run gets `config.json` and, if it has none, a tokenizer learned
    from the training pairs. A run that goes on is bit for bit the run that was never
    stopped (on CPU, and wherever TensorFlow's operations are deterministic). At the end
    the last `average_checkpoints` checkpoints are averaged into `model.keras`.

    The minutes of a run count updates, validations and checkpoints, over all resumes;
    not the start of a process and not the final average with its validation.

    Args:
        workdir: directory of the run; made when missing.
        data: arguments of `load_corpora`; None = those
            that the workdir has recorded.
        preset: name of a preset; None = the configuration of the workdir, or "base".
        transformer, training, decoding: dictionaries of configuration fields that
            replace those of the preset; `vocabulary_size` is that of the tokenizer.
        corpora: (training pairs, validation pairs or None), each a `ParallelCorpus`,
            in place of `data`.
        initial_workdir: an earlier run whose weights a new run starts from; schedule,
            optimizer and steps begin anew. A workdir without tokenizer takes its; model
            and vocabulary must be the same.
        callbacks: Keras callbacks; with several workers, of the same classes on all.
        strategy: a `tf.distribute.Strategy`; None = several workers where `TF_CONFIG`
            names them (all call this with the same arguments and a workdir that they
            share), else `make_strategy()`.
        stream: for the lines of progress; None = standard error.

    Returns:
        `RunResult`.

    Raises:
        ValueError: the workdir holds a run with another configuration, vocabulary or
            other pairs; or values that cannot work.
        BlockingIOError: another process trains in the workdir.
        OSError: the workdir cannot be written to any more, as on a full disk.
        FloatingPointError: the loss was not finite.
        LostWorkerError: another worker never came, or does not answer any more.
    """
    workdir = pathlib.Path(workdir)
    overrides = {
        "transformer": dict(transformer or {}),
        "training": dict(training or {}),
        "decoding": dict(decoding or {}),
    }
    cluster = read_cluster() if strategy is None else None
    workdir.mkdir(parents=True, exist_ok=True)
    strategy, workers = _join(cluster, strategy, workdir, preset, overrides, stream)
    lock = locked(workdir) if workers.is_chief else contextlib.nullcontext()
    with naming_disk_errors(workdir), lock, workers.telling_of_loss():
        for directory in (workdir, workdir / TOKENIZER, workdir / TENSORBOARD):
            if workers.is_chief:
                delete_leftovers(directory)
        inputs = prepare(
            workdir,
            data,
            corpora,
            preset,
            overrides,
            strategy,
            initial_workdir,
            stream,
            workers,
        )
        # They are told metrics, which all workers sum up together.
        workers.check_same({"callbacks": [type(c).__name__ for c in callbacks]})
        parts = _assemble(workdir, inputs, strategy, callbacks, stream, workers)
        try:
            _begin(workdir, parts, inputs.tokenizer)
            with parts.signals:  # until here a signal ends the process: nothing is lost
                return _run(workdir, parts)
        except FloatingPointError:
            parts.tensorboard.end_session(succeeded=False)
            raise
        finally:
            parts.progress.close()
            parts.profiler.close()
            parts.metrics_log.close()
            parts.tensorboard.close()


def _join(cluster, strategy, workdir, preset, overrides, stream):
    # Returns (strategy, workers). The other workers are waited for before TensorFlow
    # does anything, as its collective operations ask for it.
    size = overrides["transformer"].get("vocabulary_size") or 37_000
    draft = choose_config(read_config(workdir), preset, overrides, size)["training"]
    if cluster is not None:
        say = Progress(draft.max_steps, stream=stream).say
        return connect(cluster, draft.peer_timeout_seconds, say)
    strategy = strategy or make_strategy()
    return strategy, workers_of(strategy, draft.peer_timeout_seconds)


def _begin(workdir, parts, tokenizer):
    restored = parts.checkpoints.restore()
    if restored is not None:
        parts.progress.say(f"goes on from {restored}")
    elif "initial_workdir" in parts.config:  # of this command or recorded
        initial = parts.config["initial_workdir"]
        load_initial_weights(parts.model, parts.config, tokenizer, initial)
    if parts.workers.is_chief:
        write_config(workdir, parts.config)
    parts.steps.start_at(parts.state.step)
    validated = not parts.state.validation_due
    parts.metrics_log.open_at(parts.state.step, validated)
    parts.tensorboard.open_at(parts.state.step, validated)
    parts.tensorboard.begin_session(parts.config)
    if parts.state.step == 0:
        parts.pictures.begin()


def _run(workdir, parts):
    loop, state = Loop(parts), parts.state
    reason, lockstep = loop.run(), loop.lockstep
    lockstep.agree()  # a signal may have come while it was saved
    path, values = None, None
    if lockstep.received is None:
        path, weights = _average(workdir, parts)
        lockstep.agree()
        if lockstep.received is None:
            parts.model.set_weights(weights)
            values = loop.validate("final")
    if values is None:  # the run that goes on will average, or validate, again
        reason, path = signal.Signals(lockstep.received).name, None
    if path is not None:
        parts.pictures.embeddings(state.step)
    peak = peak_memory_gib()
    if path is not None:
        record = {"kind": "end", "step": state.step, "reason": reason}
        if parts.config["training"].jit_compile:
            record["compilations"] = parts.steps.compilations
        parts.metrics_log.write({**record, "peak_memory_gib": peak})
        parts.tensorboard.end_session(succeeded=True)
    parts.progress.say(
        f"stopped by {reason} at step {state.step} after {duration(state.seconds)} "
        f"of training; peak memory {peak:.2f} GiB"
    )
    most = parts.config["training"].max_steps
    if reason == "max_minutes" and state.step < most:
        parts.progress.say(
            f"the time limit came after {state.step} of {most} updates; the same "
            "command with a larger max_minutes goes on from here"
        )
    parts.workers.everyone("ends")  # none leaves while another still needs it
    return RunResult(reason, state.step, state.seconds, values or {}, path)


def _average(workdir, parts):
    count = parts.config["training"].average_checkpoints
    with parts.workers.chief_first():
        if parts.workers.is_chief:
            return average_workdir(workdir, parts.config, count)
        path = workdir / MODEL
        return path, load_transformer(path).get_weights()


def _assemble(workdir, inputs, strategy, callbacks, stream, workers):
    config = inputs.config
    training = config["training"]
    progress = Progress(training.max_steps, training.max_minutes, stream)
    if not workers.is_chief:
        progress = Mute()
    progress.say(inputs.describe())
    model = compiled_model(config, strategy)
    shapes = inputs.train_batches.shapes
    weighted = inputs.train_batches.encoded.weights is not None
    options = training.jit_compile, shapes, progress.say, weighted
    steps = Steps(model, strategy, *options)
    board = TensorBoardLog(workdir / TENSORBOARD) if workers.is_chief else Mute()
    validator, pair = None, None
    if inputs.valid_batches is not None:
        validator = Validator(
            model,
            steps,
            inputs.valid_batches,
            inputs.valid,
            inputs.tokenizer,
            config["decoding"],
            training.validation_sentences,
        )
        pair = choose_pair(inputs.valid, inputs.tokenizer, training)
    pictures = Pictures(board, model, inputs.tokenizer, pair, training.histograms)
    profiler = Profiler(workdir / TENSORBOARD, training.profile_steps)
    state = RunState()
    keep = max(training.average_checkpoints, SPARE_CHECKPOINTS)
    return RunParts(
        config=config,
        model=model,
        steps=steps,
        batches=inputs.train_batches,
        validator=validator,
        state=state,
        checkpoints=Checkpoints(workdir / CHECKPOINTS, model, state, keep, workers),
        metrics_log=MetricsLog(workdir / METRICS) if workers.is_chief else Mute(),
        tensorboard=board,
        pictures=pictures if workers.is_chief else Mute(),
        profiler=profiler if workers.is_chief else Mute(),
        progress=progress,
        callbacks=make_callbacks(callbacks, model, training.max_steps),
        signals=StopSignals(),
        workers=workers,
    )
