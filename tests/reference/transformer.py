"""The Transformer of the paper in NumPy float64, written to be read beside it.

Symbols are those of "Attention Is All You Need": Q, K, V, W_Q, W_K, W_V, W_O, h, N,
d_model. It shares no code with the package and is as slow as it is plain: the tests
compare the package with it. Head weights carry the head axis first, W_Q (h, d_model,
d_k), so that a loop over heads reads like section 3.2.2. Masks are boolean, True = may
attend. A weight set is a dictionary; a bias that is absent is not added.
"""

import math

import numpy as np

PAD = 0


def softmax_where(scores, mask):
    """Softmax over the last axis among the True entries; no True entry gives zeros."""
    kept = np.where(mask, scores, -np.inf)
    peak = kept.max(axis=-1, keepdims=True, initial=-np.inf)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    exponentials = np.exp(kept - peak)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


def attention(Q, K, V, mask=None):
    """Equation (1): softmax(Q K^T / sqrt(d_k)) V, and the weights."""
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is None:
        mask = np.ones_like(scores, dtype=bool)
    weights = softmax_where(scores, np.broadcast_to(mask, scores.shape))
    return weights @ V, weights


def multi_head_attention(queries, memory, weights, mask=None):
    """Section 3.2.2: Concat(head_1 ... head_h) W_O; also (B, h, Q, M) weights."""
    heads, maps = [], []
    for i in range(len(weights["W_Q"])):
        Q = queries @ weights["W_Q"][i] + weights.get("b_Q", {i: 0.0})[i]
        K = memory @ weights["W_K"][i] + weights.get("b_K", {i: 0.0})[i]
        V = memory @ weights["W_V"][i] + weights.get("b_V", {i: 0.0})[i]
        head, head_weights = attention(Q, K, V, mask)
        heads.append(head)
        maps.append(head_weights)
    joined = np.concatenate(heads, axis=-1)
    return joined @ weights["W_O"] + weights.get("b_O", 0.0), np.stack(maps, axis=1)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "silu": lambda x: x / (1.0 + np.exp(-x)),
    # Keras's default "gelu" is the exact one, x Phi(x).
    "gelu": lambda x: x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0))),
}


def feed_forward(x, weights, activation="relu"):
    """Equation (2): max(0, x W_1 + b_1) W_2 + b_2."""
    inner = ACTIVATIONS[activation](x @ weights["W_1"] + weights["b_1"])
    return inner @ weights["W_2"] + weights["b_2"]


def layer_norm(x, weights, epsilon):
    """Layer normalisation over the last axis, with the biased variance."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weights["g"] + weights["b"]


def sub_layer(x, function, norm, norm_position, epsilon):
    """Section 3.1: LayerNorm(x + Sublayer(x)); "pre": x + Sublayer(LayerNorm(x))."""
    if norm_position == "post":
        return layer_norm(x + function(x), norm, epsilon)
    return x + function(layer_norm(x, norm, epsilon))


def encoder_block(x, w, mask, norm_position="post", epsilon=1e-6, activation="relu"):
    """Self-attention, then the feed-forward network. mask: (B, 1, S) or None."""
    x = sub_layer(
        x,
        lambda y: multi_head_attention(y, y, w["self"], mask)[0],
        w["norm_self"],
        norm_position,
        epsilon,
    )
    return sub_layer(
        x,
        lambda y: feed_forward(y, w["ffn"], activation),
        w["norm_ffn"],
        norm_position,
        epsilon,
    )


def decoder_block(
    x,
    memory,
    w,
    self_mask,
    memory_mask,
    norm_position="post",
    epsilon=1e-6,
    activation="relu",
):
    """Masked self-attention, attention over the memory, feed-forward network."""
    x = sub_layer(
        x,
        lambda y: multi_head_attention(y, y, w["self"], self_mask)[0],
        w["norm_self"],
        norm_position,
        epsilon,
    )
    x = sub_layer(
        x,
        lambda y: multi_head_attention(y, memory, w["cross"], memory_mask)[0],
        w["norm_cross"],
        norm_position,
        epsilon,
    )
    return sub_layer(
        x,
        lambda y: feed_forward(y, w["ffn"], activation),
        w["norm_ffn"],
        norm_position,
        epsilon,
    )


def sinusoid(positions, d_model, layout="interleaved"):
    """Section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos.

    "concatenated" is the other formula, `tensor2tensor_sinusoid`.
    """
    if layout == "concatenated":
        return tensor2tensor_sinusoid(positions, d_model)
    table = np.zeros((len(positions), d_model))
    for row, position in enumerate(positions):
        for column in range(d_model):
            angle = position / 10000.0 ** (2 * (column // 2) / d_model)
            table[row, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def tensor2tensor_sinusoid(positions, d_model):
    """The formula of tensor2tensor: exponent i / (d/2 - 1), sines before cosines.

    The last column of an odd width is 0.
    """
    half = d_model // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / max(half - 1, 1)))
    odd = np.zeros((len(positions), d_model % 2))
    return np.concatenate([np.sin(angles), np.cos(angles), odd], axis=1)


def causal_mask(length):
    """Position i may see the positions up to i: (1, T, T)."""
    return np.tril(np.ones((length, length), dtype=bool))[None]


class Transformer:
    """The whole model. `weights` has the keys source_embedding, target_embedding,
    output (each (V, d_model)), encoder and decoder (lists of N blocks), and, where the
    options ask for them, source_positions, target_positions, encoder_norm,
    decoder_norm and output_bias. `hyper` has norm_position, epsilon, activation and
    layout.
    """

    def __init__(self, weights, norm_position="post", epsilon=1e-6, **hyper):
        self.w = weights
        self.norm_position = norm_position
        self.epsilon = epsilon
        self.activation = hyper.get("activation", "relu")
        self.layout = hyper.get("layout", "interleaved")

    def _options(self):
        return self.norm_position, self.epsilon, self.activation

    def _embed(self, ids, embedding, table):
        d_model = embedding.shape[1]
        length = ids.shape[1]
        if table is None:
            table = sinusoid(range(length), d_model, self.layout)
        return embedding[ids] * math.sqrt(d_model) + table[:length]

    def encode(self, source_ids):
        """Returns the memory z, (B, S, d_model)."""
        x = self._embed(
            source_ids, self.w["source_embedding"], self.w.get("source_positions")
        )
        mask = (source_ids != PAD)[:, None, :]
        for block in self.w["encoder"]:
            x = encoder_block(x, block, mask, *self._options())
        if self.norm_position == "pre":
            x = layer_norm(x, self.w["encoder_norm"], self.epsilon)
        return x

    def __call__(self, source_ids, target_ids):
        """Returns the logits, (B, T, V)."""
        memory = self.encode(source_ids)
        x = self._embed(
            target_ids, self.w["target_embedding"], self.w.get("target_positions")
        )
        self_mask = causal_mask(target_ids.shape[1]) & (target_ids != PAD)[:, None, :]
        memory_mask = (source_ids != PAD)[:, None, :]
        for block in self.w["decoder"]:
            x = decoder_block(
                x, memory, block, self_mask, memory_mask, *self._options()
            )
        if self.norm_position == "pre":
            x = layer_norm(x, self.w["decoder_norm"], self.epsilon)
        return x @ self.w["output"].T + self.w.get("output_bias", 0.0)


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def smoothed_targets(labels, size, eps):
    """Section 5.4: 1 - eps on the label, eps / (V - 1) on every other class."""
    one_hot = np.eye(size)[labels]
    return one_hot * (1.0 - eps) + (1.0 - one_hot) * eps / (size - 1)


def token_losses(logits, labels, eps):
    """Cross-entropy with the smoothed targets, (B, T); 0 where the label is PAD."""
    q = smoothed_targets(labels, logits.shape[-1], eps)
    losses = -(q * log_softmax(np.asarray(logits, np.float64))).sum(axis=-1)
    return np.where(labels != PAD, losses, 0.0)


def loss(logits, labels, eps):
    """Sum over the real tokens divided by their number."""
    return token_losses(logits, labels, eps).sum() / max(1, (labels != PAD).sum())


def noam_rate(step, d_model, warmup_steps, scale=1.0):
    """Equation (3) for step = 1, 2, ..."""
    return scale * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


class Adam:
    """Adam as in its own paper, algorithm 1, with the values of section 5.3."""

    def __init__(self, rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9):
        self.rate = rate  # a function of the step, which counts from 1
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.step, self.m, self.v = 0, {}, {}

    def update(self, parameters, gradients):
        """Returns the new parameters; both arguments are dictionaries of arrays."""
        self.step += 1
        result = {}
        for name, value in parameters.items():
            g = gradients[name]
            m = self.beta_1 * self.m.get(name, 0.0) + (1 - self.beta_1) * g
            v = self.beta_2 * self.v.get(name, 0.0) + (1 - self.beta_2) * g * g
            self.m[name], self.v[name] = m, v
            m_hat = m / (1 - self.beta_1**self.step)
            v_hat = v / (1 - self.beta_2**self.step)
            change = self.rate(self.step) * m_hat / (np.sqrt(v_hat) + self.epsilon)
            result[name] = value - change
        return result


def numerical_gradient(function, x, step=1e-6):
    """Gradient of a scalar function at the array x, by central differences."""
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + step
        above = function(x)
        x[index] = kept - step
        below = function(x)
        x[index] = kept
        gradient[index] = (above - below) / (2 * step)
    return gradient
