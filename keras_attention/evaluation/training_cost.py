"""What training costs: as the paper estimates it, and counted from shapes."""

# Sustained single-precision FLOP/s, a footnote of section 6.1.
SUSTAINED_FLOPS = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}
# A product of matrices has one gradient for each of its factors.
_WITH_BACKWARD = 3


def estimated_flops(seconds, devices, sustained_flops):
    """Returns the paper's estimate: time x devices x sustained FLOP/s of a device.

    Args:
        seconds: of training.
        devices: that trained at the same time.
        sustained_flops: floating-point operations a second, as in `SUSTAINED_FLOPS`.

    Returns:
        float, floating-point operations.

    Raises:
        ValueError: a value that is not positive.

    Example: the base model, 12 hours on eight P100

    >>> f"{estimated_flops(12 * 3600, 8, SUSTAINED_FLOPS['P100']):.1e}"
    '3.3e+18'

    Reference:
        Section 6.1, Table 2.
    """
    for name, value in (
        ("seconds", seconds),
        ("devices", devices),
        ("sustained_flops", sustained_flops),
    ):
        if not value > 0:
            raise ValueError(f"`{name}` must be positive. Received: {value}.")
    return float(seconds) * devices * sustained_flops


def forward_multiply_adds(config, rows, source_length, target_length):
    """Returns the multiply-adds of the matrix products of one forward pass.

    Counted are the projections, the scores and the sums of attention, the
    feed-forward networks and the logits, at every position of the batch: padding
    and what a mask hides included. Left out is what is linear in the positions times
    `model_dim`, such as normalisation and dropout, and the softmax: about 1 %.

    Args:
        config: `TransformerConfig`.
        rows: sentences of the batch.
        source_length, target_length: positions of each, END or START included.

    Returns:
        int.

    Reference:
        Sections 3.2 and 3.3; Table 1 (n^2 d for self-attention).
    """
    source, target = rows * source_length, rows * target_length
    encoder = (
        _projections(config, source, source)
        + _attention(config, source, _seen(config, source_length))
        + _feed_forward(config, source)
    )
    decoder = (
        _projections(config, target, target)
        + _attention(config, target, _seen(config, target_length))
        + _projections(config, target, source)
        + _attention(config, target, source_length)
        + _feed_forward(config, target)
    )
    logits = target * config.model_dim * config.vocabulary_size
    return config.num_layers * (encoder + decoder) + logits


def update_flops(config, shapes):
    """Returns the floating-point operations of a mean update, counted from shapes.

    Forward and backward: three times `forward_multiply_adds`, of two operations each.
    What is computed twice to save memory counts once.

    Args:
        config: `TransformerConfig`.
        shapes: list of ((rows, length), batches); both sides of a batch are as long.

    Returns:
        float.

    Raises:
        ValueError: no batches.

    Example: the base model, 25 000 tokens a side in sentences of 25

    >>> from keras_attention.config import TransformerConfig
    >>> config = TransformerConfig(vocabulary_size=37_000)
    >>> f"{100_000 * update_flops(config, [((1_000, 25), 1)]):.1e}"
    '9.5e+17'
    """
    batches = sum(count for _, count in shapes)
    if not batches:
        raise ValueError(f"Expected at least one batch. Received: {shapes}.")
    multiply_adds = sum(
        count * forward_multiply_adds(config, rows, length, length)
        for (rows, length), count in shapes
    )
    return 2 * _WITH_BACKWARD * multiply_adds / batches


def training_cost(config, record, sustained_flops=None):
    """Returns what the training of a run has cost so far.

    Args:
        config: dictionary, the `config.json` of the run.
        record: dictionary, the newest of its metrics with "step" and "minutes".
        sustained_flops: FLOP/s that a device of the run sustains, if it is known.

    Returns:
        Dictionary with "seconds" of training, "devices", "updates", "counted_flops"
        and, with `sustained_flops`, that and "estimated_flops".

    Raises:
        ValueError: `sustained_flops` or the time is not positive.

    Example:

    >>> config = {"devices": 8, "data": {"update_flops": 9.6e12}}
    >>> record = {"step": 100_000, "minutes": 720.0}
    >>> training_cost(config, record)["counted_flops"]
    9.6e+17
    """
    seconds, devices = record["minutes"] * 60, config["devices"]
    cost = {
        "seconds": seconds,
        "devices": devices,
        "updates": record["step"],
        "counted_flops": record["step"] * config["data"]["update_flops"],
    }
    if sustained_flops is not None:
        cost["sustained_flops"] = sustained_flops
        cost["estimated_flops"] = estimated_flops(seconds, devices, sustained_flops)
    return cost


def _projections(config, queries, keys):
    """Of queries and outputs, and of keys and values."""
    key_dim, value_dim = config.head_dims()
    width = config.num_heads * (key_dim + value_dim)
    return (queries + keys) * config.model_dim * width


def _attention(config, queries, keys):
    """Of the scores, and of the weighted sums."""
    key_dim, value_dim = config.head_dims()
    return queries * keys * config.num_heads * (key_dim + value_dim)


def _feed_forward(config, positions):
    return 2 * positions * config.model_dim * config.feed_forward_dim


def _seen(config, length):
    """Positions that one of self-attention looks at."""
    if config.attention_window is None:
        return length
    return min(length, 2 * config.attention_window + 1)
