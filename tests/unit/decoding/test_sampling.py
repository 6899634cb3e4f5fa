"""Sampling: the right probabilities, reproducible for each sentence."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding.beam_steps import length_penalty
from keras_attention.decoding.sampling import draw, sample
from keras_attention.vocabulary import END_ID, PAD_ID, START_ID
from tests.unit.decoding.test_beam_search import language, random_tables, table_step

SHARES = np.array([0.0, 0.1, 0.0, 0.2, 0.3, 0.4], "float32")
DRAWS = 40_000


def frequencies(**options):
    values = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, **options}
    rows = tf.math.log(np.tile(SHARES[None], (DRAWS, 1)))
    chances = tf.random.stateless_uniform((DRAWS,), (1, 2))
    ids = draw(rows, chances, **values)
    return np.bincount(ids, minlength=6) / DRAWS


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, SHARES),
        ({"temperature": 0.5}, SHARES**2),
        ({"temperature": 2.0}, SHARES**0.5),
        ({"top_k": 2}, [0, 0, 0, 0, 0.3, 0.4]),
        ({"top_k": 6}, SHARES),
        ({"top_p": 0.41}, [0, 0, 0, 0, 0.3, 0.4]),
        ({"top_p": 0.39}, [0, 0, 0, 0, 0, 1]),
        ({"top_k": 3, "top_p": 0.5}, [0, 0, 0, 0, 0.3, 0.4]),
        ({"top_p": 0.71}, [0, 0, 0, 0.2, 0.3, 0.4]),
    ],
)
def test_ids_are_drawn_with_their_probabilities(options, kept):
    expected = np.array(kept) / np.sum(kept)
    np.testing.assert_allclose(frequencies(**options), expected, atol=0.01)


def test_a_chance_of_nearly_one_is_no_other_id():
    logits = tf.math.log(tf.constant([[0.25, 0.0, 0.75, 0.0]]))
    for chance in (0.0, 0.2499, 0.2501, np.float32(1.0 - 2.0**-24)):
        (found,) = draw(logits, tf.constant([chance]), 1.0, 0, 1.0).numpy()
        assert found == (0 if chance < 0.25 else 2)


def sample_tables(tables, limits, keys, count=3, **options):
    batch, _, size = tables.shape
    return sample(
        table_step(),
        {"prefix": tf.zeros((batch * count, 0), tf.int32)},
        batch_size=batch,
        vocabulary_size=size,
        max_lengths=limits,
        keys=keys,
        num_hypotheses=count,
        context={"tables": tf.constant(tables)},
        **options,
    )


def check_scores(output, tables, alpha=0.6):
    """Every hypothesis has the log-probability that the language gives it."""
    for row, table in enumerate(tables):
        scores = output.scores.numpy()[row]
        assert np.all(np.diff(scores) <= 0)
        for ids, length, score in zip(
            output.ids.numpy()[row], output.lengths.numpy()[row], scores, strict=True
        ):
            prefix, total = (START_ID,), 0.0
            for each in ids[:length]:
                logits = np.array(language(table)(prefix))
                total += logits[each] - np.logaddexp.reduce(logits)
                prefix += (int(each),)
            log_prob = float(score * length_penalty(length, alpha))
            assert log_prob == pytest.approx(total, abs=1e-4)
            assert np.all(ids[length:] == PAD_ID)
            assert END_ID not in ids[: max(length - 1, 0)]
            assert not {PAD_ID, START_ID} & set(ids[:length].tolist())


def test_a_sentence_gets_its_draws_whatever_the_batch():
    tables = random_tables(3, batch=4, extra=4)
    limits, keys = np.array([5, 0, 9, 7]), np.array([11, 12, 13, 14])
    together = sample_tables(tables, limits, keys)
    check_scores(together, tables)
    order = [2, 3, 0]
    turned = sample_tables(tables[order], limits[order], keys[order])
    for place, row in enumerate(order):
        length = together.lengths[row].numpy().max()
        np.testing.assert_array_equal(
            turned.ids[place, :, :length], together.ids[row, :, :length]
        )
        np.testing.assert_allclose(turned.scores[place], together.scores[row], 1e-5)
    assert together.lengths[1].numpy().tolist() == [0, 0, 0]


def test_seed_and_key_decide():
    tables = np.repeat(random_tables(1, batch=1, extra=6, sharpness=0.1), 2, axis=0)
    limits = [12, 12]
    one = sample_tables(tables, limits, [1, 2], seed=5)
    assert not np.array_equal(one.ids[0], one.ids[1])
    again = sample_tables(tables, limits, [1, 1], seed=5)
    np.testing.assert_array_equal(again.ids[0], again.ids[1])
    np.testing.assert_array_equal(again.scores[0], one.scores[0])
    other = sample_tables(tables, limits, [1, 1], seed=6)
    assert not np.array_equal(one.ids[0], other.ids[0])


def test_constraints_hold_for_samples():
    tables = random_tables(2, batch=3, extra=3, sharpness=0.3)
    tables = np.where(np.isinf(tables), 0.0, tables).astype("float32")
    prefixes = [[4, 5], [6, 0], [0, 0]]
    output = sample_tables(
        tables,
        [8] * 3,
        [1, 2, 3],
        count=4,
        prefix_ids=prefixes,
        suppress_ids=(1, END_ID),
        no_repeat_ngram_size=2,
    )
    ids, lengths = output.ids.numpy(), output.lengths.numpy()
    assert np.any(lengths == 8)  # some run out of bigrams before
    for row in ids.reshape(12, -1):
        said = row[row != PAD_ID].tolist()
        pairs = list(zip(said, said[1:], strict=False))
        assert len(set(pairs)) == len(pairs)
    assert np.all(ids[0, :, :2] == [4, 5]) and np.all(ids[1, :, 0] == 6)
    assert not np.isin(ids, (1, END_ID)).any()
    check_scores(output, tables)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "`temperature` must be a finite number above 0"),
        ({"top_k": 9}, "`top_k` must be an integer from 0 to 8"),
        ({"top_k": 1.5}, "`top_k` must be an integer"),
        ({"top_p": 0.0}, "`top_p` must be above 0 and at most 1"),
        ({"top_p": 1.5}, "`top_p` must be above 0 and at most 1"),
    ],
)
def test_what_leaves_nothing_to_draw_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sample_tables(random_tables(0, 1, 4), [3], [0], **options)
