"""A row of an ablation as flags of the binaries that train and score it."""

from keras_attention.presets import PRESETS
from keras_attention.training.workdir import PARTS

# What `train_translation` can be told of a search.
DECODING_FLAGS = ("beam_size", "length_penalty_alpha", "max_extra_length")


def row_flags(row):
    """Returns the flags of `train_translation` that make a row.

    They name the row's preset, and the fields in which it differs from that; with the
    paper's base and nothing replaced, none. The size of the vocabulary is that of the
    tokenizer, which lies in the workdir.

    Args:
        row: a `Row`.

    Returns:
        List of str.

    Example:

    >>> from keras_attention.studies.ablation_rows import make_base, make_row
    >>> base = make_base("base", training={"max_steps": 500, "jit_compile": True})
    >>> row_flags(make_row("D_p2", base))
    ['--preset=D_p2', '--max_steps=500', '--jit_compile']
    """
    found = [f"--preset={row.name}"]
    for part, config in row.parts.items():
        replaced = dict(PRESETS[row.name][part])
        if part == "transformer":
            replaced["vocabulary_size"] = config.vocabulary_size
        preset = PARTS[part].from_dict(replaced)
        for name, value in config.to_dict().items():
            settable = part != "decoding" or name in DECODING_FLAGS
            if settable and value != getattr(preset, name):
                found.append(_spelled(name, value))
    return found


def data_flags(data, *only):
    """Returns the flags that name the text.

    Args:
        data: arguments of `load_corpora`.
        *only: names to leave it at; none means all of them.

    Returns:
        List of str.

    Example:

    >>> data_flags({"train_source": ["a.en", "b.en"], "synthetic": False})
    ['--train_source=a.en,b.en']
    """
    return [
        _spelled(name, ",".join(map(str, value)) if isinstance(value, list) else value)
        for name, value in data.items()
        if value and name in (only or data)
    ]


def _spelled(name, value):
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value}"


def table_record(base, vocabulary_size, data):
    """Returns what all rows of a table share, as plain values.

    Args:
        base: the `Row` of the base.
        vocabulary_size: of the shared tokenizer.
        data: a dictionary of plain values.
    """
    record = {name: config.to_dict() for name, config in base.parts.items()}
    record["transformer"]["vocabulary_size"] = vocabulary_size
    return {**record, "data": data}


def check_same_table(recorded, wanted):
    """Checks that a table can go on as the wanted one.

    Fields that change no weight and no score may differ, such as how often a
    checkpoint is saved.

    Args:
        recorded: the `table_record` of the workdir.
        wanted: that of the command.

    Raises:
        ValueError: something else differs.
    """
    differences = []
    for part in ("transformer", "training", "decoding", "data"):
        old, new = recorded[part], wanted[part]
        differences += [
            f"{part}.{name}: {old.get(name)!r} there, {new.get(name)!r} now"
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name) and name not in _FREE
        ]
    if differences:
        raise ValueError(
            "The workdir holds a table that was made with other flags, and its rows "
            f"can be compared only if all have the same. Received: "
            f"{'; '.join(differences)}. Take another workdir, or the flags of this one."
        )


_FREE = (
    "checkpoint_minutes",
    "checkpoint_steps",
    "histograms",
    "log_steps",
    "peer_timeout_seconds",
    "profile_steps",
    "validation_sentences",
    "validation_steps",
)


def checked_vocabulary_size(asked, found):
    """Returns the size of the vocabulary of a table.

    Args:
        asked: the size that was asked for, or None.
        found: that of the tokenizer in the workdir, or None.

    Raises:
        ValueError: neither of them, or two that differ.
    """
    if asked is None and found is None:
        raise ValueError(
            "`vocabulary_size` is needed to learn the pieces that all rows share, as "
            "the workdir has none. Received: None. The paper has 37000."
        )
    if None not in (asked, found) and asked != found:
        raise ValueError(
            "`vocabulary_size` must be that of the table's tokenizer, "
            f"{found}. Received: {asked}. Leave it out, or take another workdir."
        )
    return asked or found
