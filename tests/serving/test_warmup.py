"""Reading a TFRecord by hand gives what TensorFlow wrote, and finds damage."""

import pytest
import tensorflow as tf

pytest.importorskip("tensorflow_serving", reason="the extra `client` is missing")

from tests.serving.failures import Failure  # noqa: E402
from tests.serving.warmup import records  # noqa: E402


def test_records(tmp_path):
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in (b"one", b"", b"x" * 1_000):
            writer.write(record)
    assert list(records(path)) == [b"one", b"", b"x" * 1_000]
    content = path.read_bytes()
    for place in (0, 9, 13, len(content) - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(Failure, match="corrupted record"):
            list(records(path))
    path.write_bytes(content[:-1])
    with pytest.raises(Failure, match="corrupted record"):
        list(records(path))
