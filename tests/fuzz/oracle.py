"""Layers of the package in NumPy, float64: what each is told to compute.

Attention, feed-forward network, norms and blocks are those of `tests.reference`, where
heads are a loop and the softmax is written out; here are the layers around them, and
masks as a plain loop over positions. Nothing of the package is called.
"""

import math

import numpy as np

from tests.reference import transformer as reference


def may_attend(shape, value_mask=None, key_mask=None, attention_mask=None, **rules):
    """Returns who may attend to whom, (B, H, Q, M) booleans, position by position.

    Args:
        shape: (B, H, Q, M).
        value_mask, key_mask: (B, M) or None.
        attention_mask: (B, M), (B, Q, M) or broadcastable to `shape`, or None.
        **rules: "causal", bool; "window", int or None.
    """
    if attention_mask is not None:
        if attention_mask.ndim == 2:
            attention_mask = attention_mask[:, None, None, :]
        elif attention_mask.ndim == 3:
            attention_mask = attention_mask[:, None]
        attention_mask = np.broadcast_to(attention_mask, shape)
    seen = np.zeros(shape, bool)
    for b, h, q, m in np.ndindex(*shape):
        seen[b, h, q, m] = (
            (value_mask is None or value_mask[b, m])
            and (key_mask is None or key_mask[b, m])
            and (attention_mask is None or attention_mask[b, h, q, m])
            and (not rules.get("causal") or m <= q)
            and (rules.get("window") is None or abs(q - m) <= rules["window"])
        )
    return seen


def multi_head_attention(query, value, key, weights, seen):
    """Section 3.2.2, a mask for each head: output, and weights (B, H, Q, M)."""
    key = value if key is None else key
    heads, maps = [], []
    for i in range(len(weights["W_Q"])):
        Q = query @ weights["W_Q"][i] + weights.get("b_Q", {i: 0.0})[i]
        K = key @ weights["W_K"][i] + weights.get("b_K", {i: 0.0})[i]
        V = value @ weights["W_V"][i] + weights.get("b_V", {i: 0.0})[i]
        head, head_weights = reference.attention(Q, K, V, seen[:, i])
        heads.append(head)
        maps.append(head_weights)
    joined = np.concatenate(heads, axis=-1)
    return joined @ weights["W_O"] + weights.get("b_O", 0.0), np.stack(maps, axis=1)


def feed_forward(x, weights, activation):
    """Equation (2), for one activation by name."""
    return reference.feed_forward(x, weights, activation)


def layer_norm(x, weights, epsilon):
    return reference.layer_norm(x, weights, epsilon)


def add_and_norm(x, output, weights, epsilon, norm_position):
    """Section 3.1 without dropout."""
    added = x + output
    return added if norm_position == "pre" else layer_norm(added, weights, epsilon)


def embed(ids, embeddings):
    """Section 3.4: rows of the matrix, times the root of d_model."""
    return embeddings[ids] * math.sqrt(embeddings.shape[1])


def logits(states, embeddings, bias=0.0):
    """Section 3.4: the transposed matrix."""
    return states @ embeddings.T + bias


def add_sinusoids(x, start, layout):
    """Section 3.5."""
    positions = range(start, start + x.shape[1])
    return x + reference.sinusoid(positions, x.shape[2], layout)[None]


def add_learned(x, start, table):
    """Table 3, row (E)."""
    return x + table[None, start : start + x.shape[1]]


def encoder_block(x, weights, seen, *options):
    """Section 3.1; the mask is one for all heads, (B, Q, M)."""
    return reference.encoder_block(x, weights, seen, *options)


def decoder_block(x, memory, weights, seen, seen_of_memory, *options):
    return reference.decoder_block(x, memory, weights, seen, seen_of_memory, *options)
