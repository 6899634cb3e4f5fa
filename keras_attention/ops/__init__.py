"""Pure functions on `keras.ops`: masks, attention, positions, caches.

Start reading here: these functions are the equations of the paper, and the layers
are thin classes over them.
"""

from keras_attention.ops.attention import merge_heads as merge_heads
from keras_attention.ops.attention import project_heads as project_heads
from keras_attention.ops.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from keras_attention.ops.attention import split_heads as split_heads
from keras_attention.ops.cache import append_to_cache as append_to_cache
from keras_attention.ops.cache import empty_cache as empty_cache
from keras_attention.ops.linear import linear as linear
from keras_attention.ops.linear import linear_transposed as linear_transposed
from keras_attention.ops.masks import causal_mask as causal_mask
from keras_attention.ops.masks import combine_masks as combine_masks
from keras_attention.ops.masks import padding_mask as padding_mask
from keras_attention.ops.masks import window_mask as window_mask
from keras_attention.ops.normalization import layer_norm as layer_norm
from keras_attention.ops.positions import sinusoids as sinusoids
