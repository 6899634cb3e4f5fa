"""Weights of other implementations, brought into the symbols of `transformer.py`.

What differs, and is mapped here: `torch.nn.Linear` keeps [out, in], so every matrix is
transposed; all heads lie side by side in one matrix; torch.nn packs q, k, v in this
order; both systems have biases in the attention projections. The torch.nn stack is
post-LN without a final norm (the file was made with epsilon 1e-6, not torch's 1e-5).
JoeyNMT is pre-LN with a final norm and adds the interleaved sinusoid to what it is
given without scaling it.
"""

import numpy as np

NUM_HEADS = 4  # in both files


def _heads(matrix):
    """[h * d_k, d_model] -> (h, d_model, d_k), and a bias [h * d_k] -> (h, d_k)."""
    split = matrix.reshape(NUM_HEADS, -1, *matrix.shape[1:])
    return np.swapaxes(split, 1, 2) if matrix.ndim == 2 else split


def _norm(w, name):
    return {"g": w[f"{name}.weight"], "b": w[f"{name}.bias"]}


def _torch_attention(w, name):
    matrices = np.split(w[f"{name}.in_proj_weight"], 3)
    biases = np.split(w[f"{name}.in_proj_bias"], 3)
    result = {
        "W_O": w[f"{name}.out_proj.weight"].T,
        "b_O": w[f"{name}.out_proj.bias"],
    }
    for letter, matrix, bias in zip("QKV", matrices, biases, strict=True):
        result[f"W_{letter}"] = _heads(matrix)
        result[f"b_{letter}"] = _heads(bias)
    return result


def _feed_forward(w, first, second):
    return {
        "W_1": w[f"{first}.weight"].T,
        "b_1": w[f"{first}.bias"],
        "W_2": w[f"{second}.weight"].T,
        "b_2": w[f"{second}.bias"],
    }


def torch_blocks(file, stack, prefix=""):
    """Blocks of `torch.nn`; stack "enc" or "dec", prefix "grad_" for the gradients.

    The gradients have the layout of their weights, so the same map brings them over.
    """
    blocks = []
    for i in (0, 1):
        start = f"{prefix}{stack}/layers.{i}."
        w = {k.removeprefix(start): file[k] for k in file if k.startswith(start)}
        block = {
            "self": _torch_attention(w, "self_attn"),
            "ffn": _feed_forward(w, "linear1", "linear2"),
            "norm_self": _norm(w, "norm1"),
        }
        if stack == "dec":
            block["cross"] = _torch_attention(w, "multihead_attn")
            block["norm_cross"] = _norm(w, "norm2")
        block["norm_ffn"] = _norm(w, "norm3" if stack == "dec" else "norm2")
        blocks.append(block)
    return blocks


def _joey_attention(w, name):
    result = {
        "W_O": w[f"{name}.output_layer.weight"].T,
        "b_O": w[f"{name}.output_layer.bias"],
    }
    for letter in "QKV":
        layer = f"{name}.{letter.lower()}_layer"
        result[f"W_{letter}"] = _heads(w[f"{layer}.weight"])
        result[f"b_{letter}"] = _heads(w[f"{layer}.bias"])
    return result


def joey_blocks(file, stack):
    """The three JoeyNMT blocks of a file and its final norm."""
    blocks = []
    for i in range(3):
        start = f"w/layers.{i}."
        w = {k.removeprefix(start): file[k] for k in file if k.startswith(start)}
        block = {
            "ffn": _feed_forward(
                w, "feed_forward.pwff_layer.0", "feed_forward.pwff_layer.3"
            ),
            "norm_ffn": _norm(w, "feed_forward.layer_norm"),
        }
        if stack == "dec":
            block["self"] = _joey_attention(w, "trg_trg_att")
            block["norm_self"] = _norm(w, "x_layer_norm")
            block["cross"] = _joey_attention(w, "src_trg_att")
            block["norm_cross"] = _norm(w, "dec_layer_norm")
        else:
            block["self"] = _joey_attention(w, "src_src_att")
            block["norm_self"] = _norm(w, "layer_norm")
        blocks.append(block)
    return blocks, _norm(file, "w/layer_norm")
