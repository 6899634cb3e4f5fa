"""What of `translate`'s flags goes together; what would have no effect is refused."""

from absl import app

SAMPLING = ("temperature", "top_k", "top_p", "sampling_seed")
DETAILS = ("return_attention_weights", "return_token_log_probs")


def checked_search(given, form, samples):
    """Returns the fields of `DecodingConfig` that the flags ask for.

    Args:
        given: {field: value} of the flags given.
        form: value of --format.
        samples: of --minimum_bayes_risk, or None.
    """
    if samples is not None and samples < 2:
        raise app.UsageError(
            f"--minimum_bayes_risk chooses among 2 samples or more; received {samples}"
        )
    for names, ignored, why in _rules(given, form, samples):
        for name in names if ignored else ():
            if given.get(name, False) is not False:
                raise app.UsageError(f"--{name} has no meaning {why}")
    if samples is None:
        return given
    if given.get("sampling") is False:
        raise app.UsageError("--nosampling has no meaning with --minimum_bayes_risk")
    return {**given, "sampling": True, "num_hypotheses": samples}


def _rules(given, form, samples):
    """Returns names of flags, whether they have no effect, and why."""
    attends = given.get("return_attention_weights") or given.get("replace_unknown")
    sampled = samples is not None or given.get("sampling")
    return [
        (DETAILS, form != "jsonl", f"with --format {form}; take jsonl"),
        (
            ("num_hypotheses",),
            form == "text",
            "with --format text; take nbest or jsonl",
        ),
        (
            ("num_hypotheses",),
            samples is not None,
            "with --minimum_bayes_risk, which leaves one",
        ),
        (
            ("attention_layer",),
            not attends,
            "without --return_attention_weights or --replace_unknown",
        ),
        (("beam_size",), sampled, "where translations are sampled"),
        (SAMPLING, not sampled, "without --sampling or --minimum_bayes_risk"),
    ]
