"""What the blocks of encoder and decoder share: their arguments and sub-layers."""

import keras

from keras_attention.layers.add_and_norm import AddAndNorm
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.positionwise_feed_forward import PositionwiseFeedForward


class TransformerBlock(keras.layers.Layer):
    """Makes the sub-layers of a block; `EncoderBlock` says what the arguments are.

    Args: see `EncoderBlock`.
    """

    attends_to_memory = False  # whether there is a second attention, over the memory

    def __init__(
        self,
        num_heads,
        key_dim,
        feed_forward_dim,
        value_dim=None,
        dropout_rate=0.1,
        attention_dropout_rate=0.0,
        activation="relu",
        norm_position="post",
        layer_norm_epsilon=1e-6,
        use_bias=False,
        attention_window=None,
        attention_chunk_length=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        policy = {"dtype": self.dtype_policy}
        heads = (num_heads, key_dim, value_dim, attention_dropout_rate)
        chosen = {"use_bias": use_bias, "chunk_length": attention_chunk_length}
        residual = (dropout_rate, layer_norm_epsilon, norm_position)

        def attention(name, window=None):
            return MultiHeadAttention(*heads, window, name=name, **chosen, **policy)

        # === Layers ===
        self.self_attention = attention("self_attention", attention_window)
        self.self_attention_norm = AddAndNorm(
            *residual, name="self_attention_norm", **policy
        )
        if self.attends_to_memory:
            self.memory_attention = attention("memory_attention")
            self.memory_attention_norm = AddAndNorm(
                *residual, name="memory_attention_norm", **policy
            )
        self.feed_forward = PositionwiseFeedForward(
            feed_forward_dim, activation, name="feed_forward", **policy
        )
        self.feed_forward_norm = AddAndNorm(
            *residual, name="feed_forward_norm", **policy
        )

    def compute_mask(self, inputs, previous_mask=None):
        """Passes the mask of the first argument on."""
        return previous_mask

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "num_heads": self.self_attention.num_heads,
            "key_dim": self.self_attention.key_dim,
            "feed_forward_dim": self.feed_forward.feed_forward_dim,
            "value_dim": self.self_attention.value_dim,
            "dropout_rate": self.self_attention_norm.dropout_rate,
            "attention_dropout_rate": self.self_attention.dropout_rate,
            "activation": keras.activations.serialize(self.feed_forward.activation),
            "norm_position": self.self_attention_norm.norm_position,
            "layer_norm_epsilon": self.self_attention_norm.layer_norm_epsilon,
            "use_bias": self.self_attention.use_bias,
            "attention_window": self.self_attention.window,
            "attention_chunk_length": self.self_attention.chunk_length,
        }
