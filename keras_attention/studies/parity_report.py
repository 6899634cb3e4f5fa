"""The parity report: `ka-paper-parity`, and docs/paper.md, which a test compares."""

from keras_attention.studies.parity import MODELS, Configurations, departures
from keras_attention.studies.parity_model import STATEMENTS as OF_THE_MODEL
from keras_attention.studies.parity_training import STATEMENTS as OF_THE_TRAINING

STATEMENTS = (*OF_THE_MODEL, *OF_THE_TRAINING)
_COLUMNS = (
    "section",
    "the paper says",
    "the code does",
    "where",
    "test",
    "options",
    "departs",
)
CONTRADICTIONS = (
    "English-French BLEU is 41.8 in the abstract and in Table 2, 41.0 in the text of "
    "6.1.",
    'Section 6.3 speaks of "dropout, both attention and residual (section 5.4)"; 5.4 '
    "has no dropout on attention weights. It is off here (`attention_dropout_rate`).",
    'Section 5.4 announces "three types of regularization" and describes two places of '
    "dropout and label smoothing.",
    "Table 3 prints 65 million parameters for base. What sections 3.1 to 3.4 describe "
    "has 63.0 million at 37 000 pieces; big has 214.2 million, printed 213.",
)
CHOICES = (
    "Biases: written in 3.3 and nowhere else, so only the feed-forward network has "
    "them (`use_bias`, `output_bias`).",
    "Epsilon of layer normalisation: none is named; 1e-6 (`layer_norm_epsilon`).",
    'Vocabulary: "about 37 000"; counts are given at exactly 37 000.',
    "Initialisation: none is named; Glorot uniform for projections, N(0, 1 / d_model) "
    "for the embeddings, so that they and the first logits have unit scale.",
    "The mass of label smoothing: eps / (V - 1) on each wrong class.",
    'The penalty of "length penalty alpha": that of GNMT, which 6.1 cites for it.',
    "The scale of embeddings acts before positions are added.",
)


def parity_rows(configurations, model="base"):
    """Returns the table: one tuple of str for each statement, in the paper's order.

    Args:
        configurations: `Configurations`.
        model: which of the paper's models they are compared with.

    Returns:
        List of (section, what the paper says, what the code does, where, test, the
        flags that depart from it, how these configurations depart from it or "").

    Example:

    >>> from keras_attention.studies.parity import preset_configurations
    >>> parity_rows(preset_configurations("base"))[0][:3:2]
    ('3.1', '6 blocks in each stack')
    """
    return [
        (
            statement.section,
            statement.says,
            statement.does(configurations),
            statement.where,
            statement.test,
            ", ".join(f"--{field.split('.')[1]}" for field in statement.fields),
            "; ".join(departures(statement, configurations, model)),
        )
        for statement in STATEMENTS
    ]


def parity_report(configurations, model="base", title="the default configuration"):
    """Returns the whole report as Markdown.

    Args:
        configurations: `Configurations`, of the defaults or of a run.
        model: which of the paper's models they are compared with.
        title: whose configuration this is.

    Example:

    >>> from keras_attention.studies.parity import preset_configurations
    >>> print(parity_report(preset_configurations("base")).splitlines()[0])
    # The paper and the default configuration
    """
    rows = parity_rows(Configurations(*configurations), model)
    departing = [row for row in rows if row[-1]]
    printed, compared = len(rows) - len(departing), model if model in MODELS else "base"
    lines = [
        f"# The paper and {title}",
        "",
        f"{len(rows)} statements of *Attention Is All You Need*, compared with its "
        f"{compared} model: {printed} as printed, {len(departing)} depart.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
    ]
    for section, says, does, where, test, flags, departs in rows:
        cells = (section, says, does, f"`{where}`", f"`{test}`", flags, departs)
        lines.append("| " + " | ".join(x.replace("|", "\\|") for x in cells) + " |")
    for heading, notes in (
        ("Where the paper contradicts itself", CONTRADICTIONS),
        ("What it leaves open, and the choice here", CHOICES),
    ):
        lines += ["", f"## {heading}", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"
