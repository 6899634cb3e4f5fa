"""What is told of a hypothesis beside its text: computed once it has been found."""

import dataclasses

import tensorflow as tf

from keras_attention.vocabulary import UNK_ID

UNKNOWN = "\u2047"  # what a tokenizer writes for [UNK]; no text holds it, by NFKC


def add_details(found, source_ids, texts, config, translator):
    """Returns the hypotheses with what the configuration asks for.

    The targets are forced through the model once more, all positions at once; caches
    and steps give the same numbers.

    Args:
        found: a tuple of `Hypothesis` for each text.
        source_ids: ragged int32 (B, None), pieces and END.
        texts: list of bytes, the sources.
        config: `DecodingConfig`.
        translator: the `Translator`.

    Raises:
        ValueError: `attention_layer` is no block of the model.
    """
    places = [
        (row, slot)
        for row, hypotheses in enumerate(found)
        for slot, each in enumerate(hypotheses)
        if each.ids
        and (
            config.return_attention_weights
            or config.return_token_log_probs
            or (config.replace_unknown and UNK_ID in each.ids)
        )
    ]
    if config.return_attention_weights or config.replace_unknown:
        _check_layer(config, translator.model.transformer_config.num_layers)
    if not places:
        return found
    sources = tf.gather(source_ids, [row for row, _ in places])
    labels = tf.ragged.constant(
        [list(found[row][slot].ids) for row, slot in places], tf.int32, ragged_rank=1
    )
    forced, budget = translator._forced, config.batch_tokens
    details = [{} for _ in places]
    if config.return_token_log_probs:
        for detail, values in zip(
            details, forced.log_probs(sources, labels, budget), strict=True
        ):
            detail["token_log_probs"] = tuple(values.tolist())
    if config.return_attention_weights or config.replace_unknown:
        weights = forced.attention_weights(
            sources, labels, budget, config.attention_layer
        )
        for detail, values in zip(details, weights, strict=True):
            detail["attention_weights"] = values
    result = [list(hypotheses) for hypotheses in found]
    for (row, slot), detail in zip(places, details, strict=True):
        each = result[row][slot]
        if config.replace_unknown and UNK_ID in each.ids:
            words = words_of(translator.tokenizer, texts[row])
            detail["text"] = replace_unknown(each, detail["attention_weights"], words)
        if not config.return_attention_weights:
            detail.pop("attention_weights", None)
        result[row][slot] = dataclasses.replace(each, **detail)
    return [tuple(hypotheses) for hypotheses in result]


def _check_layer(config, blocks):
    if not -blocks <= config.attention_layer < blocks:
        raise ValueError(
            f"`attention_layer` must be one of the model's {blocks} decoder blocks, "
            f"from {-blocks} to {blocks - 1}. Received: {config.attention_layer}."
        )


def words_of(tokenizer, text):
    """Returns the word of the source that each of its pieces belongs to.

    Args:
        tokenizer: `SubwordTokenizer`.
        text: bytes.

    Returns:
        List of str, as long as the pieces of the text; words are what spaces part.
    """
    words = text.decode("utf-8", errors="replace").split()
    counts = tokenizer.tokenize(words).row_lengths().numpy() if words else []
    return [word for word, n in zip(words, counts, strict=True) for _ in range(n)]


def replace_unknown(hypothesis, weights, words):
    """Returns the text with a word of the source for each unknown piece.

    Args:
        hypothesis: `Hypothesis` whose text has U+2047 for each.
        weights: float32 (T, S), what its pieces attend to.
        words: of the source, one for each of its pieces.
    """
    unknown = [place for place, piece in enumerate(hypothesis.ids) if piece == UNK_ID]
    parts = hypothesis.text.split(UNKNOWN)
    if len(parts) != len(unknown) + 1 or not words:
        return hypothesis.text
    text = parts[0]
    for place, part in zip(unknown, parts[1:], strict=True):
        text += words[int(weights[place, : len(words)].argmax())] + part
    return text
