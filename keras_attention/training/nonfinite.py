"""A run whose loss, or a weight, is no longer a number: which update, which text."""

import tensorflow as tf

from keras_attention.training.checkpoint_files import list_checkpoints

_SHOWN = 20


def check_finite(parts, schedule, weights=False):
    """Ends a run that has gone bad, and records the sentences of the bad update.

    The record in `metrics.jsonl` is `{"kind": "not_finite", "step", "epoch", "batch",
    "pairs"}`; pairs are numbered from 1 in the order in which they were read, those
    that were dropped included, so that in one text file they are its lines.

    Args:
        parts: the `RunParts`.
        schedule: of the learning rate.
        weights: look at every weight as well, not only at the losses so far.

    Raises:
        FloatingPointError: the message names the first bad update, its pairs and the
            last good checkpoint.
    """
    step = parts.steps.first_bad_step()
    if step is None and weights and not _weights_are_finite(parts.model):
        step = parts.state.step  # the loss before it was finite
    if step is None:
        return
    epoch, batch = place_of_update(parts.batches, parts.state, step)
    rows, _ = parts.batches.plan(epoch)[batch]
    pairs = sorted(map(int, parts.batches.encoded.line_numbers(rows)))
    place = {"step": step, "epoch": epoch, "batch": batch}
    parts.metrics_log.write({"kind": "not_finite", **place, "pairs": pairs})
    good = list_checkpoints(parts.checkpoints.directory)
    raise FloatingPointError(
        f"The loss or a weight is not finite since update {step} (learning rate "
        f"{float(schedule(step - 1)):.3g}): batch {batch} of epoch {epoch}, with the "
        f"pairs {_shown(pairs)} of the training text, counted from 1. The last good "
        f"checkpoint: {good[-1] if good else 'none'}. Look at these pairs, lower "
        "learning_rate_scale, lengthen the warm-up or set gradient_clip_norm."
    )


def place_of_update(batches, state, step):
    """Returns (epoch, batch) of an update, counted back from where the run stands.

    Args:
        batches: `TokenBatches`.
        state: the `RunState`.
        step: number of the update, 1 <= step <= state.step.
    """
    epoch, batch = state.epoch, state.batch - 1 - (state.step - step)
    while batch < 0:
        epoch -= 1
        batch += len(batches.plan(epoch))
    return epoch, batch


def _weights_are_finite(model):
    finite = (tf.reduce_all(tf.math.is_finite(v.value)) for v in model.weights)
    return all(map(bool, finite))


def _shown(pairs):
    more = len(pairs) - _SHOWN
    text = ", ".join(map(str, pairs[:_SHOWN]))
    return f"{text} and {more} more (all in metrics.jsonl)" if more > 0 else text
