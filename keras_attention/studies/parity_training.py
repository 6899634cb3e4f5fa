"""What the paper says of training, search and results, sections 5 and 6."""

from keras_attention.evaluation.training_cost import SUSTAINED_FLOPS, estimated_flops
from keras_attention.objectives.schedule import NoamSchedule
from keras_attention.presets import PRESETS
from keras_attention.studies.parity import Statement

TESTS = "tests/unit"
PAPER_HOURS = {"base": 12, "big": 3.5 * 24}  # on 8 P100


def _pieces(c):
    kind = c.training.tokenizer_kind
    return f"{kind}, {c.transformer.vocabulary_size} shared pieces"


def _rate(c):
    warmup, scale = c.training.warmup_steps, c.training.learning_rate_scale
    schedule = NoamSchedule(c.transformer.model_dim, warmup, scale)
    # The rate of update k + 1 is that of step k + 1 of the formula.
    return f"warm-up {warmup}, times {scale}: peak {float(schedule(warmup - 1)):.4e}"


def _adam(c):
    t = c.training
    clip = t.gradient_clip_norm
    clipped = "" if clip is None else f", gradient clipped to norm {clip}"
    return f"{t.beta_1}, {t.beta_2}, {t.optimizer_epsilon:g}{clipped}"


def _dropout(c):
    on_weights = c.transformer.attention_dropout_rate
    more = "none" if not on_weights else str(on_weights)
    return f"{c.transformer.dropout_rate}; on attention weights {more}"


def _average(c):
    minutes, steps = c.training.checkpoint_minutes, c.training.checkpoint_steps
    every = f"{minutes:g} minutes" if minutes else f"{steps} updates"
    return f"the last {c.training.average_checkpoints}, written every {every}"


def _limit(c):
    return f"pieces of the source + {c.decoding.max_extra_length}, END counted"


def _cost(c):
    costs = [
        estimated_flops(3_600 * hours, 8, SUSTAINED_FLOPS["P100"])
        for hours in PAPER_HOURS.values()
    ]
    return "the same product gives " + " and ".join(f"{cost:.1e}" for cost in costs)


def _rows(c):
    rows = [name for name in PRESETS if name[1:2] == "_"]
    return f"{len(rows)} presets, {rows[0]} ... {rows[-1]}, none averages"


def _parser(c):
    parser = PRESETS["parsing"]
    model, search = parser["transformer"], parser["decoding"]
    return (
        f"preset parsing: {model['num_layers']} layers, {model['model_dim']}; beam "
        f"{search['beam_size']}, alpha {search['length_penalty_alpha']}, "
        f"+{search['max_extra_length']}"
    )


STATEMENTS = (
    Statement(
        "5.1",
        "Byte-pair encoding with a shared vocabulary of about 37 000 (English-German); "
        "32 000 word pieces (English-French).",
        _pieces,
        "keras_attention.data.tokenizer:SubwordTokenizer",
        f"{TESTS}/data/test_tokenizer.py::test_known_text_comes_back",
        ("training.tokenizer_kind",),
    ),
    Statement(
        "5.1",
        "Sentences are batched by approximate length; a batch has about 25 000 source "
        "and 25 000 target tokens.",
        lambda c: f"{c.training.batch_tokens} cells a side, buckets by length",
        "keras_attention.data.batching:TokenBatches",
        f"{TESTS}/data/test_batching.py::test_invariants_of_a_plan",
        ("training.batch_tokens",),
    ),
    Statement(
        "5.2",
        "8 P100; base 100 000 steps (12 hours), big 300 000 (3.5 days).",
        lambda c: f"{c.training.max_steps} updates, exact for any number of devices",
        "keras_attention.models.update:train_step",
        "tests/integration/test_exact_updates.py::test_the_table",
        ("training.max_steps",),
    ),
    Statement(
        "5.3",
        "Adam with beta_1 = 0.9, beta_2 = 0.98, epsilon = 1e-9.",
        _adam,
        "keras_attention.objectives.optimizer:make_optimizer",
        f"{TESTS}/objectives/test_optimizer.py::test_ten_steps_equal_torch",
        (
            "training.beta_1",
            "training.beta_2",
            "training.optimizer_epsilon",
            "training.gradient_clip_norm",
        ),
    ),
    Statement(
        "5.3",
        "lrate = d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), "
        "warmup_steps = 4000.",
        _rate,
        "keras_attention.objectives.schedule:NoamSchedule",
        f"{TESTS}/objectives/test_schedule.py::test_equals_the_formula",
        ("training.warmup_steps", "training.learning_rate_scale"),
    ),
    Statement(
        "5.4",
        "Dropout P_drop = 0.1 on the output of each sub-layer, before it is added and "
        "normalised, and on the sums of embeddings and positions; nowhere else.",
        _dropout,
        "keras_attention.layers.add_and_norm:AddAndNorm",
        f"{TESTS}/layers/test_add_and_norm.py::test_dropout_acts_on_the_sub_layer_only",
        ("transformer.dropout_rate", "transformer.attention_dropout_rate"),
    ),
    Statement(
        "5.4",
        "Label smoothing of eps_ls = 0.1.",
        lambda c: f"{c.training.label_smoothing}, eps / (V - 1) on the wrong classes",
        "keras_attention.objectives.losses:LabelSmoothedCrossEntropy",
        f"{TESTS}/objectives/test_losses.py::test_equals_the_one_hot_formula",
        ("training.label_smoothing",),
    ),
    Statement(
        "6.1",
        "The last 5 checkpoints (big: 20) are averaged; one is written every 10 "
        "minutes.",
        _average,
        "keras_attention.training.averaging:average_workdir",
        f"{TESTS}/training/test_averaging.py::"
        "test_averages_the_last_checkpoints_into_a_model",
        ("training.average_checkpoints", "training.checkpoint_minutes"),
    ),
    Statement(
        "6.1",
        "Beam search with a beam of 4 and length penalty alpha = 0.6.",
        lambda c: (
            f"beam {c.decoding.beam_size}, alpha "
            f"{c.decoding.length_penalty_alpha}: ((5 + length) / 6)^alpha"
        ),
        "keras_attention.decoding.beam_search:beam_search",
        f"{TESTS}/decoding/test_beam_search.py::"
        "test_a_beam_that_holds_everything_is_exhaustive",
        ("decoding.beam_size", "decoding.length_penalty_alpha"),
    ),
    Statement(
        "6.1",
        "Outputs are at most as long as the input + 50, ended early when possible.",
        _limit,
        "keras_attention.decoding.searches:Searches",
        f"{TESTS}/decoding/test_beam_search.py::test_nothing_is_forced_at_the_limit",
        ("decoding.max_extra_length",),
    ),
    Statement(
        "6.1",
        "Training cost: time x devices x sustained single precision, 3.3e18 (base) and "
        "2.3e19 (big).",
        _cost,
        "keras_attention.evaluation.training_cost:estimated_flops",
        f"{TESTS}/evaluation/test_training_cost.py::test_the_figures_of_the_paper",
    ),
    Statement(
        "6.2",
        "Table 3: variations of base on newstest2013, beam search without averaging.",
        _rows,
        "keras_attention.presets:PRESETS",
        f"{TESTS}/test_config.py::test_rows_change_what_the_table_says",
    ),
    Statement(
        "6.3",
        "Parsing: 4 layers, d_model = 1024; beam 21, alpha = 0.3, input + 300.",
        _parser,
        "keras_attention.presets:PRESETS",
        f"{TESTS}/models/test_build.py::test_parameters_of_the_parser",
    ),
    Statement(
        "Figures 3-5",
        "What the heads attend to, drawn for single sentences.",
        lambda c: "every block and head of the three kinds of attention",
        "keras_attention.evaluation.attention_maps:attention_weights",
        f"{TESTS}/evaluation/test_attention_maps.py::"
        "test_they_are_those_of_the_forward_pass",
    ),
)
