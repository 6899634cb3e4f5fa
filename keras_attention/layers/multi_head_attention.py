"""Multi-head attention, section 3.2.2 of the paper."""

import keras

from keras_attention import ops
from keras_attention.checks import check_chunks, check_integer, check_number


@keras.saving.register_keras_serializable("keras_attention")
class MultiHeadAttention(keras.layers.Layer):
    """Attends from several heads at once.

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with
    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V).

    Args:
        num_heads: int, h.
        key_dim: int, d_k, size of one head's queries and keys.
        value_dim: int, d_v, size of one head's values; None = `key_dim`.
        dropout_rate: dropout on the attention weights. The paper has none (5.4).
        window: int r, restricts self-attention to |i - j| <= r (section 4, named as
            future work there); None = no restriction. Time and memory are O(L * r)
            unless the attention weights are asked for.
        chunk_length: int C, keys are taken C at a time, so that memory is O(L * C),
            forward and backward, for the same output; None = all at once. It leaves
            no weights to drop out, and has first derivatives only.
        use_bias: biases in the four projections. The paper writes none.

    Call arguments:
        query: float tensor of shape (B, Q, D).
        value: float tensor of shape (B, M, D); `query` again for self-attention.
        key: float tensor of shape (B, M, D); None = `value`.
        query_mask: boolean (B, Q). It is passed on as the mask of the output; rows
            of padding attend like others, as nothing reads them.
        value_mask: boolean (B, M), True where the memory is real.
        key_mask: boolean (B, M); combined with `value_mask`.
        attention_mask: boolean (B, Q, M) or broadcastable to (B, H, Q, M), True =
            may attend.
        use_causal_mask: bool, hide later positions (section 3.2.3).
        return_attention_weights: bool.
        training: bool, whether to apply dropout.

    Returns:
        Tensor of shape (B, Q, D), or the tuple of it and the attention weights
        before dropout, float32 (B, H, Q, M). A row with nothing to attend to gives
        zeros (or, with `use_bias=True`, the output bias).

    Raises:
        ValueError: a size, rate or mask that cannot work, or `chunk_length` together
            with `window` or `dropout_rate`.

    Masking: supported; fills `query_mask`, `value_mask` and `key_mask`.

    Example:

    >>> import numpy as np
    >>> layer = MultiHeadAttention(num_heads=2, key_dim=4)
    >>> x = np.ones((1, 3, 8), "float32")
    >>> output, weights = layer(x, x, return_attention_weights=True)
    >>> tuple(output.shape), tuple(weights.shape)
    ((1, 3, 8), (1, 2, 3, 3))

    Reference: section 3.2.2.
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout_rate=0.0,
        window=None,
        use_bias=False,
        chunk_length=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_heads = check_integer("num_heads", num_heads)
        self.key_dim = check_integer("key_dim", key_dim)
        self.value_dim = check_integer("value_dim", value_dim, optional=True) or key_dim
        self.dropout_rate = check_number("dropout_rate", dropout_rate, high=1.0)
        self.window = check_integer("window", window, optional=True)
        self.chunk_length = check_integer("chunk_length", chunk_length, optional=True)
        check_chunks(self.chunk_length, self.window, self.dropout_rate)
        self.use_bias = bool(use_bias)
        self.dropout = keras.layers.Dropout(
            dropout_rate, name="dropout", dtype=self.dtype_policy
        )

    def build(self, query_shape, value_shape, key_shape=None):
        """Creates the four projections."""
        key_width = self.num_heads * self.key_dim
        value_width = self.num_heads * self.value_dim
        model_dim = query_shape[-1]
        memory_dim = (key_shape or value_shape)[-1]
        self._add_projection("query", model_dim, key_width)
        self._add_projection("key", memory_dim, key_width)
        self._add_projection("value", value_shape[-1], value_width)
        self._add_projection("output", value_width, model_dim)
        self.built = True

    def _add_projection(self, name, input_dim, output_dim):
        kernel = self.add_weight(
            shape=(input_dim, output_dim),
            initializer="glorot_uniform",
            name=f"{name}_kernel",
        )
        bias = None
        if self.use_bias:
            bias = self.add_weight(
                shape=(output_dim,), initializer="zeros", name=f"{name}_bias"
            )
        setattr(self, f"{name}_kernel", kernel)
        setattr(self, f"{name}_bias", bias)

    def project_query(self, query):
        """Returns the queries of all heads: (B, Q, D) -> (B, H, Q, K)."""
        query = ops.linear(query, self.query_kernel, self.query_bias)
        return ops.split_heads(query, self.num_heads)

    def project_memory(self, value, key=None):
        """Returns keys (B, H, M, K) and values (B, H, M, Kv) of all heads.

        They depend on the memory alone, so that decoding computes them once.
        """
        key = ops.linear(value if key is None else key, self.key_kernel, self.key_bias)
        value = ops.linear(value, self.value_kernel, self.value_bias)
        heads = self.num_heads
        return ops.split_heads(key, heads), ops.split_heads(value, heads)

    def _project(self, query, key, value):
        # The same as the two methods above with fewer and larger products, where one
        # tensor is projected several times to one width.
        if key is not None or self.key_dim != self.value_dim:
            return (self.project_query(query), *self.project_memory(value, key))
        kernels = [self.query_kernel, self.key_kernel, self.value_kernel]
        biases = [self.query_bias, self.key_bias, self.value_bias]
        if query is value:
            return ops.project_heads(query, kernels, biases, self.num_heads)
        memory = ops.project_heads(value, kernels[1:], biases[1:], self.num_heads)
        return (self.project_query(query), *memory)

    def attend(self, query, key, value, mask=None, training=None):
        """Attends with projected heads; returns output (B, Q, D) and weights."""
        dropout = self._dropout(training)
        heads, weights = ops.scaled_dot_product_attention(
            query, key, value, mask, dropout
        )
        return self._merge(heads), weights

    def _attend_in_parts(self, query, key, value, mask, causal, training):
        """Attends without the whole matrix of weights; returns output (B, Q, D)."""
        if self.window is None:
            heads = ops.chunked_attention(
                query, key, value, self.chunk_length, mask, causal
            )
        else:
            heads = ops.windowed_attention(
                query, key, value, self.window, mask, causal, self._dropout(training)
            )
        return self._merge(heads)

    def _dropout(self, training):
        if not self.dropout_rate:
            return None
        return lambda weights: self.dropout(weights, training=training)

    def _merge(self, heads):
        merged = ops.merge_heads(heads)
        return ops.linear(merged, self.output_kernel, self.output_bias)

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_weights=False,
        training=None,
    ):
        """Attends from `query` to `value`."""
        query_length = keras.ops.shape(query)[1]
        memory_length = keras.ops.shape(value)[1]
        mask = ops.combine_masks(
            value_mask, key_mask, attention_mask, name="attention_mask"
        )
        query, key, value = self._project(query, key, value)
        restricted = self.window is not None or self.chunk_length is not None
        if restricted and not return_attention_weights:
            return self._attend_in_parts(
                query, key, value, mask, use_causal_mask, training
            )
        causal = window = None
        if use_causal_mask:
            causal = ops.causal_mask(query_length, memory_length)
        if self.window is not None:
            window = ops.window_mask(query_length, memory_length, self.window)
        mask = ops.combine_masks(mask, causal, window)
        output, weights = self.attend(query, key, value, mask, training)
        return (output, weights) if return_attention_weights else output

    def compute_mask(self, inputs, previous_mask=None):
        """Passes the queries' mask on; the weights carry none."""
        return previous_mask

    def get_config(self):
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "dropout_rate": self.dropout_rate,
            "window": self.window,
            "use_bias": self.use_bias,
            "chunk_length": self.chunk_length,
        }
