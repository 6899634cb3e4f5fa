"""Several models of one vocabulary that decide together (not in the paper)."""

import tensorflow as tf

AVERAGES = ("log_probabilities", "probabilities")


class Ensemble:
    """Takes the place of a `Transformer` in a `Translator`.

    The next piece has the mean of the models' probabilities, or, by default, of their
    log-probabilities, made probabilities again: what all models find possible.

    Args:
        models: list of `Transformer`, with one vocabulary.
        average: "log_probabilities" or "probabilities".

    Raises:
        ValueError: no model, models of different vocabulary sizes, or an average that
            is neither.

    Example:

    >>> from keras_attention.config import TransformerConfig
    >>> from keras_attention.models.build import build_transformer
    >>> config = TransformerConfig.from_preset("tiny", vocabulary_size=20, num_layers=1)
    >>> ensemble = Ensemble([build_transformer(config) for _ in range(2)])
    >>> ids = tf.constant([[5, 6, 3]])
    >>> ensemble({"source_ids": ids, "target_ids": ids}).shape.as_list()
    [1, 3, 20]
    """

    def __init__(self, models, average="log_probabilities"):
        models = list(models)
        sizes = [model.transformer_config.vocabulary_size for model in models]
        if len(set(sizes)) != 1:
            raise ValueError(
                "An ensemble needs one model or more, all of one vocabulary. Received: "
                f"vocabularies of {sizes} pieces. Pass models trained with the same "
                "tokenizer."
            )
        if average not in AVERAGES:
            raise ValueError(
                f"`average` must be one of {AVERAGES}. Received: {average!r}."
            )
        self.models = models
        self.average = average

    @property
    def transformer_config(self):
        """The configuration of the first model."""
        return self.models[0].transformer_config

    @property
    def max_decoding_length(self):
        """Positions of the shortest learned table, or None."""
        lengths = [model.max_decoding_length for model in self.models]
        return min((x for x in lengths if x is not None), default=None)

    def __call__(self, inputs, training=False):
        """Returns the joint log-probabilities as logits, float32 (B, T, V)."""
        return self._mean([model(inputs, training=training) for model in self.models])

    def decoding_weights(self):
        """Returns those of each model."""
        return [model.decoding_weights() for model in self.models]

    def decoding_context(self, source_ids, beam_size=1, **options):
        """Returns those of each model."""
        return [
            model.decoding_context(source_ids, beam_size, **options)
            for model in self.models
        ]

    def initial_state(self, rows, **options):
        """Returns those of each model."""
        return [model.initial_state(rows, **options) for model in self.models]

    def decode_step(self, ids, step, state, context, weights=None, fixed_shapes=False):
        """Lets each model decode one position; see `Transformer.decode_step`."""
        weights = weights or self.decoding_weights()
        steps = [
            model.decode_step(ids, step, *parts, fixed_shapes)
            for model, *parts in zip(self.models, state, context, weights, strict=True)
        ]
        logits, states, contexts = zip(*steps, strict=True)
        return self._mean(logits), list(states), list(contexts)

    def attention_weights(self, source_ids, target_ids):
        """Returns the mean over the models, all with as many blocks and heads."""
        found = [
            model.attention_weights(source_ids, target_ids) for model in self.models
        ]
        shapes = {len(each["encoder_decoder"]) for each in found}
        shapes |= {tuple(each["encoder_decoder"][0].shape[1:2]) for each in found}
        if len(shapes) != 2:
            raise ValueError(
                "Attention of an ensemble is the mean over models of one shape. "
                f"Received: models of {self._shapes()}. Ask a single model."
            )
        return {
            kind: [
                tf.add_n(blocks) / len(found)
                for blocks in zip(*(each[kind] for each in found), strict=True)
            ]
            for kind in found[0]
        }

    def _shapes(self):
        configs = [model.transformer_config for model in self.models]
        return ", ".join(
            f"{c.num_layers} blocks x {c.num_heads} heads" for c in configs
        )

    def _mean(self, logits):
        if len(logits) == 1:
            return logits[0]
        log_probs = tf.stack([tf.nn.log_softmax(each) for each in logits])
        if self.average == "probabilities":
            return tf.reduce_logsumexp(log_probs, axis=0)  # all but a constant
        return tf.reduce_mean(log_probs, axis=0)
