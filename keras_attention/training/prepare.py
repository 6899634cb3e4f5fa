"""What a run needs before its first update: configuration, subwords, batches, model."""

import dataclasses
import pathlib

import keras
import numpy as np

from keras_attention.data.batching import TokenBatches
from keras_attention.data.corpora import ParallelCorpus
from keras_attention.data.encoding import encode_pairs
from keras_attention.data.parallel_files import ParallelFiles
from keras_attention.data.token_files import encode_files
from keras_attention.data.tokenizer import CONFIG_FILE, SubwordTokenizer
from keras_attention.data.tree_corpora import TreeFiles
from keras_attention.evaluation.training_cost import update_flops
from keras_attention.models.build import build_transformer
from keras_attention.objectives.losses import LabelSmoothedCrossEntropy
from keras_attention.objectives.optimizer import make_optimizer
from keras_attention.training.checkpoint_files import has_checkpoints
from keras_attention.training.encoding_progress import EncodingProgress
from keras_attention.training.progress import Progress
from keras_attention.training.sources import Corpora, load_corpora
from keras_attention.training.strategy import check_replicas
from keras_attention.training.workdir import (
    CHECKPOINTS,
    PARTS,
    TOKENIZER,
    check_same_run,
    read_config,
    versions,
)
from keras_attention.training.workers import Alone, check_started_alike

ENCODED = "encoded"  # the ids of a corpus of files; may be deleted between two starts


@dataclasses.dataclass(frozen=True)
class RunInputs:
    """What a run reads.

    Args:
        config: the whole configuration, checked against that of the workdir.
        tokenizer: of the workdir.
        train_batches: `TokenBatches` of the training pairs.
        valid: validation pairs as text, or None.
        valid_batches: `TokenBatches` of them, or None.
    """

    config: dict
    tokenizer: SubwordTokenizer
    train_batches: TokenBatches
    valid: ParallelCorpus | None
    valid_batches: TokenBatches | None

    def describe(self):
        """Returns one line about the training batches."""
        data = self.config["data"]
        share = 100 * data["real_token_share"]
        shapes = " ".join(f"{r}x{length}" for r, length in self.train_batches.shapes)
        return (
            f"{data['pairs']} pairs, dropped {data['dropped']}; batches {shapes}; "
            f"{share:.1f}% of the cells are real tokens"
        )


def prepare(
    workdir,
    data,
    corpora,
    preset,
    overrides,
    strategy,
    initial_workdir=None,
    stream=None,
    workers=None,
):
    """Reads all that a run needs, learning the tokenizer if the workdir has none.

    Training pairs in files are tokenized into `encoded/` of the workdir, once: a run
    that goes on finds them there.

    Args:
        workdir: directory of the run, a `pathlib.Path`.
        data: arguments of `load_corpora`, or None.
        corpora: (training pairs, validation pairs or None) in place of `data`.
        preset: name of a preset, or None.
        overrides: "transformer", "training", "decoding" -> replaced fields.
        strategy: a `tf.distribute.Strategy`.
        initial_workdir: an earlier run whose tokenizer a workdir without one takes.
        stream: for lines of progress; None = standard error.
        workers: `Alone` or `Workers`. The chief learns and tokenizes; the others
            wait, and read what it has written.

    Returns:
        `RunInputs`.

    Raises:
        ValueError: the workdir holds a run with another configuration, vocabulary or
            other pairs; no pairs; validation without pairs; or values that cannot
            work. Or the workers were not started alike.
    """
    workers = workers or Alone()
    recorded = read_config(workdir)
    if data is None and corpora is None and recorded is not None:
        data = recorded["data"].get("sources")
    if initial_workdir is None and recorded is not None:
        initial_workdir = recorded.get("initial_workdir")
    # Wrong values are told before the pairs are read, which may take minutes.
    size = overrides["transformer"].get("vocabulary_size")
    known = size or (recorded["transformer"].vocabulary_size if recorded else 37_000)
    draft = choose_config(recorded, preset, overrides, known)
    # Before its first checkpoint a run holds nothing that a changed value would spoil.
    goes_on = recorded is not None and has_checkpoints(workdir / CHECKPOINTS)
    if goes_on:
        check_same_run(recorded, draft)
        _check_same_start(recorded, initial_workdir)
    check_replicas(strategy, draft["training"])
    train, valid = Corpora(*corpora) if corpora else load_corpora(**(data or {}))
    _check_validation(draft["training"], valid)
    check_started_alike(workers, draft, train, valid, initial_workdir)
    kind = draft["training"].tokenizer_kind
    with workers.chief_first():
        if not workers.is_chief:
            workers.await_file(workdir / TOKENIZER / CONFIG_FILE)
        tokenizer = _tokenizer(workdir, train, size, kind, initial_workdir)
        config = choose_config(recorded, preset, overrides, tokenizer.vocabulary_size)
        say = Progress(config["training"].max_steps, stream=stream).say
        encoded = _encode(train, tokenizer, config["training"], workdir / ENCODED, say)
    batches = _batches(encoded, config["training"])
    encoded_valid = valid and encode_pairs(
        valid, tokenizer, *_maxima(config["training"])
    )
    config["data"] = {
        "sources": data or {},
        "pairs": encoded.num_pairs,
        "dropped": encoded.dropped,
        "real_token_share": batches.real_token_share(0),
        "update_flops": update_flops(config["transformer"], batches.epoch_shapes()),
        "sha256": encoded.sha256,
        "valid_sha256": encoded_valid.sha256 if valid else None,
        "tokenizer_sha256": tokenizer.sha256,
    }
    if initial_workdir is not None:
        config["initial_workdir"] = str(initial_workdir)
    workers.check_same({k: v for k, v in config["data"].items() if k != "sources"})
    config["versions"], config["devices"] = versions(), strategy.num_replicas_in_sync
    if goes_on:
        check_same_run(recorded, config)
    valid_batches = encoded_valid and _batches(encoded_valid, config["training"])
    return RunInputs(config, tokenizer, batches, valid, valid_batches)


def _check_same_start(recorded, initial_workdir):
    began = recorded.get("initial_workdir")
    if initial_workdir is not None and str(initial_workdir) != began:
        raise ValueError(
            "The workdir holds a run that has begun, and `initial_workdir` gives a run "
            f"its first weights. Received: {initial_workdir}, and the run began with "
            f"{began or 'weights of its own'}. Leave it out, or take another workdir."
        )


def choose_config(recorded, preset, overrides, vocabulary_size):
    """Returns the configuration that a command asks for.

    Args:
        recorded: configuration of the workdir, or None.
        preset: name of a preset, or None = the recorded values, or "base".
        overrides: "transformer", "training", "decoding" -> replaced fields.
        vocabulary_size: of the tokenizer.

    Returns:
        The three configurations in a dictionary, with the name of the preset.

    Raises:
        ValueError: an unknown preset or field, or a value that cannot work.
    """
    going_on = recorded is not None and preset is None
    name = recorded.get("preset", "base") if going_on else preset or "base"
    config = {"preset": name}
    for part, cls in PARTS.items():
        replaced = dict(overrides[part])
        if part == "transformer":
            replaced["vocabulary_size"] = vocabulary_size
        if going_on:
            config[part] = recorded[part].replace(**replaced)
        else:
            config[part] = cls.from_preset(name, **replaced)
    _check_learned_positions(config["transformer"], config["training"])
    return config


def compiled_model(config, strategy):
    """Builds the model of a run with its optimizer, ready for updates.

    Args:
        config: configuration of the run.
        strategy: a `tf.distribute.Strategy`; the variables are made in its scope.

    Returns:
        A compiled `Transformer`.
    """
    training = config["training"]
    keras.utils.set_random_seed(training.seed)
    with strategy.scope():
        model = build_transformer(config["transformer"], training.dtype_policy)
        optimizer = make_optimizer(
            config["transformer"].model_dim,
            warmup_steps=training.warmup_steps,
            scale=training.learning_rate_scale,
            beta_1=training.beta_1,
            beta_2=training.beta_2,
            epsilon=training.optimizer_epsilon,
        )
        model.compile(
            optimizer=optimizer,
            loss=LabelSmoothedCrossEntropy(training.label_smoothing),
            micro_batches=training.micro_batches,
            gradient_clip_norm=training.gradient_clip_norm,
        )
        model.optimizer.build(model.trainable_variables)
    return model


def _check_learned_positions(transformer, training):
    if transformer.positions != "learned":
        return
    lengths = (training.max_source_length, training.max_target_length)
    if max(lengths) + 1 > transformer.max_length:
        raise ValueError(
            "With learned positions `max_source_length` and `max_target_length` must "
            "be below `max_length`: a source ends with END and a target begins with "
            f"START. Received: max_source_length={lengths[0]}, max_target_length="
            f"{lengths[1]}, max_length={transformer.max_length}. Enlarge `max_length` "
            "or shorten the two."
        )


def _check_validation(training, valid):
    wanted = {
        "validation_steps": training.validation_steps,
        "patience": training.patience,
    }
    named = ", ".join(f"{k}={v}" for k, v in wanted.items() if v is not None)
    if named and not valid:
        raise ValueError(
            "`validation_steps` and `patience` need validation pairs. Received: "
            f"{named} and no validation pairs. Give such pairs, or leave them out."
        )


def _tokenizer(workdir, train, size, kind, initial_workdir):
    directory = workdir / TOKENIZER
    # Written last: without it the directory is that of a save that was killed.
    complete = (directory / CONFIG_FILE).exists()
    if complete:
        tokenizer = SubwordTokenizer.load(directory)
    elif initial_workdir is not None:
        tokenizer = SubwordTokenizer.load(pathlib.Path(initial_workdir) / TOKENIZER)
    elif size is not None:
        tokenizer = SubwordTokenizer.learn_from_lines(
            train.lines(), size, kind, symbols=getattr(train, "symbols", ())
        )
    else:
        raise ValueError(
            "`vocabulary_size` is needed to learn a tokenizer, as the workdir has "
            "none. Received: None. The paper has 37000 for English-German."
        )
    if size not in (None, tokenizer.vocabulary_size):
        raise ValueError(
            "`vocabulary_size` must be that of the run's tokenizer, "
            f"{tokenizer.vocabulary_size}. Received: {size}. Leave it out, or take "
            "another workdir."
        )
    if not complete:
        tokenizer.save(directory)
    return tokenizer


def _encode(train, tokenizer, training, directory, say):
    if not isinstance(train, ParallelFiles | TreeFiles):
        return encode_pairs(train, tokenizer, *_maxima(training))
    progress = EncodingProgress(len(train), say)
    ids = encode_files(train, tokenizer, *_maxima(training), directory, progress)
    if not isinstance(train, TreeFiles):
        return ids
    numbers = ids.line_numbers(np.arange(ids.num_pairs))
    return dataclasses.replace(ids, weights=train.weights(numbers))


def _maxima(training):
    return training.max_source_length, training.max_target_length


def _batches(encoded, training):
    return TokenBatches(
        encoded, training.batch_tokens, training.rows_multiple, training.seed
    )
