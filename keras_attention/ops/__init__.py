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
from keras_attention.ops.cache import CAPACITY as CAPACITY
from keras_attention.ops.cache import DecodingPlace as DecodingPlace
from keras_attention.ops.cache import empty_cache as empty_cache
from keras_attention.ops.cache import empty_lineage as empty_lineage
from keras_attention.ops.cache import extend_lineage as extend_lineage
from keras_attention.ops.cache import grow_cache as grow_cache
from keras_attention.ops.cache import lineage_mask as lineage_mask
from keras_attention.ops.cache import position_index as position_index
from keras_attention.ops.cache import write_to_cache as write_to_cache
from keras_attention.ops.chunked_attention import chunked_attention as chunked_attention
from keras_attention.ops.decoding import attend_with_bias as attend_with_bias
from keras_attention.ops.decoding import is_small as is_small
from keras_attention.ops.decoding import mask_bias as mask_bias
from keras_attention.ops.decoding import merge_beams as merge_beams
from keras_attention.ops.decoding import split_beams as split_beams
from keras_attention.ops.decoding import split_three as split_three
from keras_attention.ops.linear import linear as linear
from keras_attention.ops.linear import linear_transposed as linear_transposed
from keras_attention.ops.masks import causal_mask as causal_mask
from keras_attention.ops.masks import combine_masks as combine_masks
from keras_attention.ops.masks import padding_mask as padding_mask
from keras_attention.ops.masks import window_mask as window_mask
from keras_attention.ops.normalization import layer_norm as layer_norm
from keras_attention.ops.positions import sinusoids as sinusoids
from keras_attention.ops.windowed_attention import (
    windowed_attention as windowed_attention,
)
