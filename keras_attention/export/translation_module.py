"""The graph that a server runs: text in, translation, score and a flag out."""

import tensorflow as tf

SIGNATURE = "serving_default"


class TranslationModule(tf.Module):
    """What TensorFlow stores of a translator: functions, variables, a tokenizer.

    A Keras model that TensorFlow tracks is saved with a copy of every variable: the
    checkpoint restores the copies and the functions read the originals, which
    Python's loader mends and a server's does not. So the model stays out of sight,
    inside the function, and the variables tracked here are the very ones that the
    traced function captured.

    No row can fail its neighbours: nothing in the graph asserts about a row, and
    what is odd about one is said in its own outputs. Empty text, or nothing but
    spaces, is not searched and gives "" with score 0.

    Args:
        translator: a `Translator`.

    Attributes:
        signatures: {"serving_default": text (B,) string -> translation (B,) string,
            score (B,) float32, truncated (B,) bool}.
    """

    def __init__(self, translator):
        super().__init__(name="translation")
        translate = tf.function(
            lambda text: _translate(translator, text),
            input_signature=[tf.TensorSpec([None], tf.string, name="text")],
            autograph=False,
            jit_compile=False,  # stock TensorFlow Serving switches XLA off
        ).get_concrete_function()
        # Dropout seeds and whatever else a translation does not read stay behind.
        self.weights = sorted(translate.graph.variables, key=lambda x: x.name)
        self.tokenizer = translator.tokenizer
        self.translate = translate

    @property
    def signatures(self):
        """The concrete functions to save, by the name a request asks for."""
        return {SIGNATURE: self.translate}


def _translate(translator, text):
    """Returns the outputs of the signature for text (B,), B = 0 included."""
    # A server does not check ranks: (B, 1) and a lone string are taken as well.
    text = tf.reshape(text, [-1])
    source_ids, truncated = translator.encode(text)
    config = translator.decoding_config.replace(num_hypotheses=1)
    found = translator.search(source_ids, config)
    return {
        "translation": translator.tokenizer.detokenize(found.ids[:, 0]),
        "score": found.scores[:, 0],
        "truncated": truncated,
    }
