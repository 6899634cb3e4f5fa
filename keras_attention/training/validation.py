"""How good a model is while it trains: nll on all of the set, BLEU on its head."""

import contextlib

from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.corpus_bleu import corpus_bleu


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
        sentences: how many of the first sentences are translated; 0 = none.
    """

    def __init__(self, model, steps, batches, corpus, tokenizer, decoding, sentences):
        self._model = model
        self._steps = steps
        self._batches = batches
        self._sources = list(corpus.sources[:sentences])
        self._references = list(corpus.targets[:sentences])
        greedy = decoding.replace(beam_size=1, num_hypotheses=1)
        self._translator = Translator(model, tokenizer, greedy)

    def losses(self):
        """Returns loss, nll, perplexity and token_accuracy over all pairs."""
        with kept_metrics(self._model):
            for inputs, label_ids in self._batches.dataset(0, shuffle=False):
                self._steps.test(inputs, label_ids)
            return metric_values(self._model)

    def bleu(self):
        """Returns (values, samples) of the translations of the first sentences.

        Returns:
            values: "bleu" (mixed case, 13a), its "bleu_signature" and the number of
                "bleu_sentences"; empty when none are translated.
            samples: a few triples (source, reference, translation).
        """
        if not self._sources:
            return {}, []
        translations = self._translator(self._sources)
        result = corpus_bleu(translations, self._references)
        values = {
            "bleu": float(result.score),
            "bleu_signature": str(result.signature),
            "bleu_sentences": len(translations),
        }
        rows = list(zip(self._sources, self._references, translations, strict=True))
        return values, rows[:5]


def metric_values(model):
    """Returns the present values of `model.metrics` as numbers."""
    return {metric.name: float(metric.result()) for metric in model.metrics}


@contextlib.contextmanager
def kept_metrics(model):
    """Empties `model.metrics` while it is entered, then puts their sums back."""
    variables = [v for metric in model.metrics for v in metric.variables]
    before = [v.numpy() for v in variables]
    model.reset_metrics()
    yield
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)
