"""How a Transformer is compiled, fitted and measured with Keras."""

import functools
import types

import keras

from keras_attention.checks import check_integer, check_number
from keras_attention.objectives import Perplexity, TokenMean


class TokenExactTraining:
    """Mix-in of `Transformer`: `compile`, the two steps and the four metrics.

    The update itself is computed in `keras_attention.models.update`, on the
    TensorFlow backend.
    It reads `transformer_config.vocabulary_size` and, of the `TransformerParts`,
    `states`, `to_logits` and `output_variables`.
    """

    def _prepare_token_metrics(self):
        # Held in a namespace, so that files of the model do not carry them.
        self._token_metrics = types.SimpleNamespace(
            loss=TokenMean("loss"),
            nll=TokenMean("nll"),
            perplexity=Perplexity("perplexity"),
            token_accuracy=TokenMean("token_accuracy"),
        )
        self._last_update = types.SimpleNamespace(
            gradient_norm=keras.Variable(
                "zeros",
                shape=(),
                trainable=False,
                aggregation="only_first_replica",
                name="gradient_norm",
            )
        )
        self._token_loss = None
        self._micro_batches = 1
        self._gradient_clip_norm = None

    @property
    def metrics(self):
        """The metrics `loss nll perplexity token_accuracy`, exact over tokens."""
        return list(vars(self._token_metrics).values())

    @property
    def gradient_norm(self):
        """Norm of the last update's whole gradient, before clipping; a variable."""
        return self._last_update.gradient_norm

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        micro_batches=1,
        gradient_clip_norm=None,
        jit_compile=False,
        **kwargs,
    ):
        """Configures training; see `keras.Model.compile` for the other arguments.

        Args:
            optimizer: Keras optimizer; `make_optimizer` gives the paper's.
            loss: `LabelSmoothedCrossEntropy`, or a Keras loss whose `call` gives
                (B, T).
            micro_batches: parts that a replica's batch is computed in, one after the
                other; they change the memory, not the update. Rows that do not split
                evenly are filled up with rows of PAD.
            gradient_clip_norm: clips the norm of the global batch's whole gradient;
                the paper does not clip.
            jit_compile: compile the step with XLA, once for every shape of a batch.
                Keras would do so by itself on one GPU ("auto").
            **kwargs: `run_eagerly`, `steps_per_execution`.

        What is exact where: with `fit`, `evaluate`, `train_on_batch` and the package's
        own loop an update is the gradient of (sum of token losses) / (real target
        tokens of the global batch), and the four metrics are means over tokens,

        - on one device, for any batches, with `steps_per_execution` and with
          `jit_compile`;
        - under a `MirroredStrategy` in one process, if the model is built and compiled
          in its scope. Keras splits every global batch by rows. Batches of
          `make_dataset` split evenly; of other data sets the last may not: a replica
          then has fewer rows, or none, and counts with the tokens that it has. The
          empty step that Keras runs after a finite data set counts for nothing.
          `steps_per_execution` above 1 and `jit_compile=True` fail in TensorFlow under
          several replicas and are refused;
        - not under a `MultiWorkerMirroredStrategy`, where `fit` and `evaluate` of Keras
          cannot work and are refused; the package's own loop can.

        A data set of one's own yields (inputs, label_ids) or (inputs, label_ids,
        weights). Without weights the tokens that are not PAD count, each as 1. A plain
        mask is such weights: boolean or numbers of shape (B, T), or (B,) or (B, 1) for
        whole sentences; a PAD label never counts. The loss is then
        sum(weight * loss) / sum(weight), over all replicas. Keras masks that layers
        pass on are not read: the logits carry none.

        Under "mixed_float16" Keras wraps the optimizer in a `LossScaleOptimizer`: a
        gradient that overflows skips its update, on all replicas alike, and halves the
        scale; neither `optimizer.iterations` nor the learning rate moves.

        Raises:
            ValueError: metrics of the user's, which would not be exact over tokens
                and replicas; a loss that is no `Loss`; a micro-batch count or a norm
                that cannot work; a subclass with a `call` of its own; variables that
                are not float32; an optimizer that accumulates gradients; and under
                several replicas `steps_per_execution` above 1, `jit_compile`, or an
                optimizer that clips.
        """
        optimizer = keras.optimizers.get(optimizer)
        self._check_call()
        replicas = self._check_replicas(
            jit_compile, kwargs.get("steps_per_execution", 1)
        )
        _check_optimizer(optimizer, replicas)
        if kwargs.get("metrics") or kwargs.get("weighted_metrics"):
            raise ValueError(
                "Transformer measures loss, nll, perplexity and token_accuracy itself, "
                "exactly over tokens; metrics passed to `compile` would be averaged by "
                "batch. Remove `metrics` and `weighted_metrics`. "
                f"Received: {sorted(key for key in kwargs if 'metrics' in key)}."
            )
        loss_object = None if loss is None else keras.losses.get(loss)
        if not isinstance(loss_object, (keras.losses.Loss, type(None))):
            raise ValueError(
                "`loss` must be a `keras.losses.Loss` whose `call` gives (B, T), such "
                f"as `keras_attention.LabelSmoothedCrossEntropy()`. Received: {loss!r}."
            )
        self._token_loss = loss_object
        self._micro_batches = check_integer("micro_batches", micro_batches)
        self._gradient_clip_norm = check_number(
            "gradient_clip_norm", gradient_clip_norm, open_low=True, optional=True
        )
        super().compile(
            optimizer=optimizer, loss=loss, jit_compile=jit_compile, **kwargs
        )

    def _check_call(self):
        owner = next((c for c in type(self).__mro__ if "call" in vars(c)), None)
        if owner is not None and issubclass(owner, TokenExactTraining):
            raise ValueError(
                "`compile` trains the layers of the model in chunks of the output and "
                "would pass over another `call`. Expected a model that keeps the "
                f"`call` of `Transformer`. Received: {owner.__name__}.call. Train "
                "such a model with a loop of your own."
            )
        if self.dtype_policy.variable_dtype != "float32":
            raise ValueError(
                "Training keeps its variables in float32. Expected the dtype policy "
                '"float32", "mixed_bfloat16" or "mixed_float16". Received: '
                f"{self.dtype_policy.name!r}. Build the model with one of them."
            )

    def _check_replicas(self, jit_compile, steps_per_execution):
        strategy = getattr(self, "_distribute_strategy", None)  # TensorFlow's alone
        replicas = strategy.num_replicas_in_sync if strategy is not None else 1
        if replicas > 1 and (jit_compile is True or steps_per_execution > 1):
            raise ValueError(
                "`jit_compile=True` and `steps_per_execution` above 1 work with one "
                "replica only (TensorFlow cannot sum gradients across devices inside "
                f"them). Received: jit_compile={jit_compile}, steps_per_execution="
                f"{steps_per_execution}, replicas={replicas}. Leave them out, or use "
                "one device."
            )
        return replicas

    def get_compile_config(self):
        """Returns what `compile_from_config` needs."""
        config = super().get_compile_config()
        if config:
            config["micro_batches"] = self._micro_batches
            config["gradient_clip_norm"] = self._gradient_clip_norm
        return config

    def compile_from_config(self, config):
        """Compiles a loaded model as it was compiled when it was saved."""
        config = keras.saving.deserialize_keras_object(config)
        unused = ("loss_weights", "metrics", "weighted_metrics")
        self.compile(**{k: v for k, v in config.items() if k not in unused})
        self.optimizer.build(self.trainable_variables)

    def train_step(self, data):
        """Computes one exact update; see `keras_attention.models.update`."""
        # TensorFlow is imported where it is used: the layers and the model themselves
        # run on every Keras backend.
        from keras_attention.models import update

        return update.train_step(self, data)

    def test_step(self, data):
        """Measures one batch; see `keras_attention.models.update`."""
        from keras_attention.models import update

        return update.test_step(self, data)

    @functools.wraps(keras.Model.fit)
    def fit(self, *args, **kwargs):
        from keras_attention.models import update

        update.check_workers(self, "fit")
        return super().fit(*args, **kwargs)

    @functools.wraps(keras.Model.evaluate)
    def evaluate(self, *args, **kwargs):
        from keras_attention.models import update

        update.check_workers(self, "evaluate")
        return super().evaluate(*args, **kwargs)

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        # Under a strategy Keras draws a batch to build the model with, and averages
        # it over replicas. The model is built already and needs neither.
        if self._distribute_strategy is not None and not self.optimizer.built:
            with self.distribute_strategy.scope():
                self.optimizer.build(self.trainable_variables)


def _check_optimizer(optimizer, replicas):
    # Keras's own clipping sees the share of one replica, its accumulation averages
    # steps of different numbers of tokens.
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    names = ["gradient_accumulation_steps"]
    if replicas > 1:
        names += ["clipnorm", "global_clipnorm", "clipvalue"]
    for name in names:
        given = getattr(inner, name, None)
        if given is not None:
            raise ValueError(
                "An optimizer that accumulates, or under replicas clips, gradients "
                "makes no exact update. Give `compile` the argument `micro_batches` or "
                f"`gradient_clip_norm` instead. Received: {name}={given}, "
                f"replicas={replicas}."
            )
