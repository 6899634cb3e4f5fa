"""The warm-up requests: what they ask, and that a server can read them."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.export import warmup

SIGNATURES = {
    "nbest": {
        "beam_size": tf.int32,
        "length_penalty_alpha": tf.float32,
        "max_extra_length": tf.int32,
        "num_hypotheses": tf.int32,
        "text": tf.string,
    },
    "score": {"source": tf.string, "target": tf.string},
    "translate_ids": {"ids": tf.int32, "lengths": tf.int32},
}
TEXTS = ["be", "to be or", "that is the question"]


@pytest.fixture(scope="module")
def requests(translator):
    return warmup.warmup_requests(SIGNATURES, translator, TEXTS)


def test_every_signature_is_asked_with_every_text(requests):
    assert [request.signature for request in requests] == list(SIGNATURES) * 3
    for request, text in zip(requests, np.repeat(TEXTS, 3), strict=True):
        inputs = request.inputs
        assert list(inputs) == list(SIGNATURES[request.signature])
        assert {len(array) for array in inputs.values()} == {1}
        for name in {"text", "source", "target"} & set(inputs):
            assert inputs[name].tolist() == [text.encode()]


def test_numbers_are_the_translator_s(requests, translator):
    config = translator.decoding_config
    inputs = requests[0].inputs
    for name in set(inputs) - {"text"}:
        assert inputs[name].tolist() == [np.float32(getattr(config, name))]
    assert inputs["beam_size"].dtype == np.int32
    assert inputs["length_penalty_alpha"].dtype == np.float32


def test_pieces_are_the_text_s(requests, translator):
    for request, text in zip(requests[2::3], TEXTS, strict=True):
        ids = translator.tokenizer.tokenize([text]).to_list()
        assert request.inputs["ids"].tolist() == ids
        assert request.inputs["lengths"].tolist() == [len(ids[0])]


def test_made_up_texts_have_the_lengths_and_are_the_same_again(translator):
    texts = warmup.warmup_texts(translator.tokenizer)
    assert texts == warmup.warmup_texts(translator.tokenizer)
    assert texts != warmup.warmup_texts(translator.tokenizer, seed=2)
    pieces = translator.tokenizer.tokenize(texts).row_lengths().numpy()
    # What is drawn may come back as fewer and longer pieces.
    assert 0 < pieces[0] <= 3 < pieces[1] <= 15 < pieces[2] <= 40


def test_an_unknown_input_is_refused(translator):
    signatures = {"odd": {"temperament": tf.float32}}
    with pytest.raises(ValueError, match="Received: 'temperament' of the signature 'o"):
        warmup.warmup_requests(signatures, translator, ["a"])
    signatures = {"odd": {"max_length": tf.int32}}  # None in the configuration
    with pytest.raises(ValueError, match="Received: 'max_length' of the signature"):
        warmup.warmup_requests(signatures, translator, ["a"])


def test_signatures_are_read_without_the_internal_ones(tmp_path):
    from keras_attention.export.guard import load_meta_graph

    module = tf.Module()
    run = tf.function(lambda text, size: {"y": tf.strings.join([text, text])})
    concrete = run.get_concrete_function(
        text=tf.TensorSpec([None], tf.string), size=tf.TensorSpec([None], tf.int64)
    )
    tf.saved_model.save(module, str(tmp_path), signatures={"twice": concrete})
    meta_graph = load_meta_graph(tmp_path)
    assert "__saved_model_init_op" in meta_graph.signature_def
    expected = {"twice": {"size": tf.int64, "text": tf.string}}
    assert warmup.signature_inputs(meta_graph) == expected


def same(found, expected):
    assert [x.signature for x in found] == [x.signature for x in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.inputs.keys() == other.inputs.keys()
        for name, array in one.inputs.items():
            assert array.dtype == other.inputs[name].dtype
            assert array.tolist() == other.inputs[name].tolist()


def test_what_is_written_is_read_back(requests, tmp_path):
    path = warmup.write_warmup(tmp_path, requests, "model")
    assert path == tmp_path / "assets.extra" / "tf_serving_warmup_requests"
    same(warmup.read_warmup(tmp_path), requests)


def test_the_server_s_own_messages_read_them(requests, tmp_path):
    prediction_log_pb2 = pytest.importorskip(
        "tensorflow_serving.apis.prediction_log_pb2",
        reason="tensorflow-serving-api is not installed",
    )
    path = warmup.write_warmup(tmp_path, requests, "model")
    records = list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())
    assert len(records) == len(requests)
    for record, request in zip(records, requests, strict=True):
        log = prediction_log_pb2.PredictionLog.FromString(record)
        assert log.WhichOneof("log_type") == "predict_log"
        asked = log.predict_log.request
        assert asked.model_spec.name == "model"
        assert asked.model_spec.signature_name == request.signature
        found = {name: tf.make_ndarray(x) for name, x in asked.inputs.items()}
        same([warmup.WarmupRequest(request.signature, found)], [request])
        assert not log.predict_log.HasField("response")
        # And what the server's messages write, ours read; a map has no order.
        ours, before = warmup.PredictionLog(), warmup.PredictionLog.FromString(record)
        ours.ParseFromString(log.SerializeToString())
        assert ours.predict_log.request.model_spec == (
            before.predict_log.request.model_spec
        )
        assert sorted(map(str, ours.predict_log.request.inputs)) == (
            sorted(map(str, before.predict_log.request.inputs))
        )


def test_damaged_files_are_refused(requests, tmp_path):
    with pytest.raises(ValueError, match="that a server can replay. Rec.*no such file"):
        warmup.read_warmup(tmp_path)
    path = warmup.write_warmup(tmp_path, requests, "model")
    content = path.read_bytes()
    flipped = content[:40] + bytes([content[40] ^ 1]) + content[41:]
    for damaged in (content[:-3], content[:-40], flipped, b"no records"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="requests that a server can replay"):
            warmup.read_warmup(tmp_path)


@pytest.mark.parametrize("record", [b"", b"\xff\xff", b"\x32\x00"])
def test_other_records_are_refused(tmp_path, record):
    path = tmp_path / warmup.WARMUP_FILE
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(record)
    with pytest.raises(ValueError, match="requests that a server can replay"):
        warmup.read_warmup(tmp_path)
