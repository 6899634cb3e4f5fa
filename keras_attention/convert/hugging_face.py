"""Marian models of Hugging Face as translators of this package."""

import pathlib

from keras_attention.config import DecodingConfig, TransformerConfig
from keras_attention.convert.marian_tokenizer import MarianTokenizer
from keras_attention.convert.marian_vocabulary import END, PADDING
from keras_attention.convert.marian_weights import build_marian
from keras_attention.convert.tensor_files import read_tensors
from keras_attention.decoding.model_files import least_weights
from keras_attention.decoding.translator import Translator
from keras_attention.files import parse_object

LAYER_NORM_EPSILON = 1e-5  # PyTorch's default, which Marian models keep
ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
# What a `Transformer` has one of, where Marian models have two.
EQUAL = (
    ("encoder_layers", "decoder_layers"),
    ("encoder_attention_heads", "decoder_attention_heads"),
    ("encoder_ffn_dim", "decoder_ffn_dim"),
)
# The types of what is read where there is such a field.
KINDS = {
    **dict.fromkeys(("d_model", "vocab_size", "max_position_embeddings"), int),
    **dict.fromkeys(sum(EQUAL, ()), int),
    **dict.fromkeys(("dropout", "attention_dropout"), float),
    **dict.fromkeys(("tie_word_embeddings", "scale_embedding"), bool),
    "activation_function": str,
}
# Options of other architectures that old configurations spell out; none = unchanged.
REQUIRED = {
    "model_type": "marian",
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
    "share_encoder_decoder_embeddings": True,
}


def load_marian(folder, decoding_config=None, dtype_policy=None):
    """Reads a Marian model that Hugging Face's `save_pretrained` wrote.

    Its logits are those of `transformers.MarianMTModel`: with biases, without the
    paper's order of channels in the sinusoids (see `build_marian`), and with a bias
    for each logit. Ids are those of this package. Searching is this package's: its
    length penalty is another one, so scores of a beam search differ.

    Args:
        folder: with `config.json`, `model.safetensors` or `pytorch_model.bin` (for
            which torch must be installed), `source.spm`, `target.spm` and
            `vocab.json`. Use only what people you trust have made.
        decoding_config: `DecodingConfig`; None = the paper's, and sources cut where
            the table of positions of the original ends.
        dtype_policy: Keras dtype policy or its name; None = the global policy.

    Returns:
        `Translator`.

    Raises:
        ValueError: a file is missing or damaged, or the model is of a kind that
            cannot be converted: stacks of two depths, two vocabularies, an unknown
            activation and others; the message says which.

    Example:

    >>> load_marian("missing")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
      ...
    ValueError: A folder to convert must hold a readable config.json. ...

    Reference: Junczys-Dowmunt et al. 2018, "Marian: Fast Neural Machine Translation
        in C++"; it departs from the paper in what the first paragraph names.
    """
    folder = pathlib.Path(folder)
    values = _read_config(folder / "config.json")
    tokenizer = MarianTokenizer.load(folder)
    vocabulary = tokenizer.vocabulary
    _check_config(values)
    _check_ids(values, vocabulary)
    config = _transformer_config(values, len(vocabulary.pieces))
    tensors = read_tensors(folder)
    _check_enough(config, tensors)
    model = build_marian(
        config,
        tensors,
        vocabulary.rows,
        tied=values.get("tie_word_embeddings", True),
        scaled=values.get("scale_embedding", False),
        dtype_policy=dtype_policy,
    )
    if decoding_config is None:
        most = values.get("max_position_embeddings", 1024) - 1  # END takes one
        decoding_config = DecodingConfig(max_source_length=most)
    return Translator(model, tokenizer, decoding_config)


def _read_config(path):
    try:
        values = parse_object(path.read_bytes(), finite=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            "A folder to convert must hold a readable config.json. Received: "
            f"{path}: {error}. Pass the folder that `save_pretrained` wrote."
        ) from error
    missing = {"d_model", "vocab_size", *sum(EQUAL, ())} - set(values)
    if missing:
        raise ValueError(
            f"{path} must hold {', '.join(sorted(missing))}. Received: a configuration "
            "without. Save the model with `save_pretrained`."
        )
    for name in KINDS.keys() & values.keys():
        if not _is_of(values[name], KINDS[name]):
            raise ValueError(
                f"{path} must hold a value of type {KINDS[name].__name__} as {name}. "
                f"Received: {str(values[name])[:80]!r}. Copy the file anew."
            )
    return values


def _is_of(value, kind):
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _check_enough(config, tensors):
    # Before a model is made: a damaged size would take all memory.
    found, least = sum(array.size for array in tensors.values()), least_weights(config)
    if found < least:
        raise ValueError(
            "The weights and config.json must be of one Marian model. Expected: at "
            f"least {least} numbers. Received: {found}. Copy both from one model."
        )


def _check_config(values):
    """Refuses what would give a model of other logits."""
    for name, expected in REQUIRED.items():
        if values.get(name, expected) != expected:
            raise ValueError(
                f"Only Marian models with {name}={expected!r} can be converted. "
                f"Received: {name}={values[name]!r}. Choose another model."
            )
    for first, second in EQUAL:
        if values[first] != values[second]:
            raise ValueError(
                f"A Transformer has one size for both stacks. Expected: {first} equal "
                f"to {second}. Received: {values[first]} and {values[second]}. Choose "
                "another model."
            )
    if values.get("activation_function", "gelu") not in ACTIVATIONS:
        raise ValueError(
            f"`activation_function` must be one of {', '.join(ACTIVATIONS)}. Received: "
            f"{values['activation_function']!r}. Choose another model."
        )


def _check_ids(values, vocabulary):
    """Refuses a configuration whose special ids are not those of the vocabulary."""
    padding, size = vocabulary.ids[PADDING], len(vocabulary.ids)
    expected = {
        "vocab_size": size,
        "decoder_vocab_size": size,
        "pad_token_id": padding,
        "decoder_start_token_id": padding,
        "eos_token_id": vocabulary.ids[END],
    }
    for name, value in expected.items():
        received = values.get(name)
        if received is not None and received != value:
            raise ValueError(
                f"config.json and vocab.json must belong together. Expected: {name}="
                f"{value}, as targets start with {PADDING}. Received: {received}. "
                "Copy both from one model."
            )


def _transformer_config(values, vocabulary_size):
    return TransformerConfig(
        vocabulary_size,
        num_layers=values["encoder_layers"],
        model_dim=values["d_model"],
        num_heads=values["encoder_attention_heads"],
        feed_forward_dim=values["encoder_ffn_dim"],
        dropout_rate=float(values.get("dropout", 0.1)),
        attention_dropout_rate=float(values.get("attention_dropout", 0.0)),
        activation=ACTIVATIONS[values.get("activation_function", "gelu")],
        layer_norm_epsilon=LAYER_NORM_EPSILON,
        use_bias=True,
    )
