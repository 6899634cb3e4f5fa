"""The graph that a server runs: many signatures over one search and its weights."""

import tensorflow as tf

from keras_attention.decoding.ensemble import Ensemble
from keras_attention.export import signatures

MAX_BEAM_SIZE = 16  # of a request to `nbest`
STRINGS = tf.TensorSpec([None], tf.string)
INTEGERS = tf.TensorSpec([None], tf.int32)
NUMBERS = tf.TensorSpec([None], tf.float32)


class TranslationModule(tf.Module):
    """What TensorFlow stores of a translator: functions, variables, a tokenizer.

    A Keras model that TensorFlow tracks is saved with a copy of every variable: the
    checkpoint restores the copies and the functions read the originals, which
    Python's loader mends and a server's does not. So the model stays out of sight,
    inside the functions, and the variables tracked here are the very ones that the
    traced functions captured.

    Args:
        translator: a `Translator`.
        max_beam_size: of a request to `nbest`; no less than the translator's own.

    The README of `saved_models/` has the inputs and outputs of all signatures. An
    ensemble has no `explain` and no `encode`.

    Raises:
        ValueError: the translator samples, or `max_beam_size` is below its beam.
    """

    def __init__(self, translator, max_beam_size=MAX_BEAM_SIZE):
        super().__init__(name="translation")
        config = translator.decoding_config.replace(num_hypotheses=1)
        widths = _widths(config, max_beam_size)
        search = tf.function(
            lambda ids: translator.search(ids, config),
            input_signature=[tf.TensorSpec([None, None], tf.int32)],
            **_OPTIONS,
        )
        self._functions = _trace(translator, search, widths)
        # Dropout seeds and whatever else a translation does not read stay behind.
        found = {
            id(variable): variable
            for function in self._functions.values()
            for variable in function.graph.variables
        }
        self.weights = sorted(found.values(), key=lambda x: x.name)
        self.tokenizer = translator.tokenizer

    @property
    def signatures(self):
        """The concrete functions to save, by the name that a request asks for."""
        return dict(self._functions)


# Stock TensorFlow Serving switches XLA off.
_OPTIONS = {"autograph": False, "jit_compile": False}


def _trace(translator, search, widths):
    """Returns the concrete function of every signature."""
    functions = {
        "serving_default": (
            signatures.translate,
            [translator, search],
            {"text": STRINGS},
        ),
        "nbest": (
            signatures.nbest,
            [translator, widths],
            {
                "text": STRINGS,
                "beam_size": INTEGERS,
                "length_penalty_alpha": NUMBERS,
                "max_extra_length": INTEGERS,
                "num_hypotheses": INTEGERS,
            },
        ),
        "score": (
            signatures.score,
            [translator],
            {"source": STRINGS, "target": STRINGS},
        ),
        "explain": (signatures.explain, [translator, search], {"text": STRINGS}),
        "translate_ids": (
            signatures.translate_ids,
            [translator, search],
            {"ids": tf.TensorSpec([None, None], tf.int32), "lengths": INTEGERS},
        ),
        "encode": (signatures.encode, [translator], {"text": STRINGS}),
    }
    if isinstance(translator.model, Ensemble):
        del functions["explain"], functions["encode"]
    return {
        name: _concrete(function, given, inputs)
        for name, (function, given, inputs) in functions.items()
    }


def _concrete(function, given, inputs):
    """Traces a signature whose inputs have these names."""
    specs = {name: tf.TensorSpec(x.shape, x.dtype, name) for name, x in inputs.items()}

    def named(**tensors):
        # A server compares no ranks with the signature.
        checked = {
            name: tf.ensure_shape(x, specs[name].shape) for name, x in tensors.items()
        }
        return function(*given, **checked)

    return tf.function(named, **_OPTIONS).get_concrete_function(**specs)


def _widths(config, max_beam_size):
    """Returns the beam sizes that `nbest` is traced for, in ascending order."""
    if config.sampling:
        raise ValueError(
            "An export searches, so that equal requests get equal answers. Received: "
            "a translator with sampling=True. Pass one without."
        )
    if max_beam_size < config.beam_size:
        raise ValueError(
            "`max_beam_size` must be at least the `beam_size` of the translator. "
            f"Received: max_beam_size={max_beam_size}, beam_size={config.beam_size}."
        )
    return sorted({config.beam_size, max_beam_size})
