"""One block of the decoder, section 3.1 of the paper."""

import keras

from keras_attention import ops
from keras_attention.layers.block import TransformerBlock


@keras.saving.register_keras_serializable("keras_attention")
class DecoderBlock(TransformerBlock):
    """Causal self-attention, attention to the memory, and a feed-forward network.

    `call` computes all positions at once, for training. For decoding, `start` makes
    what depends on the memory alone, `decoding_weights` what depends on the weights
    alone, and `step` computes one position with a cache; both give the same numbers.

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
        attention_window: int r, restricts self-attention to |i - j| <= r (section 4,
            future work there); None = no restriction.
        attention_chunk_length: int, attends to so many keys at a time, which saves
            memory and changes no number; None = to all at once.

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
        asked = {"return_attention_weights": return_attention_weights}
        x = self.self_attention_norm.prepare(inputs, training)
        x = self.self_attention(
            x,
            x,
            value_mask=inputs_mask,
            use_causal_mask=True,
            **asked,
            training=training,
        )
        x, *self_weights = x if return_attention_weights else (x,)
        x = self.self_attention_norm(inputs, x, training=training)
        y = self.memory_attention(
            self.memory_attention_norm.prepare(x, training),
            memory,
            value_mask=memory_mask,
            **asked,
            training=training,
        )
        y, *memory_weights = y if return_attention_weights else (y,)
        x = self.memory_attention_norm(x, y, training=training)
        y = self.feed_forward(
            self.feed_forward_norm.prepare(x, training), training=training
        )
        x = self.feed_forward_norm(x, y, training=training)
        return (x, *self_weights, *memory_weights) if return_attention_weights else x

    def decoding_weights(self):
        """Returns the projections as decoding uses them, folded once for all steps.

        Queries are scaled by 1 / sqrt(d_k) in their projection.

        Returns:
            Dictionary of "self" (D, H * (2K + Kv)), queries, keys and values side by
            side, "query" (D, H * K), of the attention to the memory, and their biases.
        """
        own, others = self.self_attention, self.memory_attention
        scale = own.key_dim**-0.5
        kernels = [own.query_kernel * scale, own.key_kernel, own.value_kernel]
        weights = {
            "self": keras.ops.concatenate(kernels, axis=-1),
            "query": others.query_kernel * scale,
        }
        if own.use_bias:
            biases = [own.query_bias * scale, own.key_bias, own.value_bias]
            weights["self_bias"] = keras.ops.concatenate(biases, axis=-1)
            weights["query_bias"] = others.query_bias * scale
        return weights

    def start(self, memory):
        """Returns the memory's keys and values, computed once a sentence.

        Args:
            memory: float tensor of shape (B, S, D).

        Returns:
            Dictionary of "key" (B, H, S, K) and "value" (B, H, S, Kv).
        """
        key, value = self.memory_attention.project_memory(memory)
        return {"key": key, "value": value}

    def empty_cache(self, sentences, beams, capacity):
        """Returns the self-attention cache of sentences before their first step.

        Returns:
            Dictionary of "key" (B, H, C, W * K) and "value" (B, H, C, W * Kv).
        """
        layer = self.self_attention
        sizes = (layer.num_heads, layer.key_dim, layer.value_dim)
        return ops.empty_cache(sentences, beams, *sizes, capacity, self.compute_dtype)

    def step(self, inputs, cache, memory, place, weights):
        """Decodes one position of every hypothesis.

        The W hypotheses of a sentence are rows b * W ... b * W + W - 1. They attend to
        the memory, and to the slots of the cache, as W queries of one sentence, so
        that neither is ever tiled or put into another order.

        Args:
            inputs: float tensor of shape (B * W, D).
            cache: what `empty_cache`, and then `step`, returned. On TensorFlow it is
                written in place.
            memory: what `start` returned.
            place: `DecodingPlace`.
            weights: what `decoding_weights` returned.

        Returns:
            Tuple of the outputs (B * W, D), the cache and the attention weights over
            the memory, float32 (B, H, W, S).
        """
        norm = self.self_attention_norm
        x = norm.prepare(inputs, training=False)
        x, cache = self._cached_self_attention(x, cache, place, weights)
        x = norm(inputs, x, training=False)
        norm = self.memory_attention_norm
        y, attended = self._shared_memory_attention(
            norm.prepare(x, training=False), memory, place, weights
        )
        x = norm(x, y, training=False)
        norm = self.feed_forward_norm
        y = self.feed_forward(norm.prepare(x, training=False), training=False)
        return norm(x, y, training=False), cache, attended

    def _cached_self_attention(self, inputs, cache, place, weights):
        layer, beams = self.self_attention, place.beams
        heads, key_dim, value_dim = layer.num_heads, layer.key_dim, layer.value_dim
        projected = ops.linear(inputs, weights["self"], weights.get("self_bias"))
        query, key, value = ops.split_three(projected, beams, heads, key_dim, value_dim)
        cache = ops.write_to_cache(
            cache, place.index, key, value, place.capacity, place.in_place
        )
        slots = place.capacity * beams
        keys = keras.ops.reshape(cache["key"], (-1, heads, slots, key_dim))
        values = keras.ops.reshape(cache["value"], (-1, heads, slots, value_dim))
        attended, _ = ops.attend_with_bias(
            query, keys, values, place.self_bias, place.self_small
        )
        merged = ops.merge_beams(attended, beams, heads)
        return ops.linear(merged, layer.output_kernel, layer.output_bias), cache

    def _shared_memory_attention(self, inputs, memory, place, weights):
        layer, beams = self.memory_attention, place.beams
        query = ops.linear(inputs, weights["query"], weights.get("query_bias"))
        query = ops.split_beams(query, beams, layer.num_heads)
        attended, attention_weights = ops.attend_with_bias(
            query, memory["key"], memory["value"], place.memory_bias, place.memory_small
        )
        merged = ops.merge_beams(attended, beams, layer.num_heads)
        outputs = ops.linear(merged, layer.output_kernel, layer.output_bias)
        return outputs, attention_weights
