"""An encoded corpus knows its ids, their framing and where they came from."""

import dataclasses

import numpy as np

from keras_attention.data import EncodedCorpus

CORPUS = EncodedCorpus(
    np.array([7, 8, 9], np.uint16),
    np.array([0, 2, 3]),
    np.array([5, 1, 6, 4], np.uint16),
    np.array([0, 1, 4]),
    {},
    np.array([3, 8], np.uint32),
)


def test_lengths_of_all_of_a_part_and_of_some():
    for rows, expected in (
        (None, [[2, 1], [1, 3]]),
        (slice(1, None), [[1], [3]]),
        (np.array([1, 0, 1], np.uint32), [[1, 2, 1], [3, 1, 3]]),
    ):
        assert [side.tolist() for side in CORPUS.lengths(rows)] == expected
    assert CORPUS.num_tokens == (3, 4)


def test_line_numbers_are_those_of_the_text():
    assert CORPUS.line_numbers(np.array([1, 0], np.uint32)).tolist() == [8, 3]
    whole = dataclasses.replace(CORPUS, numbers=None)
    assert whole.line_numbers([1, 0]).tolist() == [2, 1]


def test_the_fingerprint_sees_every_id_and_every_end():
    # What earlier versions wrote into config.json: their runs can go on.
    recorded = "6355af15e8cc6114c3070b574aa3b41dbcb02dad2545f64b59447b9e5e5e318e"
    assert CORPUS.sha256 == recorded
    found = {recorded}
    for field in (
        "source_tokens",
        "source_offsets",
        "target_tokens",
        "target_offsets",
    ):
        for index in range(len(getattr(CORPUS, field))):
            changed = getattr(CORPUS, field).copy()
            changed[index] += 1
            found.add(dataclasses.replace(CORPUS, **{field: changed}).sha256)
    assert len(found) == 1 + 3 + 3 + 4 + 3
