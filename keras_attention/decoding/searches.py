"""The searches of a translator, each a graph that is traced once."""

import concurrent.futures
import dataclasses
import functools
import os

import numpy as np
import tensorflow as tf

from keras_attention.decoding.beam_search import beam_search
from keras_attention.decoding.beam_steps import BeamSearchOutput
from keras_attention.decoding.sampling import sample
from keras_attention.vocabulary import PAD_ID

NO_LIMIT = 2**30
LEAST_ROWS = 4  # sentences that are worth a thread
# With XLA every shape is compiled, so lengths and rows are rounded up to these.
COMPILED_LENGTH, COMPILED_ROWS = 16, 8
# What a graph takes as tensors; all other fields of a configuration make another one.
_FED = ("length_penalty_alpha", "max_extra_length", "max_length", "sampling_seed")
_OUTSIDE = (
    "return_attention_weights",
    "attention_layer",
    "return_token_log_probs",
    "replace_unknown",
    "max_source_length",
    "batch_tokens",
)


class Searches:
    """Searches translations of encoded sources with a model.

    Args:
        model: a `Transformer`, or an `Ensemble`.
        vocabulary_size: V.
    """

    def __init__(self, model, vocabulary_size):
        self._model = model
        self._vocabulary_size = vocabulary_size
        self._graphs = {}  # what a graph depends on -> tf.function

    def __call__(self, source_ids, config, prefix_ids=None):
        """Returns the `BeamSearchOutput` of a batch, of NumPy arrays.

        On CPUs the sentences are dealt out to threads: the operations of a step are
        small, and two searches of half a batch use two cores where one does not.

        Args:
            source_ids: (B, S) int32, pieces and END, then PAD.
            config: `DecodingConfig`.
            prefix_ids: (B, P) int32, then PAD, or None.
        """
        rows = source_ids.shape[0]
        if prefix_ids is None:
            prefix_ids = tf.zeros((rows, 0), tf.int32)
        if config.jit_compile_search:
            source_ids, prefix_ids = _round_up(source_ids), _round_up(prefix_ids)
        graph = self._graph(config, source_ids.shape[1], prefix_ids.shape[1])
        fed = self.fed(config)
        parts = 1 if config.jit_compile_search else _parts(rows)
        if parts == 1:
            output = graph(source_ids, prefix_ids, *fed)
            return BeamSearchOutput(*(x.numpy()[:rows] for x in output))
        # Every so manieth sentence: those of a batch stand in order of their lengths.
        dealt = list(
            self._threads.map(
                lambda part: graph(
                    source_ids[part::parts], prefix_ids[part::parts], *fed
                ),
                range(parts),
            )
        )
        return _merge(dealt, rows)

    @functools.cached_property
    def _threads(self):
        return concurrent.futures.ThreadPoolExecutor(_cpus(), "search")

    @staticmethod
    def fed(config):
        """Returns the tensors that a graph is fed from a configuration."""
        limit = NO_LIMIT if config.max_length is None else config.max_length
        return (
            tf.constant(config.length_penalty_alpha, tf.float32),
            tf.constant(config.max_extra_length, tf.int32),
            tf.constant(limit, tf.int32),
            tf.constant(config.sampling_seed, tf.int32),
        )

    def _graph(self, config, source_length, prefix_length):
        names = [field.name for field in dataclasses.fields(config)]
        key = tuple(getattr(config, n) for n in names if n not in (*_FED, *_OUTSIDE))
        fixed_length, shape = None, [None, None]
        prefix_shape = [None, None if prefix_length else 0]
        if config.jit_compile_search:
            longest = max(source_length, prefix_length) + config.max_extra_length
            fixed_length = min(longest, config.max_length or longest)
        key = (*key, fixed_length, bool(prefix_length))
        if key not in self._graphs:
            scalars = [
                tf.TensorSpec([], tf.float32),
                *[tf.TensorSpec([], tf.int32)] * 3,
            ]
            self._graphs[key] = tf.function(
                lambda ids, prefixes, *fed: self.search(
                    ids, config, prefixes, *fed, fixed_length=fixed_length
                ),
                input_signature=[
                    tf.TensorSpec(shape, tf.int32),
                    tf.TensorSpec(prefix_shape, tf.int32),
                    *scalars,
                ],
                autograph=False,
                jit_compile=config.jit_compile_search,
            )
        return self._graphs[key]

    def search(
        self,
        source_ids,
        config,
        prefix_ids=None,
        alpha=None,
        extra=None,
        longest=None,
        seed=None,
        fixed_length=None,
        sentence_sizes=None,
    ):
        """Searches inside a graph.

        Args:
            source_ids: (B, S) int32, pieces and END, then PAD. A row without pieces
                is not searched: length 0, score 0.
            config: `DecodingConfig`, for what is not fed.
            prefix_ids: (B, P) int32, then PAD; P = 0, or None, for none.
            alpha, extra, longest, seed: in place of the configuration's
                `length_penalty_alpha`, `max_extra_length`, `max_length` and
                `sampling_seed`; scalars, all but the last perhaps (B,).
            fixed_length: int, for XLA; see `beam_search`.
            sentence_sizes: see `beam_search`.
        """
        given = zip((alpha, extra, longest, seed), self.fed(config), strict=True)
        alpha, extra, longest, seed = (y if x is None else x for x, y in given)
        if prefix_ids is None:
            prefix_ids = tf.zeros((tf.shape(source_ids)[0], 0), tf.int32)
        limits = self._limits(source_ids, prefix_ids, extra, longest)
        beams = config.num_hypotheses if config.sampling else config.beam_size
        model, rows = self._model, tf.shape(source_ids)[0]
        room = {} if fixed_length is None else {"capacity": fixed_length}
        context = model.decoding_context(source_ids, beams, **room)
        covered = source_ids != PAD_ID if config.coverage_penalty else None
        state = model.initial_state(rows * beams, source_mask=covered, **room)
        step_fn = functools.partial(
            model.decode_step,
            weights=model.decoding_weights(),
            fixed_shapes=fixed_length is not None,
        )
        common = {
            "batch_size": rows,
            "vocabulary_size": self._vocabulary_size,
            "max_lengths": limits,
            "length_penalty_alpha": alpha,
            "num_hypotheses": config.num_hypotheses,
            "context": context,
            "prefix_ids": prefix_ids,
            "suppress_ids": config.suppress_ids,
            "no_repeat_ngram_size": config.no_repeat_ngram_size,
        }
        if config.sampling:
            nucleus = {n: getattr(config, n) for n in ("temperature", "top_k", "top_p")}
            keys = hash_rows(source_ids)
            return sample(step_fn, state, keys=keys, seed=seed, **nucleus, **common)
        bonus_fn = None
        if config.coverage_penalty:
            bonus_fn = functools.partial(coverage, beta=config.coverage_penalty)
        return beam_search(
            step_fn,
            state,
            beam_size=beams,
            bonus_fn=bonus_fn,
            fixed_length=fixed_length,
            sentence_sizes=sentence_sizes,
            **common,
        )

    def _limits(self, source_ids, prefix_ids, extra, longest):
        pieces = _count(source_ids) - 1  # (B,), END left out
        known = tf.maximum(pieces, _count(prefix_ids))
        limits = tf.where(pieces > 0, tf.minimum(known + extra, longest), 0)
        if self._model.max_decoding_length is not None:
            limits = tf.minimum(limits, self._model.max_decoding_length)
        return limits


def _cpus():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _parts(rows):
    """Returns how many threads share a batch."""
    if tf.config.list_logical_devices("GPU"):
        return 1
    return max(1, min(_cpus(), rows // LEAST_ROWS))


def _merge(outputs, rows):
    """Puts what `_parts` threads found into the order of the batch."""
    parts = [BeamSearchOutput(*(x.numpy() for x in output)) for output in outputs]
    longest = max(part.ids.shape[2] for part in parts)
    slots = parts[0].ids.shape[1]
    merged = BeamSearchOutput(
        ids=np.full((rows, slots, longest), PAD_ID, np.int32),
        lengths=np.zeros((rows, slots), np.int32),
        scores=np.zeros((rows, slots), np.float32),
    )
    for number, part in enumerate(parts):
        merged.ids[number :: len(parts), :, : part.ids.shape[2]] = part.ids
        merged.lengths[number :: len(parts)] = part.lengths
        merged.scores[number :: len(parts)] = part.scores
    return merged


def coverage(state, beta):
    """Returns beta * sum_i log(min(coverage_i, 1)) of every hypothesis, (R,).

    Reference: Wu et al. 2016, equation (14).
    """
    parts = state if isinstance(state, list) else [state]  # of an ensemble's models
    covered = tf.add_n([part["coverage"] for part in parts]) / len(parts)
    covered = tf.clip_by_value(covered, 1e-9, 1.0)
    return beta * tf.reduce_sum(tf.math.log(covered), axis=-1)


def hash_rows(ids):
    """Returns an int32 for each row of ids (B, S), the same whatever PAD is behind.

    Example:

    >>> hash_rows([[5, 3, 0]]).numpy() == hash_rows([[5, 3]]).numpy()
    array([ True])
    """
    ids = tf.convert_to_tensor(ids)
    words = tf.where(ids == PAD_ID, "", tf.strings.as_string(ids) + " ")
    texts = tf.strings.reduce_join(words, axis=1)
    return tf.cast(tf.strings.to_hash_bucket_fast(texts, 2**31 - 1), tf.int32)


def _count(ids):
    return tf.reduce_sum(tf.cast(tf.not_equal(ids, PAD_ID), tf.int32), axis=1)


def _round_up(ids):
    rows, length = ids.shape
    more = [[0, -rows % COMPILED_ROWS], [0, -length % COMPILED_LENGTH]]
    return tf.pad(ids, more, constant_values=PAD_ID)
