"""How good a model is while it trains: nll on the set, BLEU and chrF on its head."""

import contextlib

from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.corpus_bleu import corpus_bleu
from keras_attention.evaluation.corpus_chrf import corpus_chrf

SAMPLES = 10  # translations to read


class Validator:
    """Evaluates the model that is being trained.

    Args:
        model: a compiled `Transformer`; evaluated by its `metrics`, whose sums are
            put back afterwards, so a validation leaves no trace in the training.
        steps: the `Steps` of the model.
        batches: `TokenBatches` of the validation pairs.
        corpus: the same pairs as text.
        tokenizer: a `SubwordTokenizer`.
        decoding: a `DecodingConfig`; the search itself is greedy.
        sentences: how many of the first sentences are translated for BLEU and chrF;
            0 = none, and no samples.
    """

    def __init__(self, model, steps, batches, corpus, tokenizer, decoding, sentences):
        self._model = model
        self._steps = steps
        self._batches = batches
        self._samples = spread(len(corpus.sources), SAMPLES) if sentences else []
        rows = [*range(min(sentences, len(corpus.sources)))]
        self._scored = len(rows)
        self._rows = rows + [row for row in self._samples if row >= len(rows)]
        self._sources = [corpus.sources[row] for row in self._rows]
        self._references = [corpus.targets[row] for row in self._rows]
        greedy = decoding.replace(beam_size=1, num_hypotheses=1)
        self._translator = Translator(model, tokenizer, greedy)

    def losses(self, before_batch=lambda: None):
        """Returns loss, nll, perplexity and token_accuracy over all pairs.

        Args:
            before_batch: called before each batch; what it raises ends the validation.
        """
        with kept_metrics(self._model):
            for inputs, label_ids in self._batches.dataset(0, shuffle=False):
                before_batch()
                self._steps.test(inputs, label_ids)
            return metric_values(self._model)

    def bleu(self, before_batch=None):
        """Returns (values, samples) of the translations of the first sentences.

        Args:
            before_batch: called before each batch; what it raises ends the validation.

        Returns:
            values: "bleu" (mixed case, 13a) and "chrf" (chrF2), the "bleu_signature"
                and the number of "bleu_sentences" of both; empty when none are
                translated.
            samples: triples (source, reference, translation), the same ones each time,
                evenly spread over the whole set.
        """
        if not self._sources:
            return {}, []
        found = self._translator.translate(self._sources, before_batch=before_batch)
        translations = [translation.text for translation in found]
        pair = translations[: self._scored], self._references[: self._scored]
        result = corpus_bleu(*pair)
        values = {
            "bleu": float(result.score),
            "bleu_signature": str(result.signature),
            "bleu_sentences": self._scored,
            "chrf": float(corpus_chrf(*pair).score),
        }
        triples = zip(self._sources, self._references, translations, strict=True)
        found = dict(zip(self._rows, triples, strict=True))
        return values, [found[row] for row in self._samples]


def spread(count, wanted):
    """Returns up to `wanted` different numbers below `count`, evenly spread.

    Example:

    >>> spread(101, 5), spread(2, 5)
    ([0, 25, 50, 75, 100], [0, 1])
    """
    if count <= wanted:
        return list(range(count))
    return [row * (count - 1) // (wanted - 1) for row in range(wanted)]


def metric_values(model):
    """Returns the present values of `model.metrics` as numbers."""
    return {metric.name: float(metric.result()) for metric in model.metrics}


@contextlib.contextmanager
def kept_metrics(model):
    """Empties `model.metrics` while it is entered, then puts their sums back."""
    variables = [v for metric in model.metrics for v in metric.variables]
    before = [v.numpy() for v in variables]
    model.reset_metrics()
    try:
        yield
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value)
