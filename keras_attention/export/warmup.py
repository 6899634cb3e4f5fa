"""The requests that a server replays before it says that a version is available.

The first request after loading is slow: the engine optimises each signature's graph
then. TensorFlow Serving replays `assets.extra/tf_serving_warmup_requests`, TFRecords of
its own `PredictionLog`, and does not serve a version of which one fails. The messages
are described here, so writing them takes no package of the server.
"""

import dataclasses
import pathlib
import random

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from tensorflow.core.framework.tensor_pb2 import TensorProto

from keras_attention.files import replacing
from keras_attention.vocabulary import SPECIAL_PIECES

WARMUP_FILE = pathlib.Path("assets.extra") / "tf_serving_warmup_requests"
TEXT_LENGTHS = (3, 15, 40)  # pieces: a few words, a sentence, a long one
FRAME = 16  # bytes of a TFRecord beside its content: a length and two checksums
INTERNAL = "__"  # how the keys of signatures begin that no request may name
# number, name, type (of descriptor.proto) or message, whether it is repeated; the
# fields that a prediction needs. A tensor is kept as bytes, which look the same.
_STRING, _BYTES, _MESSAGE = 9, 12, 11
_MESSAGES = {
    "ModelSpec": ((1, "name", _STRING, False), (3, "signature_name", _STRING, False)),
    "Input": ((1, "key", _STRING, False), (2, "value", _BYTES, False)),
    "PredictRequest": (
        (1, "model_spec", "ModelSpec", False),
        (2, "inputs", "Input", True),
    ),
    "PredictLog": ((1, "request", "PredictRequest", False),),
    "PredictionLog": ((6, "predict_log", "PredictLog", False),),
}


@dataclasses.dataclass(frozen=True)
class WarmupRequest:
    """One request of one signature.

    Attributes:
        signature: its key.
        inputs: {name: array with the batch first}; strings are bytes.
    """

    signature: str
    inputs: dict[str, np.ndarray]


def _prediction_log():
    """Makes the class of the records, in a pool that nothing else uses."""
    package = "keras_attention.warmup"
    file = descriptor_pb2.FileDescriptorProto(name="warmup.proto", package=package)
    file.syntax = "proto3"
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = 3 if repeated else 1
            field.type = _MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                field.type_name = f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{package}.PredictionLog")
    return message_factory.GetMessageClass(descriptor)


PredictionLog = _prediction_log()


def warmup_texts(tokenizer, lengths=TEXT_LENGTHS, seed=1):
    """Returns a text of about each length, made of pieces drawn at random.

    Args:
        tokenizer: `SubwordTokenizer`.
        lengths: pieces of each text.
        seed: the same seed gives the same texts.
    """
    draw, ids = random.Random(seed), range(len(SPECIAL_PIECES), len(tokenizer.pieces))
    drawn = [[draw.choice(ids) for _ in range(length)] for length in lengths]
    return [text.decode() for text in tokenizer.detokenize(drawn).numpy().tolist()]


def signature_inputs(meta_graph):
    """Returns {key: {input name: tf.DType}} of all that a request can name.

    Args:
        meta_graph: a `MetaGraphDef`, see `guard.load_meta_graph`.
    """
    return {
        key: {
            name: tf.as_dtype(signature.inputs[name].dtype)
            for name in sorted(signature.inputs)
        }
        for key, signature in sorted(meta_graph.signature_def.items())
        if not key.startswith(INTERNAL)
    }


def warmup_requests(signatures, translator, texts=None, max_beam_size=None):
    """Returns a request of each signature for each text.

    A string input gets the text, `ids` and `lengths` its pieces, and an input with
    the name of a field of `DecodingConfig` the translator's value of it.

    Args:
        signatures: as `signature_inputs` returns them.
        translator: a `Translator`.
        texts: list of str; None = `warmup_texts`.
        max_beam_size: the beam size of the last text, whose search is another graph;
            None = the translator's own as well.

    Raises:
        ValueError: an input is none of these.

    Example:

    >>> import keras_attention as ka
    >>> tokenizer = ka.SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    >>> config = ka.TransformerConfig(16, num_layers=1, model_dim=8, num_heads=2)
    >>> translator = ka.Translator(ka.build_transformer(config), tokenizer)
    >>> signatures = {"nbest": {"text": tf.string, "beam_size": tf.int32}}
    >>> [request] = warmup_requests(signatures, translator, ["to be"])
    >>> request.inputs["text"].tolist(), request.inputs["beam_size"].tolist()
    ([b'to be'], [4])
    """
    if texts is None:
        texts = warmup_texts(translator.tokenizer)
    requests = []
    for row, text in enumerate(texts, start=1):
        ids = translator.tokenizer.tokenize([text]).to_tensor().numpy()
        known = translator.decoding_config.to_dict()
        known |= {"ids": ids[0], "lengths": ids.shape[1]}
        if max_beam_size is not None and row == len(texts):
            known["beam_size"] = max_beam_size
        for key, inputs in signatures.items():
            arrays = {
                name: _array(key, name, dtype, text, known)
                for name, dtype in inputs.items()
            }
            requests.append(WarmupRequest(key, arrays))
    return requests


def _array(key, name, dtype, text, known):
    if dtype == tf.string:
        return np.array([text.encode()], object)
    if name not in known or known[name] is None:
        raise ValueError(
            f"Expected inputs that are text, `ids`, `lengths` or fields of "
            f"DecodingConfig. Received: {name!r} of the signature {key!r}. Give it "
            f"such a name, or pass requests of your own."
        )
    return np.array([known[name]], dtype.as_numpy_dtype)


def write_warmup(directory, requests, model_name):
    """Writes the warm-up requests of a version.

    Args:
        directory: the folder of the version.
        requests: list of `WarmupRequest`.
        model_name: name of the model in each of them; a server does not look at it.

    Returns:
        `pathlib.Path` of the file.
    """
    path = pathlib.Path(directory) / WARMUP_FILE
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as temporary, tf.io.TFRecordWriter(str(temporary)) as writer:
        for request in requests:
            log = PredictionLog()
            asked = log.predict_log.request
            asked.model_spec.name = model_name
            asked.model_spec.signature_name = request.signature
            for name, array in sorted(request.inputs.items()):
                tensor = tf.make_tensor_proto(array).SerializeToString()
                asked.inputs.add(key=name, value=tensor)
            writer.write(log.SerializeToString(deterministic=True))
    return path


def read_warmup(directory):
    """Returns the warm-up requests of a version as a list of `WarmupRequest`.

    Raises:
        ValueError: the file is missing or damaged, or holds other records.
    """
    path = pathlib.Path(directory) / WARMUP_FILE
    try:
        if not path.is_file():
            raise ValueError("there is no such file")
        records = list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())
        # A record that is cut off counts as the end of the file there.
        if sum(FRAME + len(record) for record in records) != path.stat().st_size:
            raise ValueError("its last record is cut off")
        return [_read_request(record) for record in records]
    except (ValueError, DecodeError, tf.errors.OpError) as error:
        raise ValueError(
            f"Expected warm-up requests that a server can replay. Received: "
            f"{str(path)!r}: {error}. Export the version again."
        ) from error


def _read_request(record):
    asked = PredictionLog.FromString(record).predict_log.request
    if not asked.model_spec.signature_name:
        raise ValueError("a record is no prediction of a named signature")
    inputs = {
        entry.key: tf.make_ndarray(TensorProto.FromString(entry.value))
        for entry in asked.inputs
    }
    return WarmupRequest(asked.model_spec.signature_name, inputs)
