"""Writes a translator as a model of CTranslate2, an engine for CPUs and GPUs."""

import pathlib

import keras
import numpy as np

from keras_attention import ops
from keras_attention.export.folders import (
    check_translator,
    flush_folder,
    unfinished_folder,
)
from keras_attention.files import flush_to_disk
from keras_attention.vocabulary import END, START, UNK

TOKENIZER = "tokenizer"
# What the converter can write with NumPy alone. An engine computes in any type that
# its processor has, whatever the file holds: `ctranslate2.Translator(compute_type=)`.
QUANTIZATIONS = ("float32", "float16", "int16", "int8", "int8_float32", "int8_float16")
ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH", "tanh": "Tanh"}


def export_ctranslate2(translator, directory, quantization="float32"):
    """Writes `directory`, a model that `ctranslate2.Translator` loads.

    Its tokens are the pieces of the tokenizer, which lies beside the model in
    `tokenizer/`. Pass the pieces of a source without END: the engine adds it, and
    starts targets with START by itself. `score_batch` gives the log-probabilities of
    `Translator.score`. `translate_batch` differs in five things:

    - this package never chooses PAD and START, which a trained model hardly does
      either: `suppress_sequences=[["[PAD]"], ["[START]"]]` forbids them, but takes
      their probability away too: scores were up to 1.2e-3 higher for it;
    - the engine divides by `length ** length_penalty`, this package by
      `((5 + length) / 6) ** alpha`: the two rank alike when both are 0;
    - its limit, `max_decoding_length`, is one for all sentences;
    - it forbids the empty translation unless `min_decoding_length=0`;
    - of the best extensions of a sentence it takes END among the first `beam_size`,
      this package among twice as many.

    On 500 sentences of Multi30k (val, alpha 0) all greedy translations were equal, and
    98.0 % of those of beam 4, scores within 2.3e-5; in the ten others the last rule
    made this package find the likelier one: with the engine's rule put into this
    package's search for a trial, all 500 were equal (`tests/unit/export/`
    `test_ctranslate2.py`, marker `campaign`). No setting of the engine changes that:
    `patience` of 1.5, 2 or 4 finds the same 98.0 %, and a wider beam searches further
    (89.6 % equal at 5, 83.6 % at 8).

    The table of positions is finite there: it has as many rows as the longest source
    and the longest translation of `translator.decoding_config` need, and the engine
    refuses more.

    The folder is finished under another name, then renamed: it is whole or absent,
    and what is there is never overwritten.

    Args:
        translator: a `Translator`.
        directory: the folder to write; it must not exist.
        quantization: how weights are stored: "float32", "float16", "int16", "int8",
            "int8_float32" or "int8_float16".

    Returns:
        `pathlib.Path` of the folder.

    Raises:
        ValueError: `translator` is no `Translator`, `directory` exists, the engine
            has no such model or quantization, or the package `ctranslate2` is not
            installed.

    Example:

    >>> import tempfile
    >>> import keras_attention as ka
    >>> tokenizer = ka.SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    >>> config = ka.TransformerConfig(16, num_layers=1, model_dim=8, num_heads=2)
    >>> translator = ka.Translator(ka.build_transformer(config), tokenizer)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = export_ctranslate2(translator, home + "/engine")
    ...     sorted(path.name for path in folder.iterdir())
    ['config.json', 'model.bin', 'shared_vocabulary.json', 'tokenizer']
    """
    directory = pathlib.Path(directory)
    _check(translator, directory, quantization)
    spec = _transformer_spec(translator)
    spec.validate()
    spec.optimize(quantization)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with unfinished_folder(directory.parent) as folder:
        spec.save(str(folder))
        translator.tokenizer.save(folder / TOKENIZER)
        flush_folder(folder)
        _publish(folder, directory)
    return directory


def _check(translator, directory, quantization):
    """Refuses what cannot be written, before anything is."""
    check_translator(translator)
    if quantization not in QUANTIZATIONS:
        raise ValueError(
            f"`quantization` must be one of {', '.join(QUANTIZATIONS)}. Received: "
            f"{quantization!r}. Other types are chosen when the engine loads the model."
        )
    config = translator.model.transformer_config
    key_dim, value_dim = config.head_dims()
    if key_dim != value_dim:
        raise ValueError(
            "CTranslate2 has one size for keys and values. Expected: key_dim equal to "
            f"value_dim. Received: key_dim={key_dim}, value_dim={value_dim}. Export a "
            "SavedModel instead."
        )
    if config.attention_window is not None:
        raise ValueError(
            "CTranslate2 has no self-attention of this window. Expected: "
            f"attention_window None. Received: {config.attention_window}. Export a "
            "SavedModel instead."
        )
    _refuse_existing(directory)


def _refuse_existing(directory):
    if directory.exists() or directory.is_symlink():
        raise ValueError(
            f"`directory` must not exist, as nothing is overwritten. Received: "
            f"{str(directory)!r}. Name another folder."
        )


def _publish(folder, directory):
    try:
        folder.rename(directory)
    except OSError:
        _refuse_existing(directory)  # another export was faster
        raise
    flush_to_disk(directory.parent)


def _specs():
    """Imports the package, which only this export needs."""
    try:
        from ctranslate2 import specs
    except ImportError as error:
        raise ValueError(
            "Exporting to CTranslate2 needs its package. Received: "
            f"{error}. Run `pip install 'keras-attention[ctranslate2]'`."
        ) from error
    return specs


def _transformer_spec(translator):
    """Returns the engine's description of the model, weights included."""
    specs, model = _specs(), translator.model
    config, pieces = model.transformer_config, translator.tokenizer.pieces
    sizes = {
        "num_layers": config.num_layers,
        "num_heads": config.num_heads,
        "head_dim": config.head_dims()[0],
        "pre_norm": config.norm_position == "pre",
        "activation": getattr(specs.Activation, ACTIVATIONS[config.activation]),
    }
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(**sizes), specs.TransformerDecoderSpec(**sizes)
    )
    spec.config.layer_norm_epsilon = config.layer_norm_epsilon
    spec.config.unk_token = UNK
    spec.config.bos_token = spec.config.decoder_start_token = START
    spec.config.eos_token = END
    spec.config.add_source_eos = True
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    names = ("token_embedding",) * 3
    if not config.share_embeddings:
        names = ("source_embedding", "target_embedding", "output_embedding")
    source, target, output = (_array(model.get_layer(x).embeddings) for x in names)
    spec.encoder.embeddings[0].weight = source
    spec.decoder.embeddings.weight = target
    spec.decoder.projection.weight = output
    if config.output_bias:
        bias = model.get_layer(names[2]).output_bias
        spec.decoder.projection.bias = _array(bias)
    for side, positions in (
        (spec.encoder, "source_positions"),
        (spec.decoder, "target_positions"),
    ):
        side.position_encodings.encodings = _positions(translator, positions)
    _set_stack(spec.encoder, model, "encoder")
    _set_stack(spec.decoder, model, "decoder")
    return spec


def _positions(translator, name):
    """Returns the vectors of all positions (P, D)."""
    config, decoding = translator.model.transformer_config, translator.decoding_config
    if config.positions == "learned":
        return _array(translator.model.get_layer(name).embeddings)
    # END stands behind the longest source; a target is START and all but its last.
    length = decoding.max_source_length + max(decoding.max_extra_length, 1)
    table = ops.sinusoids(length, config.model_dim, layout=config.position_layout)
    return keras.ops.convert_to_numpy(table)


def _set_stack(spec, model, side):
    """Fills in the blocks of one side, and the norm behind the last of pre-LN."""
    for number, layer in enumerate(spec.layer):
        block = model.get_layer(f"{side}_block_{number}")
        _set_attention(layer.self_attention, block.self_attention)
        _set_norm(layer.self_attention.layer_norm, block.self_attention_norm.norm)
        if side == "decoder":
            _set_attention(layer.attention, block.memory_attention)
            _set_norm(layer.attention.layer_norm, block.memory_attention_norm.norm)
        network = block.feed_forward
        _set_linear(layer.ffn.linear_0, [network.inner_kernel], [network.inner_bias])
        _set_linear(layer.ffn.linear_1, [network.output_kernel], [network.output_bias])
        _set_norm(layer.ffn.layer_norm, block.feed_forward_norm.norm)
    if model.transformer_config.norm_position == "pre":
        _set_norm(spec.layer_norm, model.get_layer(f"{side}_norm"))


def _set_attention(spec, attention):
    """Fuses the projections of one input: all three, or those of the memory."""
    kernels, biases = (
        [getattr(attention, f"{name}_{kind}") for name in ("query", "key", "value")]
        for kind in ("kernel", "bias")
    )
    first = 3 if len(spec.linear) == 2 else 1  # self-attention has one input
    _set_linear(spec.linear[0], kernels[:first], biases[:first])
    if first == 1:
        _set_linear(spec.linear[1], kernels[1:], biases[1:])
    output = attention.output_kernel
    _set_linear(spec.linear[-1], [output], [attention.output_bias])


def _set_linear(spec, kernels, biases):
    """Puts products of one input side by side, as rows (output, input)."""
    kernel = np.concatenate([_array(kernel) for kernel in kernels], axis=1)
    spec.weight = np.ascontiguousarray(kernel.T)
    if biases[0] is not None:
        spec.bias = np.concatenate([_array(bias) for bias in biases])


def _set_norm(spec, norm):
    spec.gamma, spec.beta = _array(norm.gamma), _array(norm.beta)


def _array(variable):
    return keras.ops.convert_to_numpy(variable).astype("float32")
