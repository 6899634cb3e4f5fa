"""From a configuration to a model: the only place where the two meet."""

import dataclasses

from keras_attention.config import TransformerConfig
from keras_attention.models.transformer import Transformer


def build_transformer(config, dtype_policy=None, name="transformer"):
    """Builds the model that a configuration describes.

    Args:
        config: `TransformerConfig`.
        dtype_policy: Keras dtype policy or its name, such as "mixed_bfloat16"; None =
            the global policy.
        name: of the model.

    Returns:
        `Transformer` with fresh weights.

    Raises:
        ValueError: `config` is no `TransformerConfig`.

    Example:

    >>> from keras_attention.config import TransformerConfig
    >>> config = TransformerConfig.from_preset("tiny", vocabulary_size=100)
    >>> build_transformer(config).count_params()
    1331712
    """
    if not isinstance(config, TransformerConfig):
        raise ValueError(
            "`config` must be a `TransformerConfig`. "
            f"Received: {config!r}. `TransformerConfig.from_preset` makes one."
        )
    return Transformer(**dataclasses.asdict(config), dtype=dtype_policy, name=name)
