"""Checks of what `beam_search` is given."""

import math
import operator
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attention.decoding.constraints import Rules
from keras_attention.vocabulary import END_ID, PAD_ID


class Sizes(NamedTuple):
    """The sizes of a search that are known before it runs."""

    vocabulary: int  # V
    beams: int  # W
    hypotheses: int  # N


class Request(NamedTuple):
    """What a search and a sampling are asked for alike, checked."""

    sizes: Sizes
    rules: Rules
    limits: tf.Tensor  # (B,) int32
    state: Any  # nest of tensors that lead with B * W
    contexts: tuple  # of nothing, or of one nest of tensors that lead with B
    prefixes: tf.Tensor  # (B, P) int32


def check_request(
    sizes,
    state,
    batch_size,
    max_lengths,
    length_penalty_alpha,
    context,
    prefix_ids,
    suppress_ids,
    no_repeat_ngram_size,
):
    """Returns the `Request` of the arguments of `beam_search`, refusing misfits."""
    constraints = check_constraints(suppress_ids, no_repeat_ngram_size, sizes)
    limits = check_limits(max_lengths, batch_size)
    contexts = () if context is None else (context,)
    rows = tf.get_static_value(tf.convert_to_tensor(batch_size))
    return Request(
        sizes,
        Rules(check_alpha(length_penalty_alpha, limits), *constraints),
        limits,
        check_nest("state", state, None if rows is None else rows * sizes.beams),
        check_nest("context", contexts, rows),
        check_prefixes(prefix_ids, limits),
    )


def check_sizes(vocabulary_size, beam_size, num_hypotheses):
    """Returns `Sizes`, refusing what is no size."""
    sizes = []
    for name, size, least in (
        ("vocabulary_size", vocabulary_size, END_ID + 1),
        ("beam_size", beam_size, 1),
        ("num_hypotheses", num_hypotheses, 1),
    ):
        if not hasattr(size, "__index__") or operator.index(size) < least:
            raise ValueError(
                f"`{name}` must be an integer of at least {least}. "
                f"Received: {name}={size!r}. Pass a Python integer."
            )
        sizes.append(operator.index(size))
    if num_hypotheses > beam_size:
        raise ValueError(
            "`num_hypotheses` can be at most `beam_size`. Received: num_hypotheses="
            f"{num_hypotheses}, beam_size={beam_size}. Widen the beam."
        )
    return Sizes(*sizes)


def check_alpha(alpha, limits):
    """Returns alpha as float32, scalar or (B,); what is known of it is checked."""
    alphas = tf.convert_to_tensor(alpha, tf.float32)
    value = tf.get_static_value(alphas)
    if value is not None and not all(0 <= x < math.inf for x in value.flat):
        raise ValueError(
            "`length_penalty_alpha` must be a finite number of at least 0. Received: "
            f"length_penalty_alpha={alpha}. Pass 0 for no length penalty."
        )
    if alphas.shape.rank != 0 and not alphas.shape.is_compatible_with(limits.shape):
        raise ValueError(
            "`length_penalty_alpha` must be a scalar or have the shape (batch_size,). "
            f"Received: shape {alphas.shape}, batch_size={limits.shape[0]}."
        )
    return alphas


def check_sentence_sizes(sizes, limits):
    """Returns () or (`SentenceSizes` of int32 (B,),)."""
    if sizes is None:
        return ()
    sizes = type(sizes)(*(tf.convert_to_tensor(x, tf.int32) for x in sizes))
    for name, values in sizes._asdict().items():
        if not values.shape.is_compatible_with(limits.shape):
            raise ValueError(
                f"`sentence_sizes.{name}` must have the shape (batch_size,), one size "
                f"a sentence. Received: shape {values.shape}, "
                f"batch_size={limits.shape[0]}."
            )
    return (sizes,)


def check_limits(max_lengths, batch_size):
    """Returns the limits (B,) int32 of a batch."""
    limits = tf.cast(max_lengths, tf.int32)
    rows = tf.get_static_value(tf.convert_to_tensor(batch_size))
    if not limits.shape.is_compatible_with([rows]):
        raise ValueError(
            "`max_lengths` must have the shape (batch_size,), one limit a sentence. "
            f"Received: shape {limits.shape}, batch_size={rows}."
        )
    return limits


def check_nest(name, nest, rows):
    """Returns the nest of tensors, each of which leads with `rows` (None = unknown)."""
    lead = "batch_size * beam_size" if name == "state" else "batch_size"
    if any(leaf is None for leaf in tf.nest.flatten(nest)):
        raise ValueError(
            f"`{name}` must be a nest of tensors that lead with {lead}. Received: "
            f"{nest!r}. Pass () where there is none."
        )
    nest = tf.nest.map_structure(tf.convert_to_tensor, nest)
    for leaf in tf.nest.flatten(nest):
        if leaf.shape.rank == 0 or not leaf.shape[:1].is_compatible_with([rows]):
            raise ValueError(
                f"Every tensor of `{name}` must lead with {lead} rows "
                f"({'?' if rows is None else rows}). Received: shape {leaf.shape}. "
                "Repeat it for each row."
            )
    return nest


def check_logits(logits, vocabulary_size):
    """Returns logits (B*W, V) as float32."""
    logits = tf.cast(logits, tf.float32)
    if not logits.shape.is_compatible_with([None, vocabulary_size]):
        raise ValueError(
            "`step_fn` must return logits of shape (batch_size * beam_size, "
            f"{vocabulary_size}), the last from `vocabulary_size`. Received: shape "
            f"{logits.shape}."
        )
    return tf.ensure_shape(logits, [None, vocabulary_size])


def check_constraints(suppress_ids, no_repeat_ngram_size, sizes):
    """Returns both, refusing what no vocabulary holds and what is no size."""
    ids = tuple(suppress_ids)
    for token in ids:
        if not hasattr(token, "__index__") or not 0 <= token < sizes.vocabulary:
            raise ValueError(
                "`suppress_ids` must hold ids of the vocabulary, from 0 to "
                f"{sizes.vocabulary - 1}. Received: {token!r}. Leave it out."
            )
    if not hasattr(no_repeat_ngram_size, "__index__") or no_repeat_ngram_size < 0:
        raise ValueError(
            "`no_repeat_ngram_size` must be an integer of at least 0. Received: "
            f"{no_repeat_ngram_size!r}. Pass 0 to allow repeats."
        )
    return ids, operator.index(no_repeat_ngram_size)


def check_prefixes(prefix_ids, limits):
    """Returns the prefixes (B, P) int32; P = 0 where there are none."""
    if prefix_ids is None:
        return tf.zeros((tf.size(limits), 0), tf.int32)
    prefixes = tf.convert_to_tensor(prefix_ids, tf.int32)
    if not prefixes.shape.is_compatible_with([limits.shape[0], None]):
        raise ValueError(
            "`prefix_ids` must have the shape (batch_size, P), PAD behind each prefix. "
            f"Received: shape {prefixes.shape}, batch_size={limits.shape[0]}."
        )
    if prefixes.shape[1] is None:  # it may turn out to be 0
        prefixes = tf.pad(prefixes, [[0, 0], [0, 1]], constant_values=PAD_ID)
    return prefixes


def check_sampling(temperature, top_k, top_p, sizes):
    """Returns (temperature, top_k, top_p), refusing what leaves nothing to draw."""
    if not 0 < temperature < math.inf:
        raise ValueError(
            "`temperature` must be a finite number above 0. Received: "
            f"{temperature}. Search with `beam_size=1` for the likeliest ids."
        )
    if not hasattr(top_k, "__index__") or not 0 <= top_k <= sizes.vocabulary:
        raise ValueError(
            f"`top_k` must be an integer from 0 to {sizes.vocabulary}, the size of the "
            f"vocabulary. Received: {top_k!r}. Pass 0 for all ids."
        )
    if not 0 < top_p <= 1:
        raise ValueError(
            f"`top_p` must be above 0 and at most 1. Received: {top_p}. Pass 1 for all "
            "ids."
        )
    return float(temperature), operator.index(top_k), float(top_p)
