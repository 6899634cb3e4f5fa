"""Configurations that check themselves, and the presets of the paper.

`TransformerConfig` says what the model is, `TrainingConfig` how it is trained and
`DecodingConfig` how it is searched. All three are frozen dataclasses: a value that
cannot work is refused when the configuration is made, not an hour later.
"""

import dataclasses

from keras_attention.checks import (
    check_boolean,
    check_choice,
    check_chunks,
    check_integer,
    check_number,
)
from keras_attention.config_base import Config
from keras_attention.decoding_config import DecodingConfig as DecodingConfig

ACTIVATIONS = ("relu", "gelu", "silu", "tanh")
NORM_POSITIONS = ("post", "pre")
POSITIONS = ("sinusoidal", "learned")
LAYOUTS = ("interleaved", "concatenated")
TOKENIZER_KINDS = ("bpe", "unigram", "wordpiece")
DTYPE_POLICIES = ("float32", "mixed_bfloat16", "mixed_float16")
PATIENCE_METRICS = ("nll", "bleu")


@dataclasses.dataclass(frozen=True)
class TransformerConfig(Config):
    """What the model is (paper, sections 3 and 6.2).

    Args:
        vocabulary_size: pieces of the shared vocabulary, V.
        num_layers: encoder blocks, and decoder blocks, N.
        model_dim: width of the residual stream, d_model.
        num_heads: attention heads, h.
        key_dim: d_k of one head; None = `model_dim // num_heads`.
        value_dim: d_v of one head; None = `model_dim // num_heads`.
        feed_forward_dim: inner width of the feed-forward network, d_ff.
        dropout_rate: P_drop on sub-layer outputs and embedding sums (5.4).
        attention_dropout_rate: dropout on attention weights; the paper has none.
        attention_window: restricts self-attention to |i - j| <= r, the neighbourhood
            of section 4 (future work there); None = no restriction.
        attention_chunk_length: keys attended to at a time; it saves memory for long
            inputs and changes no number; None = all.
        activation: of the feed-forward network; the paper has relu.
        norm_position: "post" (paper) or "pre" (departs from 3.1).
        positions: "sinusoidal" (3.5) or "learned" (Table 3, row E).
        position_layout: "interleaved" (3.5) or "concatenated" (departs from 3.5).
        max_length: positions of a learned table; only with `positions="learned"`.
        layer_norm_epsilon: epsilon of layer normalisation; the paper names none.
        use_bias: biases in the attention projections; the paper writes none (3.2.2).
        share_embeddings: one matrix for both embeddings and the output (3.4).
        output_bias: a bias for each logit; the paper has none (3.4).

    Example:

    >>> TransformerConfig.from_preset("base", vocabulary_size=37000).model_dim
    512
    """

    _part = "transformer"

    vocabulary_size: int
    num_layers: int = 6
    model_dim: int = 512
    num_heads: int = 8
    key_dim: int | None = None
    value_dim: int | None = None
    feed_forward_dim: int = 2048
    dropout_rate: float = 0.1
    attention_dropout_rate: float = 0.0
    attention_window: int | None = None
    attention_chunk_length: int | None = None
    activation: str = "relu"
    norm_position: str = "post"
    positions: str = "sinusoidal"
    position_layout: str = "interleaved"
    max_length: int | None = None
    layer_norm_epsilon: float = 1e-6
    use_bias: bool = False
    share_embeddings: bool = True
    output_bias: bool = False

    def __post_init__(self):
        self._check(check_integer, "vocabulary_size", minimum=5)
        self._check(
            check_integer, "num_layers", "model_dim", "num_heads", "feed_forward_dim"
        )
        self._check(check_integer, "key_dim", "value_dim", "max_length", optional=True)
        chunks = ("attention_window", "attention_chunk_length")
        self._check(check_integer, *chunks, optional=True)
        self._check(check_number, "dropout_rate", "attention_dropout_rate", high=1.0)
        check_chunks(
            self.attention_chunk_length,
            self.attention_window,
            self.attention_dropout_rate,
        )
        self._check(check_number, "layer_norm_epsilon", open_low=True)
        self._check(check_choice, "activation", choices=ACTIVATIONS)
        self._check(check_choice, "norm_position", choices=NORM_POSITIONS)
        self._check(check_choice, "positions", choices=POSITIONS)
        self._check(check_choice, "position_layout", choices=LAYOUTS)
        self._check(check_boolean, "use_bias", "share_embeddings", "output_bias")
        if self.key_dim is None or self.value_dim is None:
            if self.model_dim % self.num_heads:
                raise ValueError(
                    "`model_dim` must be a multiple of `num_heads` unless `key_dim` "
                    "and `value_dim` are given. "
                    f"Received: model_dim={self.model_dim}, num_heads={self.num_heads}."
                )
        if (self.positions == "learned") != (self.max_length is not None):
            raise ValueError(
                "Learned positions need `max_length`, the size of their table, and "
                "sinusoidal ones have no table. "
                f"Received: positions={self.positions!r}, max_length={self.max_length}."
            )

    def head_dims(self):
        """Returns (key_dim, value_dim) of one head with the defaults filled in."""
        each = self.model_dim // self.num_heads
        return self.key_dim or each, self.value_dim or each


@dataclasses.dataclass(frozen=True)
class TrainingConfig(Config):
    """How the model is trained (paper, section 5). The unit of time is the update.

    Args:
        batch_tokens: cells of one side of a global batch, all replicas together (5.1);
            a batch has at least `rows_multiple` rows whatever their length.
        max_steps: updates of the whole run.
        max_minutes: stop after so many minutes of training, None = never.
        warmup_steps: of the learning-rate schedule (5.3).
        learning_rate_scale: factor on the schedule; 1.0 is the paper's.
        beta_1, beta_2, optimizer_epsilon: of Adam (5.3).
        gradient_clip_norm: clip the global norm of the gradient; the paper does not.
        label_smoothing: eps_ls (5.4).
        micro_batches: parts a replica's batch is computed in; changes memory only.
        max_source_length, max_target_length: pieces; longer pairs are dropped.
        rows_multiple: rows of every batch are a multiple of this.
        seed: of initial weights, dropout and data order, below 2**32.
        dtype_policy: "float32", "mixed_bfloat16" or "mixed_float16". With the last a
            gradient may overflow: that step counts as one, but changes neither weights
            nor learning rate, and is told as one of `skipped_updates`.
        jit_compile: compile the step with XLA (one compilation a bucket).
        checkpoint_steps: save every so many updates, None = by minutes only.
        checkpoint_minutes: save every so many minutes (the paper: 10), None = never.
        average_checkpoints: last checkpoints to average (6.1: 5 base, 20 big).
        validation_steps: validate every so many updates, None = with a checkpoint.
        validation_sentences: sentences translated at a validation for BLEU.
        log_steps: updates between two lines of metrics.
        histograms: show at validations how every weight is distributed.
        profile_steps: updates that every process of the run profiles; 0 = none.
        patience: stop after so many validations without a better figure, None = never.
        patience_metric: that figure: validation "nll", or "bleu" of the translations.
        peer_timeout_seconds: of many workers: how long one waits for another to come,
            or at an update; more than a validation or a checkpoint takes.
        tokenizer_kind: "bpe" (5.1), "unigram" or "wordpiece" (5.1, English-French).

    Example:

    >>> TrainingConfig.from_preset("base").batch_tokens
    25000
    """

    _part = "training"

    batch_tokens: int = 25_000
    max_steps: int = 100_000
    max_minutes: float | None = None
    warmup_steps: int = 4_000
    learning_rate_scale: float = 1.0
    beta_1: float = 0.9
    beta_2: float = 0.98
    optimizer_epsilon: float = 1e-9
    gradient_clip_norm: float | None = None
    label_smoothing: float = 0.1
    micro_batches: int = 1
    max_source_length: int = 256
    max_target_length: int = 256
    rows_multiple: int = 8
    seed: int = 1
    dtype_policy: str = "float32"
    jit_compile: bool = False
    checkpoint_steps: int | None = None
    checkpoint_minutes: float | None = 10.0
    average_checkpoints: int = 5
    validation_steps: int | None = None
    validation_sentences: int = 1_000
    log_steps: int = 100
    histograms: bool = False
    profile_steps: int = 0
    patience: int | None = None
    patience_metric: str = "nll"
    peer_timeout_seconds: float = 600.0
    tokenizer_kind: str = "bpe"

    def __post_init__(self):
        self._check(
            check_integer, "batch_tokens", "max_steps", "warmup_steps", "micro_batches"
        )
        self._check(
            check_integer, "max_source_length", "max_target_length", "rows_multiple"
        )
        self._check(check_integer, "average_checkpoints", "log_steps")
        self._check(
            check_integer,
            "checkpoint_steps",
            "validation_steps",
            "patience",
            optional=True,
        )
        self._check(check_integer, "validation_sentences", "profile_steps", minimum=0)
        self._check(check_integer, "seed", minimum=0, maximum=2**32 - 1)
        self._check(
            check_number,
            "max_minutes",
            "checkpoint_minutes",
            optional=True,
            open_low=True,
        )
        self._check(check_number, "gradient_clip_norm", optional=True, open_low=True)
        self._check(
            check_number, "learning_rate_scale", "optimizer_epsilon", open_low=True
        )
        self._check(check_number, "peer_timeout_seconds", open_low=True)
        self._check(check_number, "beta_1", "beta_2", "label_smoothing", high=1.0)
        self._check(check_choice, "dtype_policy", choices=DTYPE_POLICIES)
        self._check(check_choice, "patience_metric", choices=PATIENCE_METRICS)
        self._check(check_choice, "tokenizer_kind", choices=TOKENIZER_KINDS)
        self._check(check_boolean, "jit_compile", "histograms")
        if self.checkpoint_steps is None and self.checkpoint_minutes is None:
            raise ValueError(
                "A run needs `checkpoint_steps` or `checkpoint_minutes`, or nothing "
                "of it would be kept. Received: None for both."
            )
        if self.patience_metric == "bleu" and self.validation_sentences == 0:
            raise ValueError(
                "`patience_metric='bleu'` needs translations at every validation. "
                "Received: validation_sentences=0. Raise it, or watch the nll."
            )
