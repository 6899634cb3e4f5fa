"""Sentences that are not searched, beside others and alone, eagerly and in a graph."""

import pytest
import tensorflow as tf

from keras_attention.decoding.beam_search import beam_search

TABLE = tf.math.log([[0.0, 0.1, 0.0, 0.2, 0.7], [0.0, 0.1, 0.0, 0.8, 0.1]])


def search(limits):
    def step_fn(ids, step, state):  # 4 after START, then END
        return tf.gather(TABLE, tf.cast(ids == 4, tf.int32)), state

    return beam_search(
        step_fn, (), tf.shape(limits)[0], 5, limits, beam_size=2, num_hypotheses=2
    )


TRACED = tf.function(search, input_signature=[tf.TensorSpec([None], tf.int32)])


@pytest.mark.parametrize("run", [search, TRACED])
@pytest.mark.parametrize("limits", [[], [0], [0, 0], [0, 9, 0], [9, 0]])
def test_limit_zero_is_the_empty_hypothesis(run, limits):
    out = run(tf.constant(limits, tf.int32))
    alone = run(tf.constant([9], tf.int32))
    never = float("-inf")
    for row, limit in enumerate(limits):
        if limit:
            assert (
                out.lengths[row].numpy().tolist() == alone.lengths[0].numpy().tolist()
            )
            assert out.scores[row].numpy().tolist() == alone.scores[0].numpy().tolist()
        else:
            assert out.lengths[row].numpy().tolist() == [0, 0]
            assert out.scores[row].numpy().tolist() == [0.0, never]
            assert not out.ids[row].numpy().any()
    assert out.ids.shape[:2] == (len(limits), 2)
    assert bool(out.ids.shape[2]) == any(limits)
