"""The flags that stand for the fields of the configurations; a test compares them."""

# fmt: off
PRESET_NAMES = (
    "base", "big", "tiny", "parsing",
    "A_h1", "A_h4", "A_h16", "A_h32", "B_dk16", "B_dk32", "C_n2", "C_n4", "C_n8",
    "C_d256", "C_d1024", "C_ff1024", "C_ff4096", "D_p0", "D_p2", "D_ls0", "D_ls2",
    "E_learned",
)
# fmt: on

# part -> field -> (kind, default, what it is); kind is a type or a tuple of choices.
CONFIG_FIELDS = {
    "transformer": {
        "vocabulary_size": (int, None, "pieces of the shared vocabulary"),
        "num_layers": (int, 6, "encoder blocks, and decoder blocks"),
        "model_dim": (int, 512, "width of the residual stream"),
        "num_heads": (int, 8, "attention heads"),
        "key_dim": (int, None, "width of a head's keys; none: model_dim / num_heads"),
        "value_dim": (int, None, "of a head's values; none: model_dim / num_heads"),
        "feed_forward_dim": (int, 2048, "inner width of the feed-forward network"),
        "dropout_rate": (float, 0.1, "on sub-layer outputs and embedding sums"),
        "attention_dropout_rate": (float, 0.0, "on attention weights"),
        "activation": (
            ("relu", "gelu", "silu", "tanh"),
            "relu",
            "of the feed-forward network",
        ),
        "norm_position": (("post", "pre"), "post", "where a block normalises"),
        "positions": (("sinusoidal", "learned"), "sinusoidal", "kind of positions"),
        "position_layout": (
            ("interleaved", "concatenated"),
            "interleaved",
            "order of sines and cosines",
        ),
        "max_length": (int, None, "positions of a learned table"),
        "layer_norm_epsilon": (float, 1e-6, "of layer normalisation"),
        "use_bias": (bool, False, "biases in the attention projections"),
        "share_embeddings": (bool, True, "one matrix for embeddings and output"),
    },
    "training": {
        "batch_tokens": (int, 25_000, "cells of one side of a batch"),
        "max_steps": (int, 100_000, "updates of the whole run"),
        "max_minutes": (float, None, "stop after so many minutes of training"),
        "warmup_steps": (int, 4_000, "updates of rising learning rate"),
        "learning_rate_scale": (float, 1.0, "factor on the paper's schedule"),
        "beta_1": (float, 0.9, "of Adam"),
        "beta_2": (float, 0.98, "of Adam"),
        "optimizer_epsilon": (float, 1e-9, "of Adam"),
        "gradient_clip_norm": (float, None, "clip the norm of the gradient"),
        "label_smoothing": (float, 0.1, "share of the label given to other pieces"),
        "micro_batches": (int, 1, "parts a batch is computed in; saves memory"),
        "max_source_length": (int, 256, "pieces; longer pairs are dropped"),
        "max_target_length": (int, 256, "pieces; longer pairs are dropped"),
        "rows_multiple": (int, 8, "rows of a batch are a multiple of this"),
        "seed": (int, 1, "of weights, dropout and data order"),
        "dtype_policy": (
            ("float32", "mixed_bfloat16", "mixed_float16"),
            "float32",
            "precision of the layers",
        ),
        "jit_compile": (bool, False, "compile the update with XLA"),
        "checkpoint_steps": (int, None, "save every so many updates"),
        "checkpoint_minutes": (float, 10.0, "save every so many minutes"),
        "average_checkpoints": (int, 5, "last checkpoints to average"),
        "validation_steps": (int, None, "validate every so many updates"),
        "validation_sentences": (int, 1_000, "translated at a validation for BLEU"),
        "log_steps": (int, 100, "updates between two lines of metrics"),
        "histograms": (bool, False, "show how weights are distributed"),
        "profile_steps": (int, 0, "updates under the profiler, after a few others"),
        "patience": (int, None, "validations without a better one before the end"),
        "patience_metric": (("nll", "bleu"), "nll", "what makes a validation better"),
        "peer_timeout_seconds": (float, 600.0, "wait so long for another worker"),
        "tokenizer_kind": (("bpe", "unigram", "wordpiece"), "bpe", "kind of subwords"),
    },
    "decoding": {
        "beam_size": (int, 4, "open hypotheses a sentence; 1 is greedy"),
        "length_penalty_alpha": (float, 0.6, "0 is no penalty"),
        "max_extra_length": (int, 50, "limit: the source's pieces plus this"),
        "num_hypotheses": (int, 1, "best hypotheses a sentence"),
        "max_source_length": (int, 1_024, "pieces; a longer source is cut"),
        "batch_tokens": (int, 4_096, "source cells of one batch of the search"),
    },
}
