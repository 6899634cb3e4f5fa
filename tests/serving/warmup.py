"""The requests that a version brings, run before it is available."""

import struct

from tensorflow_serving.apis import prediction_log_pb2

from tests.serving.failures import Failure

PLACE = "assets.extra/tf_serving_warmup_requests"
MOST = 1_000


def _table():
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        yield number


_CRC = tuple(_table())


def masked_crc(data):
    """The checksum of a TFRecord: CRC-32C, turned and moved."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """Yields the records of a TFRecord file."""
    content, at = path.read_bytes(), 0
    while at < len(content):
        head = content[at : at + 8]
        (length,) = struct.unpack("<Q", head.ljust(8, b"\0"))
        record = content[at + 12 : at + 12 + length]
        tail = content[at + 12 + length : at + 16 + length]
        sums = content[at + 8 : at + 12], tail
        if sums != tuple(struct.pack("<I", masked_crc(x)) for x in (head, record)):
            raise Failure("DATA_LOSS", f"corrupted record at {at}")
        yield record
        at += 16 + length


def replay(version, run):
    """Runs what the version brings; returns how many requests.

    Args:
        version: its folder.
        run: takes a PredictRequest.
    """
    path = version / PLACE
    count = 0
    for record in records(path) if path.exists() else ():
        count += 1
        if count > MOST:
            message = f"Number of warmup records exceeds the maximum ({MOST}) allowed"
            raise Failure("INVALID_ARGUMENT", message)
        log = prediction_log_pb2.PredictionLog.FromString(record)
        if log.WhichOneof("log_type") != "predict_log":
            raise Failure("UNIMPLEMENTED", "Unsupported log_type for warmup")
        run(log.predict_log.request)
    return count
