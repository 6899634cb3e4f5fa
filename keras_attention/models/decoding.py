"""Decoding of a Transformer, one position of every hypothesis at a time."""

import keras

from keras_attention import ops


class CachedDecoding:
    """Mix-in of `Transformer`: the step function of a search, and what it needs.

    It reads `transformer_config` and the `TransformerParts` of the model.
    """

    @property
    def max_decoding_length(self):
        """Positions of the learned table, or None: sinusoids have no end."""
        return self.transformer_config.max_length

    @property
    def _reach(self):
        """Positions that self-attention can look at, itself and those before it."""
        window = self.transformer_config.attention_window
        return None if window is None else window + 1

    def _bounded(self, capacity):
        if self._reach is None:
            return capacity
        if isinstance(capacity, int):
            return min(capacity, self._reach)
        return keras.ops.minimum(capacity, self._reach)

    def decoding_weights(self):
        """Returns what the steps of a search have in common.

        Returns:
            Dictionary of "blocks", the projections of each, folded, and "variables",
            the values of all that the model's variables hold: read once, not at every
            step.
        """
        return {
            "blocks": [
                block.decoding_weights() for block in self._parts.decoder_blocks
            ],
            "variables": [keras.ops.stop_gradient(v.value) for v in self.weights],
        }

    def decoding_context(self, source_ids, beam_size=1, capacity=ops.CAPACITY):
        """Computes what decoding needs of the source, once a sentence.

        Args:
            source_ids: int32 tensor of shape (B, S).
            beam_size: int, W, hypotheses of a sentence.
            capacity: int or int32 scalar, C, positions that the caches have room for
                at first; they grow by themselves.

        Returns:
            A nest of tensors that lead with B: "memory", keys and values of every
            block; "cache", those of the positions decoded so far; and "mask", boolean
            (B, S). It is the `context` of `decode_step`.
        """
        capacity = self._bounded(capacity)
        memory, mask = self._parts.encode(keras.ops.convert_to_tensor(source_ids))
        blocks, rows = self._parts.decoder_blocks, keras.ops.shape(mask)[0]
        return {
            "memory": [block.start(memory) for block in blocks],
            "cache": [block.empty_cache(rows, beam_size, capacity) for block in blocks],
            "mask": mask,
        }

    def initial_state(self, rows, capacity=ops.CAPACITY, source_mask=None):
        """Returns what the search reorders with its hypotheses, before the first step.

        Args:
            rows: int or int scalar tensor, R = B * W.
            capacity: C, as for `decoding_context`.
            source_mask: boolean (B, S); given, the state holds what every source
                position was attended to so far, for a coverage penalty.

        Returns:
            A nest of tensors that lead with R: "lineage", which slot of the caches
            holds each past position, and perhaps "coverage", float32 (R, S).
        """
        state = {"lineage": ops.empty_lineage(rows, self._bounded(capacity))}
        if source_mask is not None:
            # Padding counts as covered.
            start = keras.ops.where(source_mask, 0.0, 1.0)
            beams = rows // keras.ops.maximum(keras.ops.shape(source_mask)[0], 1)
            state["coverage"] = keras.ops.repeat(start, beams, axis=0)
        return state

    def decode_step(self, ids, step, state, context, weights=None, fixed_shapes=False):
        """Decodes one position of every hypothesis.

        Args:
            ids: int32 tensor of shape (R,), the last piece of every hypothesis; the
                R / B hypotheses of a sentence stand together.
            step: int32 scalar, position of that piece, from 0 on.
            state: what `initial_state`, and then `decode_step`, returned, its rows in
                the order of the hypotheses.
            context: what `decoding_context`, and then `decode_step`, returned. On
                TensorFlow its caches are written in place.
            weights: what `decoding_weights` returned; None = computed here.
            fixed_shapes: bool, for XLA: caches do not grow, and are not written in
                place.

        Returns:
            Tuple of float32 logits (R, V), the new state and the new context.
        """
        weights = weights or self.decoding_weights()
        caches, lineage = context["cache"], state["lineage"]
        if not fixed_shapes:
            caches, lineage = ops.grow_cache(caches, lineage, step, self._reach)
        place, lineage = self._place(caches, lineage, step, context, not fixed_shapes)
        values = zip(self.weights, weights["variables"], strict=True)
        with keras.StatelessScope(state_mapping=list(values)):
            logits, caches, attended = self._step(
                ids, step, caches, context["memory"], place, weights["blocks"]
            )
        state = {**state, "lineage": lineage}
        if "coverage" in state:
            state["coverage"] += _mean_of_heads(attended)
        return logits, state, {**context, "cache": caches}

    def _step(self, ids, step, caches, memories, place, weights):
        x = self._parts.embed_target(ids[:, None], start_index=step)[:, 0]  # (R, D)
        written = []
        for block, *parts in zip(
            self._parts.decoder_blocks, caches, memories, weights, strict=True
        ):
            cache, memory, folded = parts
            x, cache, attended = block.step(x, cache, memory, place, folded)
            written.append(cache)
        return self._parts.to_logits(x), written, attended

    def _place(self, caches, lineage, step, context, in_place):
        key_dim, _ = self.transformer_config.head_dims()
        heads, beams = caches[0]["key"].shape[1], caches[0]["key"].shape[-1] // key_dim
        # What a window has left behind makes room: position i lies at i % (r + 1).
        slot = step if self._reach is None else step % self._reach
        lineage = ops.extend_lineage(lineage, slot, beams)
        sentences, length = keras.ops.shape(context["mask"])
        capacity = keras.ops.shape(lineage)[1]
        place = ops.DecodingPlace(
            beams=beams,
            index=ops.position_index(caches[0], slot),
            capacity=capacity,
            self_bias=ops.mask_bias(ops.lineage_mask(lineage, beams)),
            memory_bias=ops.mask_bias(context["mask"][:, None, None]),
            self_small=ops.is_small(sentences, heads, beams, capacity * beams),
            memory_small=ops.is_small(sentences, heads, beams, length),
            in_place=in_place,
        )
        return place, lineage


def _mean_of_heads(weights):
    """(B, H, W, S) -> (B * W, S)."""
    mean = keras.ops.mean(weights, axis=1)
    return keras.ops.reshape(mean, (-1, keras.ops.shape(mean)[-1]))
