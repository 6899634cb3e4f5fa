"""The layers of the paper, one `keras.layers.Layer` a file."""

from keras_attention.layers.add_and_norm import AddAndNorm as AddAndNorm
from keras_attention.layers.decoder_block import DecoderBlock as DecoderBlock
from keras_attention.layers.encoder_block import EncoderBlock as EncoderBlock
from keras_attention.layers.layer_norm import LayerNorm as LayerNorm
from keras_attention.layers.learned_positional_embedding import (
    LearnedPositionalEmbedding as LearnedPositionalEmbedding,
)
from keras_attention.layers.multi_head_attention import (
    MultiHeadAttention as MultiHeadAttention,
)
from keras_attention.layers.positionwise_feed_forward import (
    PositionwiseFeedForward as PositionwiseFeedForward,
)
from keras_attention.layers.sinusoidal_positional_encoding import (
    SinusoidalPositionalEncoding as SinusoidalPositionalEncoding,
)
from keras_attention.layers.token_embedding import TokenEmbedding as TokenEmbedding
