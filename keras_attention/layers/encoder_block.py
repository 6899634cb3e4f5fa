"""One block of the encoder, section 3.1 of the paper."""

import keras

from keras_attention.layers.block import TransformerBlock


@keras.saving.register_keras_serializable("keras_attention")
class EncoderBlock(TransformerBlock):
    """Self-attention and a feed-forward network, each with add and norm.

    Args:
        num_heads: int, h.
        key_dim: int, d_k of one head.
        feed_forward_dim: int, d_ff.
        value_dim: int, d_v of one head; None = `key_dim`.
        dropout_rate: P_drop on both sub-layers' outputs (5.4).
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
        inputs: float tensor of shape (B, S, D).
        mask: boolean (B, S), True where a position is real.
        return_attention_weights: bool.
        training: bool, whether to apply dropout.

    Returns:
        Tensor of shape (B, S, D), or the tuple of it and the attention weights,
        float32 (B, H, S, S).

    Raises:
        ValueError: a size, rate or choice that cannot work.

    Masking: supported; Keras fills `mask`, and it is passed on.

    Example:

    >>> import numpy as np
    >>> block = EncoderBlock(num_heads=2, key_dim=4, feed_forward_dim=16)
    >>> tuple(block(np.ones((2, 3, 8), "float32")).shape)
    (2, 3, 8)

    Reference: section 3.1.
    """

    def build(self, input_shape):
        """Builds the sub-layers."""
        self.self_attention.build(input_shape, input_shape)
        self.self_attention_norm.build(input_shape)
        self.feed_forward.build(input_shape)
        self.feed_forward_norm.build(input_shape)
        self.built = True

    def call(self, inputs, mask=None, return_attention_weights=False, training=None):
        """Encodes one block further."""
        x = self.self_attention_norm.prepare(inputs, training)
        # Weights that nobody asks for are not made: some attention gets on without.
        asked = {"return_attention_weights": return_attention_weights}
        x = self.self_attention(x, x, value_mask=mask, **asked, training=training)
        x, *weights = x if return_attention_weights else (x,)
        x = self.self_attention_norm(inputs, x, training=training)
        y = self.feed_forward(
            self.feed_forward_norm.prepare(x, training), training=training
        )
        x = self.feed_forward_norm(x, y, training=training)
        return (x, *weights) if return_attention_weights else x
