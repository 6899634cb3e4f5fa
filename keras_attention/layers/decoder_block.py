"""One block of the decoder, section 3.1 of the paper."""

import keras

from keras_attention import ops
from keras_attention.layers.block import TransformerBlock


@keras.saving.register_keras_serializable("keras_attention")
class DecoderBlock(TransformerBlock):
    """Causal self-attention, attention to the memory, and a feed-forward network.

    `call` computes all positions at once, for training. For decoding, `start` makes
    what depends on the memory alone and `step` computes one position with a cache;
    both give the same numbers.

    Args:
        num_heads: int, h.
        key_dim: int, d_k of one head.
        feed_forward_dim: int, d_ff.
        value_dim: int, d_v of one head; None = `key_dim`.
        dropout_rate: P_drop on the three sub-layers' outputs (5.4).
        attention_dropout_rate: dropout on attention weights; the paper has none.
        activation: of the feed-forward network; the paper has relu.
        norm_position: "post" (paper) or "pre" (departs from 3.1).
        layer_norm_epsilon: float, added to the variance.
        use_bias: biases in the attention projections; the paper writes none.

    Call arguments:
        inputs: float tensor of shape (B, T, D).
        memory: float tensor of shape (B, S, D), the encoder's output.
        inputs_mask: boolean (B, T), True where a target position is real.
        memory_mask: boolean (B, S), True where a source position is real.
        return_attention_weights: bool.
        training: bool, whether to apply dropout.

    Returns:
        Tensor of shape (B, T, D), or the tuple of it, the self-attention weights,
        float32 (B, H, T, T), and the weights over the memory, float32 (B, H, T, S).

    Raises:
        ValueError: a size, rate or choice that cannot work.

    Masking: supported; Keras fills `inputs_mask` and `memory_mask`, and the first is
    passed on.

    Example:

    >>> import numpy as np
    >>> block = DecoderBlock(num_heads=2, key_dim=4, feed_forward_dim=16)
    >>> target, memory = np.ones((2, 3, 8), "float32"), np.ones((2, 5, 8), "float32")
    >>> tuple(block(target, memory).shape)
    (2, 3, 8)

    Reference: sections 3.1 and 3.2.3.
    """

    attends_to_memory = True

    def build(self, inputs_shape, memory_shape):
        """Builds the sub-layers."""
        self.self_attention.build(inputs_shape, inputs_shape)
        self.memory_attention.build(inputs_shape, memory_shape)
        self.feed_forward.build(inputs_shape)
        self.self_attention_norm.build(inputs_shape)
        self.memory_attention_norm.build(inputs_shape)
        self.feed_forward_norm.build(inputs_shape)
        self.built = True

    def call(
        self,
        inputs,
        memory,
        inputs_mask=None,
        memory_mask=None,
        return_attention_weights=False,
        training=None,
    ):
        """Decodes one block further, all positions at once."""
        x = self.self_attention_norm.prepare(inputs)
        x, self_weights = self.self_attention(
            x,
            x,
            value_mask=inputs_mask,
            use_causal_mask=True,
            return_attention_weights=True,
            training=training,
        )
        x = self.self_attention_norm(inputs, x, training=training)
        y, memory_weights = self.memory_attention(
            self.memory_attention_norm.prepare(x),
            memory,
            value_mask=memory_mask,
            return_attention_weights=True,
            training=training,
        )
        x = self.memory_attention_norm(x, y, training=training)
        y = self.feed_forward(self.feed_forward_norm.prepare(x), training=training)
        x = self.feed_forward_norm(x, y, training=training)
        return (x, self_weights, memory_weights) if return_attention_weights else x

    def start(self, memory):
        """Returns the memory's keys and values, computed once a sentence.

        Args:
            memory: float tensor of shape (B, S, D).

        Returns:
            Dictionary of "key" (B, H, S, K) and "value" (B, H, S, Kv).
        """
        key, value = self.memory_attention.project_memory(memory)
        return {"key": key, "value": value}

    def empty_cache(self, rows):
        """Returns the self-attention cache of `rows` hypotheses before the first step.

        Returns:
            Dictionary of "key" (R, H, 0, K) and "value" (R, H, 0, Kv).
        """
        layer = self.self_attention
        return ops.empty_cache(
            rows, layer.num_heads, layer.key_dim, layer.value_dim, self.compute_dtype
        )

    def step(self, inputs, cache, memory, memory_mask):
        """Decodes one position of every hypothesis.

        The W hypotheses of a sentence are rows b * W ... b * W + W - 1. They attend to
        the memory as W queries of one sentence, so that it is never tiled.

        Args:
            inputs: float tensor of shape (B * W, 1, D).
            cache: what `empty_cache`, and then `step`, returned.
            memory: what `start` returned.
            memory_mask: boolean (B, S).

        Returns:
            Tuple of the outputs (B * W, 1, D), the longer cache and the attention
            weights over the memory, float32 (B, H, W, S).
        """
        norm = self.self_attention_norm
        x, cache = self._cached_self_attention(norm.prepare(inputs), cache)
        x = norm(inputs, x, training=False)
        norm = self.memory_attention_norm
        y, weights = self._shared_memory_attention(norm.prepare(x), memory, memory_mask)
        x = norm(x, y, training=False)
        norm = self.feed_forward_norm
        y = self.feed_forward(norm.prepare(x), training=False)
        return norm(x, y, training=False), cache, weights

    def _cached_self_attention(self, inputs, cache):
        query = self.self_attention.project_query(inputs)
        cache = ops.append_to_cache(cache, *self.self_attention.project_memory(inputs))
        # No mask: every cached position is a real one and an earlier one.
        outputs, _ = self.self_attention.attend(query, cache["key"], cache["value"])
        return outputs, cache

    def _shared_memory_attention(self, inputs, memory, memory_mask):
        rows, _, model_dim = keras.ops.shape(inputs)
        sentences = keras.ops.shape(memory["key"])[0]
        # An empty batch has no beam width to find out; any will do.
        beams = rows // keras.ops.maximum(sentences, 1)
        queries = keras.ops.reshape(inputs, (sentences, beams, model_dim))  # (B, W, D)
        outputs, weights = self.memory_attention.attend(
            self.memory_attention.project_query(queries),
            memory["key"],
            memory["value"],
            ops.combine_masks(memory_mask),
        )
        return keras.ops.reshape(outputs, (rows, 1, model_dim)), weights
