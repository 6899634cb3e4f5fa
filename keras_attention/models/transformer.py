"""The Transformer, Figure 1 of the paper, as a flat Functional model."""

import keras

from keras_attention import ops
from keras_attention.config import TransformerConfig
from keras_attention.models.decoding import CachedDecoding
from keras_attention.models.parts import TransformerParts
from keras_attention.models.training import TokenExactTraining


@keras.saving.register_keras_serializable("keras_attention")
class Transformer(TokenExactTraining, CachedDecoding, keras.Model):
    """Encoder and decoder with shared embeddings.

    The graph is flat: an embedding shared by two nested Functional models could not
    be reloaded from a `.keras` file.

    Args:
        vocabulary_size: int, V; the other fields of `TransformerConfig` follow by
            keyword, and `build_transformer` passes them all.
        dtype: Keras dtype policy or its name; None = the global policy.
        name: of the model.

    Call arguments:
        inputs: dictionary of "source_ids", int32 (B, S): pieces, END, PAD; and
            "target_ids", int32 (B, T): START, pieces, PAD.
        training: bool, whether to apply dropout.

    Returns:
        Logits (B, T, V), float32 under every dtype policy; position t predicts the
        piece after target position t.

    Raises:
        ValueError: an argument that `TransformerConfig` refuses.

    Masking: made from PAD ids and passed explicitly; the logits carry none.

    Example:

    >>> import numpy as np
    >>> model = Transformer(vocabulary_size=50, num_layers=1, model_dim=8, num_heads=2)
    >>> ids = np.array([[5, 6, 3]], "int32")
    >>> tuple(model({"source_ids": ids, "target_ids": ids}).shape)
    (1, 3, 50)

    Reference: section 3 and Figure 1.
    """

    def __init__(self, vocabulary_size, dtype=None, name="transformer", **fields):
        config = TransformerConfig(vocabulary_size=vocabulary_size, **fields)
        policy = keras.dtype_policies.get(dtype or keras.config.dtype_policy())
        parts = TransformerParts(config, policy)

        # === Functional model ===
        source_ids = keras.Input((None,), dtype="int32", name="source_ids")
        target_ids = keras.Input((None,), dtype="int32", name="target_ids")
        states = parts.states(source_ids, target_ids)
        super().__init__(
            inputs={"source_ids": source_ids, "target_ids": target_ids},
            outputs=parts.to_logits(states),
            name=name,
        )

        # === Config ===
        self.dtype_policy = policy
        self.transformer_config = config
        self._parts = parts
        self._prepare_token_metrics()

    def encode(self, source_ids):
        """Encodes a batch of sources, without dropout.

        Args:
            source_ids: int32 tensor of shape (B, S): pieces, END, PAD.

        Returns:
            The memory, a tensor of shape (B, S, D) in the compute dtype.
        """
        return self._parts.encode(keras.ops.convert_to_tensor(source_ids))[0]

    def attention_weights(self, source_ids, target_ids):
        """Computes how much every position attends to every other, without dropout.

        Args:
            source_ids: int32 tensor of shape (B, S): pieces, END, PAD.
            target_ids: int32 tensor of shape (B, T): START, pieces, PAD.

        Returns:
            Dictionary of lists with one float32 tensor a block: "encoder_self"
            (B, H, S, S), "decoder_self" (B, H, T, T), "encoder_decoder" (B, H, T, S).
        """
        parts, ask = self._parts, {"return_attention_weights": True, "training": False}
        kinds = {"encoder_self": [], "decoder_self": [], "encoder_decoder": []}
        source_mask, target_mask = map(ops.padding_mask, (source_ids, target_ids))
        x = parts.embed_source(source_ids)
        for block in parts.encoder_blocks:
            x, weights = block(x, mask=source_mask, **ask)
            kinds["encoder_self"].append(weights)
        memory, x = parts.to_memory(x), parts.embed_target(target_ids)
        for block in parts.decoder_blocks:
            x, own, others = block(
                x, memory, inputs_mask=target_mask, memory_mask=source_mask, **ask
            )
            kinds["decoder_self"].append(own)
            kinds["encoder_decoder"].append(others)
        return kinds

    def get_config(self):
        """Returns the constructor arguments."""
        policy = keras.dtype_policies.serialize(self.dtype_policy)
        fields = self.transformer_config.to_dict()
        return {**fields, "dtype": policy, "name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Builds the model that `get_config` described."""
        return cls(**config)
