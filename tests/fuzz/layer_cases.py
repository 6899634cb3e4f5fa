"""Random calls of every public layer, each with what the oracle says of it.

A case draws its sizes, options and masks from a seed, makes the layer, and gives back
`call()`, the product's answers as a list of tensors, and `expected(x)`, the oracle's,
as a function of the inputs, so that the effect of rounding can be measured.
"""

import dataclasses
import random
from collections.abc import Callable

import numpy as np

from tests.fuzz import oracle
from tests.reference import bridge

POLICIES = ("float32", "float32", "mixed_float16", "mixed_bfloat16")
ACTIVATIONS = ("relu", "gelu", "silu", "tanh")
MASKS = ("none", "none", "padding", "padding", "nothing", "random")


@dataclasses.dataclass
class Case:
    """One call.

    Attributes:
        told: what was drawn, for a report.
        layer: the layer; it is built by the first call.
        inputs: list of arrays, float32 or integers.
        call: function of the inputs (tensors) to a list of tensors.
        expected: function of the inputs (float64) to a list of arrays; its weights are
            those of the layer at the time of the call.
        zeros: (B, Q) booleans, rows that must be exactly zero in the first answer, or
            None.
        slack: error of the answer that no change of the inputs explains.
    """

    told: dict
    layer: object
    inputs: list
    call: Callable
    expected: Callable
    zeros: Callable = lambda: None
    slack: float = 0.0


class Draw:
    """Sizes, numbers and masks of one seed."""

    def __init__(self, name, seed):
        self.random = random.Random(f"{name} {seed}")
        self.numbers = np.random.default_rng(self.random.randrange(1 << 30))
        self.policy = self.random.choice(POLICIES)
        self.told = {"policy": self.policy}

    def size(self, name, *choices):
        return self.told.setdefault(name, self.random.choice(choices))

    def choice(self, name, *choices):
        return self.told.setdefault(name, self.random.choice(choices))

    def states(self, *shape, scale=1.0):
        """Normal numbers that the policy can hold, so that inputs are not rounded."""
        import ml_dtypes

        kinds = {"mixed_float16": np.float16, "mixed_bfloat16": ml_dtypes.bfloat16}
        values = (scale * self.numbers.normal(size=shape)).astype("float32")
        return values.astype(kinds.get(self.policy, "float32")).astype("float32")

    def mask(self, name, *shape):
        """A mask over the last axis, None or all of one kind that is told."""
        kind = self.choice(name, *MASKS)
        if kind == "none":
            return None
        if kind == "padding":
            lengths = self.numbers.integers(1, shape[-1] + 1, shape[:-1])
            return np.arange(shape[-1]) < lengths[..., None]
        mask = self.numbers.random(shape) < 0.6
        if kind == "nothing":  # some rows, or all, with nothing to attend to
            mask[self.numbers.random(shape[:-1]) < 0.7] = False
        return mask

    def fill(self, layer):
        """Gives a built layer weights that are all random, exact as the inputs are."""
        for weight in layer.trainable_weights:
            weight.assign(self.states(*weight.shape, scale=weight.shape[0] ** -0.5))


def attention(seed):
    import keras_attention as ka

    draw = Draw("attention", seed)
    rows, heads = draw.size("B", 1, 2, 3), draw.size("H", 1, 2, 3)
    width, key_dim = draw.size("D", 1, 4, 6), draw.size("K", 1, 2, 5)
    value_dim = draw.size("Kv", None, 1, 4, key_dim)
    queries, memory = draw.size("Q", 1, 2, 5, 9, 33), draw.size("M", 1, 2, 5, 8, 40)
    way = draw.choice("way", "whole", "whole", "window", "chunks")
    if way == "window":
        memory = draw.told["M"] = queries
    options = {"whole": {}, "window": {"window": draw.size("r", 1, 2, 7, 99)}}
    options["chunks"] = {"chunk_length": draw.size("C", 1, 3, 8, 99)}
    causal = draw.choice("causal", False, False, True)
    want_weights = draw.choice("weights", False, True)
    layer = ka.MultiHeadAttention(
        *(heads, key_dim, value_dim),
        use_bias=draw.choice("bias", False, True),
        dtype=draw.policy,
        **options[way],
    )
    inputs = [draw.states(rows, queries, width), draw.states(rows, memory, width)]
    if draw.choice("key", False, False, True):
        inputs.append(draw.states(rows, memory, width))
    shape = draw.choice(
        "attention shape",
        (rows, queries, memory),
        (rows, heads, queries, memory),
        (1, 1, queries, memory),
        (rows, memory),
    )
    masks = {
        "value_mask": draw.mask("value mask", rows, memory),
        "key_mask": draw.mask("key mask", rows, memory) if len(inputs) > 2 else None,
        "attention_mask": draw.mask("attention mask", *shape),
    }
    seen = oracle.may_attend(
        (rows, heads, queries, memory),
        **masks,
        causal=causal,
        window=options[way].get("window"),
    )

    def call(query, value, key=None):
        found = layer(
            *(query, value, key),
            **masks,
            use_causal_mask=causal,
            return_attention_weights=want_weights,
        )
        return list(found) if want_weights else [found]

    def expected(query, value, key=None):
        weights = bridge.attention_weights(layer)
        found = oracle.multi_head_attention(query, value, key, weights, seen)
        return list(found) if want_weights else [found[0]]

    def zeros():
        return None if layer.use_bias else ~seen.any(axis=(1, 3))

    return _built(draw, Case(draw.told, layer, inputs, call, expected, zeros))


def _built(draw, case):
    case.call(*case.inputs)
    draw.fill(case.layer)
    return case


def feed_forward(seed):
    import keras_attention as ka

    draw = Draw("feed_forward", seed)
    activation = draw.choice("activation", *ACTIVATIONS)
    inner = draw.size("F", 1, 7, 32)
    layer = ka.PositionwiseFeedForward(inner, activation, dtype=draw.policy)
    x = draw.states(draw.size("B", 1, 3), draw.size("L", 1, 6), draw.size("D", 1, 8))

    def expected(x):
        pairs = bridge.feed_forward_variables(layer)
        return [oracle.feed_forward(x, bridge.weights_of(pairs), activation)]

    case = Case(draw.told, layer, [x], lambda x: [layer(x)], expected)
    return _built(draw, case)


def add_and_norm(seed):
    import keras_attention as ka

    draw = Draw("add_and_norm", seed)
    position = draw.choice("position", "post", "pre")
    epsilon = draw.choice("epsilon", 1e-6, 1e-3, 1.0)
    layer = ka.AddAndNorm(0.0, epsilon, position, dtype=draw.policy)
    shape = draw.size("B", 1, 3), draw.size("L", 1, 6), draw.size("D", 1, 2, 8)
    inputs = [draw.states(*shape), draw.states(*shape)]

    def expected(x, output):
        weights = bridge.weights_of(bridge.norm_variables(layer))
        return [oracle.add_and_norm(x, output, weights, epsilon, position)]

    case = Case(draw.told, layer, inputs, lambda *xs: [layer(*xs)], expected)
    return _built(draw, case)


def layer_norm(seed):
    from keras_attention.layers import LayerNorm

    draw = Draw("layer_norm", seed)
    epsilon = draw.choice("epsilon", 1e-6, 1e-3, 1.0)
    layer = LayerNorm(epsilon, dtype=draw.policy)
    shape = draw.choice("shape", (1, 1), (3, 8), (2, 5, 4), (2, 1, 3, 6))
    x = draw.states(*shape) * draw.choice("scale", 1.0, 0.0, 64.0)

    def expected(x):
        pairs = [("g", layer.gamma), ("b", layer.beta)]
        return [oracle.layer_norm(x, bridge.weights_of(pairs), epsilon)]

    training = draw.choice("training", None, True, False)
    call = lambda x: [layer(x, training=training)]  # noqa: E731
    return _built(draw, Case(draw.told, layer, [x], call, expected))
