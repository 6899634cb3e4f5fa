"""How a Transformer is compiled, fitted and measured with Keras."""

import types

import keras

from keras_attention.checks import check_integer, check_number
from keras_attention.objectives import Perplexity, TokenMean


class TokenExactTraining:
    """Mix-in of `Transformer`: `compile`, the two steps and the four metrics.

    The update itself is computed in `keras_attention.models.update`, on the
    TensorFlow backend.
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
                other; they change the memory, not the update.
            gradient_clip_norm: clips the norm of the global batch's whole gradient;
                the paper does not clip.
            jit_compile: compile the step with XLA, once for every shape of a batch.
                Keras would do so by itself on one GPU ("auto").
            **kwargs: `run_eagerly`, `steps_per_execution`.

        Raises:
            ValueError: metrics of the user's, which would not be exact over tokens
                and replicas; a loss that is no `Loss`; a micro-batch count or a norm
                that cannot work.
        """
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

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        # Under a strategy Keras draws a batch to build the model with, and averages
        # it over replicas. The model is built already and needs neither.
        if self._distribute_strategy is not None and not self.optimizer.built:
            with self.distribute_strategy.scope():
                self.optimizer.build(self.trainable_variables)
