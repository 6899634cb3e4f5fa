"""Sentences with made-up weights."""

import numpy as np

from keras_attention.evaluation.attended_sentences import AttendedSentence


def rows(generator, shape, causal=False):
    """Random weights of shape (N, H, Q, M) that sum to 1."""
    weights = generator.random(shape) ** 4
    if causal:
        weights = np.tril(weights)
    return (weights / weights.sum(-1, keepdims=True)).astype("float32")


def made_up(source, target, layers=2, heads=3, seed=0, **fields):
    """An `AttendedSentence` of str pieces."""
    generator = np.random.default_rng(seed)
    size, length = len(source) + 1, len(target) + 1
    maps = {
        "encoder_self": rows(generator, (layers, heads, size, size)),
        "decoder_self": rows(generator, (layers, heads, length, length), True),
        "encoder_decoder": rows(generator, (layers, heads, length, size)),
    }
    return AttendedSentence(
        source=" ".join(source),
        target=" ".join(target),
        source_pieces=(*source, "[END]"),
        target_pieces=("[START]", *target),
        written_pieces=(*target, "[END]"),
        maps=maps,
        **fields,
    )
