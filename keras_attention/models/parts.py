"""The layers of a Transformer and how they follow each other."""

import keras

from keras_attention import ops
from keras_attention.layers import (
    DecoderBlock,
    EncoderBlock,
    LayerNorm,
    LearnedPositionalEmbedding,
    SinusoidalPositionalEncoding,
    TokenEmbedding,
)


class TransformerParts:
    """Makes the layers that a configuration describes and runs its two stacks.

    A plain object on purpose: the Functional graph alone owns the layers.

    Args:
        config: `TransformerConfig`.
        policy: Keras dtype policy of every layer.
    """

    def __init__(self, config, policy):
        self._config = config
        self._policy = policy
        # === Layers ===
        if config.share_embeddings:
            shared = self._embedding("token_embedding", config.output_bias)
            self.source_embedding = self.target_embedding = shared
            self.output_embedding = shared
        else:
            self.source_embedding = self._embedding("source_embedding")
            self.target_embedding = self._embedding("target_embedding")
            self.output_embedding = self._embedding(
                "output_embedding", config.output_bias
            )
        self.source_positions = self._positions("source_positions")
        self.target_positions = self._positions("target_positions")
        self.source_dropout = self._dropout("source_dropout")
        self.target_dropout = self._dropout("target_dropout")
        numbers = range(config.num_layers)
        self.encoder_blocks = [
            self._block(EncoderBlock, f"encoder_block_{number}") for number in numbers
        ]
        self.decoder_blocks = [
            self._block(DecoderBlock, f"decoder_block_{number}") for number in numbers
        ]
        # Post-LN ends every block with a norm; pre-LN needs one at the end (no paper).
        self.encoder_norm = self.decoder_norm = None
        if config.norm_position == "pre":
            self.encoder_norm = self._norm("encoder_norm")
            self.decoder_norm = self._norm("decoder_norm")

    def encode(self, source_ids, training=None):
        """Returns the memory (B, S, D) and the mask of the source, boolean (B, S)."""
        mask = ops.padding_mask(source_ids)
        x = self.embed_source(source_ids, training)
        for block in self.encoder_blocks:
            x = block(x, mask=mask, training=training)
        return self.to_memory(x), mask

    def embed_source(self, source_ids, training=None):
        """Returns the input of the first encoder block, (B, S, D)."""
        x = self.source_positions(self.source_embedding(source_ids))
        return self.source_dropout(x, training=training)

    def to_memory(self, x):
        """Returns the memory (B, S, D) of the last encoder block's output."""
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def embed_target(self, target_ids, start_index=0, training=None):
        """Returns the input of the first decoder block, (B, T, D)."""
        x = self.target_embedding(target_ids)
        x = self.target_positions(x, start_index=start_index)
        return self.target_dropout(x, training=training)

    def states(self, source_ids, target_ids, training=None):
        """Returns the output of the last decoder block, (B, T, D)."""
        memory, source_mask = self.encode(source_ids, training)
        x = self.embed_target(target_ids, training=training)
        masks = {
            "inputs_mask": ops.padding_mask(target_ids),
            "memory_mask": source_mask,
        }
        for block in self.decoder_blocks:
            x = block(x, memory, **masks, training=training)
        return x

    @property
    def output_variables(self):
        """The trainable variables that `to_logits` reads."""
        layers = (self.output_embedding, self.decoder_norm)
        return [v for layer in layers if layer for v in layer.trainable_variables]

    def to_logits(self, x):
        """Returns float32 logits (..., V) of the last block's output (..., D)."""
        if self.decoder_norm is not None:
            x = self.decoder_norm(x)
        return self.output_embedding(x, reverse=True)

    def _embedding(self, name, use_bias=False):
        sizes = self._config.vocabulary_size, self._config.model_dim
        return TokenEmbedding(*sizes, use_bias, name=name, dtype=self._policy)

    def _positions(self, name):
        config = self._config
        if config.positions == "learned":
            return LearnedPositionalEmbedding(
                config.max_length, name=name, dtype=self._policy
            )
        return SinusoidalPositionalEncoding(
            config.position_layout, name=name, dtype=self._policy
        )

    def _dropout(self, name):
        rate = self._config.dropout_rate
        return keras.layers.Dropout(rate, name=name, dtype=self._policy)

    def _norm(self, name):
        return LayerNorm(
            epsilon=self._config.layer_norm_epsilon, name=name, dtype=self._policy
        )

    def _block(self, block_class, name):
        config = self._config
        key_dim, value_dim = config.head_dims()
        return block_class(
            num_heads=config.num_heads,
            key_dim=key_dim,
            feed_forward_dim=config.feed_forward_dim,
            value_dim=value_dim,
            dropout_rate=config.dropout_rate,
            attention_dropout_rate=config.attention_dropout_rate,
            activation=config.activation,
            norm_position=config.norm_position,
            layer_norm_epsilon=config.layer_norm_epsilon,
            use_bias=config.use_bias,
            attention_window=config.attention_window,
            attention_chunk_length=config.attention_chunk_length,
            name=name,
            dtype=self._policy,
        )
