"""The named recipes: the paper's models, every row of Table 3, and a small one.

A preset carries three parts, the values in which it departs from the defaults of
`TransformerConfig`, `TrainingConfig` and `DecodingConfig`. The defaults are the base
model of the paper, so `base` is empty.
"""


def _row(transformer=None, training=None):
    # Table 3 is scored without checkpoint averaging (6.2).
    return {
        "transformer": transformer or {},
        "training": {"average_checkpoints": 1, **(training or {})},
        "decoding": {},
    }


PRESETS = {
    "base": {"transformer": {}, "training": {}, "decoding": {}},
    "big": {
        "transformer": {
            "model_dim": 1024,
            "num_heads": 16,
            "feed_forward_dim": 4096,
            "dropout_rate": 0.3,
        },
        "training": {"max_steps": 300_000, "average_checkpoints": 20},
        "decoding": {},
    },
    "tiny": {
        "transformer": {
            "num_layers": 4,
            "model_dim": 128,
            "num_heads": 4,
            "feed_forward_dim": 256,
            "dropout_rate": 0.3,
        },
        "training": {"batch_tokens": 4_096, "max_steps": 20_000, "warmup_steps": 2_000},
        "decoding": {},
    },
    "parsing": {
        "transformer": {"num_layers": 4, "model_dim": 1024},
        "training": {"max_target_length": 512},  # a tree has thrice as many symbols
        "decoding": {
            "beam_size": 21,
            "length_penalty_alpha": 0.3,
            "max_extra_length": 300,
        },
    },
    "A_h1": _row({"num_heads": 1}),
    "A_h4": _row({"num_heads": 4}),
    "A_h16": _row({"num_heads": 16}),
    "A_h32": _row({"num_heads": 32}),
    "B_dk16": _row({"key_dim": 16, "value_dim": 64}),
    "B_dk32": _row({"key_dim": 32, "value_dim": 64}),
    "C_n2": _row({"num_layers": 2}),
    "C_n4": _row({"num_layers": 4}),
    "C_n8": _row({"num_layers": 8}),
    "C_d256": _row({"model_dim": 256}),
    "C_d1024": _row({"model_dim": 1024}),
    "C_ff1024": _row({"feed_forward_dim": 1024}),
    "C_ff4096": _row({"feed_forward_dim": 4096}),
    "D_p0": _row({"dropout_rate": 0.0}),
    "D_p2": _row({"dropout_rate": 0.2}),
    "D_ls0": _row(training={"label_smoothing": 0.0}),
    "D_ls2": _row(training={"label_smoothing": 0.2}),
    "E_learned": _row(
        {"positions": "learned", "max_length": 256},
        # END follows a source, START precedes a target: one place of the table each.
        {"max_source_length": 255, "max_target_length": 255},
    ),
}
