"""A run: from two text files, or the workdir of an earlier part, to a trained model."""

import dataclasses
import pathlib
import signal

from keras_attention.files import delete_leftovers
from keras_attention.training.averaging import average_workdir, load_initial_weights
from keras_attention.training.callbacks import make_callbacks
from keras_attention.training.checkpoints import Checkpoints, RunState
from keras_attention.training.lock import locked, naming_disk_errors
from keras_attention.training.loop import Loop, RunParts
from keras_attention.training.memory import peak_memory_gib
from keras_attention.training.pictures import Pictures, choose_pair
from keras_attention.training.prepare import compiled_model, prepare
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
    TENSORBOARD,
    TOKENIZER,
    write_config,
)

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
        initial_workdir: an earlier run whose weights a new run starts from. A workdir
            without tokenizer takes its; model and vocabulary must be the same.
        callbacks: Keras callbacks.
        strategy: a `tf.distribute.Strategy`; None = `make_strategy()`.
        stream: for the lines of progress; None = standard error.

    Returns:
        `RunResult`.

    Raises:
        ValueError: the workdir holds a run with another configuration, vocabulary or
            other pairs; or values that cannot work.
        BlockingIOError: another process trains in the workdir.
        OSError: the workdir cannot be written to any more, as on a full disk.
        FloatingPointError: the loss was not finite.
    """
    workdir = pathlib.Path(workdir)
    workdir.mkdir(parents=True, exist_ok=True)
    overrides = {
        "transformer": dict(transformer or {}),
        "training": dict(training or {}),
        "decoding": dict(decoding or {}),
    }
    strategy = strategy or make_strategy()
    with naming_disk_errors(workdir), locked(workdir):
        for directory in (workdir, workdir / TOKENIZER, workdir / TENSORBOARD):
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
        )
        parts = _assemble(workdir, inputs, strategy, callbacks, stream)
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


def _begin(workdir, parts, tokenizer):
    restored = parts.checkpoints.restore()
    if restored is not None:
        parts.progress.say(f"goes on from {restored}")
    elif "initial_workdir" in parts.config:  # of this command or recorded
        initial = parts.config["initial_workdir"]
        load_initial_weights(parts.model, parts.config, tokenizer, initial)
    write_config(workdir, parts.config)
    parts.steps.start_at(parts.state.step)
    parts.metrics_log.open_at(parts.state.step)
    parts.tensorboard.open_at(parts.state.step)
    parts.tensorboard.begin_session(parts.config)
    if parts.state.step == 0:
        parts.pictures.begin()


def _run(workdir, parts):
    loop, state, signals = Loop(parts), parts.state, parts.signals
    reason = loop.run()
    path, values = None, {}
    if signals.received is None:
        count = parts.config["training"].average_checkpoints
        path, weights = average_workdir(workdir, parts.config, count)
    if path is not None and signals.received is not None:  # while it was averaged
        reason, path = signal.Signals(signals.received).name, None
    if path is not None:
        parts.model.set_weights(weights)
        values = loop.validate("final")
        parts.pictures.embeddings(state.step)
    peak = peak_memory_gib()
    if path is not None:
        record = {"kind": "end", "step": state.step, "reason": reason}
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
    return RunResult(reason, state.step, state.seconds, values, path)


def _assemble(workdir, inputs, strategy, callbacks, stream):
    config = inputs.config
    training = config["training"]
    progress = Progress(training.max_steps, training.max_minutes, stream)
    progress.say(inputs.describe())
    model = compiled_model(config, strategy)
    steps = Steps(model, strategy, training.jit_compile)
    board = TensorBoardLog(workdir / TENSORBOARD)
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
    state = RunState()
    keep = max(training.average_checkpoints, SPARE_CHECKPOINTS)
    return RunParts(
        config=config,
        model=model,
        steps=steps,
        batches=inputs.train_batches,
        validator=validator,
        state=state,
        checkpoints=Checkpoints(workdir / CHECKPOINTS, model, state, keep),
        metrics_log=MetricsLog(workdir / METRICS),
        tensorboard=board,
        pictures=Pictures(board, model, inputs.tokenizer, pair, training.histograms),
        profiler=Profiler(workdir / TENSORBOARD, training.profile_steps),
        progress=progress,
        callbacks=make_callbacks(callbacks, model, training.max_steps),
        signals=StopSignals(),
    )
