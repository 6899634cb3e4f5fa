"""A long tokenization says how far it is."""

import re

from keras_attention.training.encoding_progress import EncodingProgress


def test_lines_come_every_few_seconds(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    said = []
    progress = EncodingProgress(4_000, said.append, seconds=10)
    for done in range(100, 4_100, 100):
        now[0] += 1
        progress(done, done - 7)
    assert len(said) == 4
    assert (
        said[0] == "tokenized 1000 of 4000 pairs, 993 kept; 100 pairs/s, 0:00:30 left"
    )
    left = [re.search(r"(\S+) left", line)[1] for line in said]
    assert left == ["0:00:30", "0:00:20", "0:00:10", "0:00:00"]
