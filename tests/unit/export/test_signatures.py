"""What the signatures say: the translator's own numbers, row by row."""

import math

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.export import signatures
from keras_attention.vocabulary import END_ID, PAD_ID

TEXTS = ["to be", "", "that is", "or not to be that is the question", "  ", "be", "not"]
ODD = [b"\xff\xfe", b"\x00", b"[END] [PAD]", b"\xed\xa0\x80", b"to be"]
LOWEST = np.finfo(np.float32).min
KINDS = {
    "beam_size": tf.int32,
    "max_extra_length": tf.int32,
    "num_hypotheses": tf.int32,
    "length_penalty_alpha": tf.float32,
    "ids": tf.int32,
    "lengths": tf.int32,
}
# (beam size, alpha, extra length, hypotheses) of each of `TEXTS`.
ASKED = [
    (1, 0.6, 2, 1),
    (3, 0.6, 2, 2),
    (2, 0.0, 0, 2),
    (5, 1.0, 4, 3),
    (2, 0.6, 2, 2),
    (3, 0.6, 7, 2),
    (5, 2.0, 3, 3),
]


def call(module, signature, **inputs):
    tensors = {
        name: tf.constant(values, KINDS.get(name, tf.string))
        for name, values in inputs.items()
    }
    outputs = module.signatures[signature](**tensors)
    return {name: value.numpy() for name, value in outputs.items()}


def nbest(module, texts, asked):
    columns = list(zip(*asked, strict=True)) if asked else [[]] * 4
    names = ("beam_size", "length_penalty_alpha", "max_extra_length", "num_hypotheses")
    return call(module, "nbest", text=texts, **dict(zip(names, columns, strict=True)))


def rows_of(outputs, row):
    return {name: value[row] for name, value in outputs.items()}


def test_each_row_of_nbest_is_searched_as_it_asks(module, translator):
    found = nbest(module, TEXTS, ASKED)
    count = max(asked[-1] for asked in ASKED)
    assert found["translations"].shape == (len(TEXTS), count)
    for row, (text, asked) in enumerate(zip(TEXTS, ASKED, strict=True)):
        beam_size, alpha, extra, hypotheses = asked
        [expected] = translator.translate(
            [text],
            beam_size=beam_size,
            length_penalty_alpha=alpha,
            max_extra_length=extra,
            num_hypotheses=hypotheses,
        )
        best = expected.hypotheses
        own, empty = rows_of(found, row), count - len(best)
        texts = [x.text.encode() for x in best]
        assert own["translations"].tolist() == texts + [b""] * empty
        assert own["lengths"].tolist() == [x.length for x in best] + [0] * empty
        scores = [x.score for x in best] + [LOWEST] * empty
        np.testing.assert_allclose(own["scores"], scores, rtol=1e-5, atol=1e-5)
        assert own["truncated"] == expected.truncated
        assert not own["adjusted"]


def test_rows_of_nbest_do_not_see_each_other(module):
    together = nbest(module, TEXTS, ASKED)
    for row, (text, asked) in enumerate(zip(TEXTS, ASKED, strict=True)):
        alone, slots = nbest(module, [text], [asked]), asked[-1]
        assert alone["translations"].shape == (1, slots)
        same = rows_of(together, row)
        assert (
            alone["translations"][0].tolist() == same["translations"][:slots].tolist()
        )
        np.testing.assert_allclose(
            alone["scores"][0], same["scores"][:slots], atol=1e-5
        )


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ((0, 0.6, 2, 1), (1, 0.6, 2, 1)),
        ((-7, 0.6, 2, 2), (1, 0.6, 2, 1)),
        ((99, 0.6, 2, 2), (5, 0.6, 2, 2)),
        ((2, 0.6, 2, 9), (2, 0.6, 2, 2)),
        ((2, 0.6, 2, 0), (2, 0.6, 2, 1)),
        ((2, -1.0, 2, 2), (2, 0.0, 2, 2)),
        ((2, math.inf, 2, 2), (2, 10.0, 2, 2)),
        ((2, math.nan, 2, 2), (2, 0.6, 2, 2)),
        ((2, 0.6, -5, 2), (2, 0.6, 0, 2)),
    ],
)
def test_values_out_of_range_are_moved_and_flagged(module, asked, used):
    found = nbest(module, ["that is", "to be"], [asked, (2, 0.6, 2, 2)])
    assert found["adjusted"].tolist() == [True, False]
    expected = nbest(module, ["that is"], [used])
    slots = used[-1]
    moved = found["translations"][0, :slots]
    assert moved.tolist() == expected["translations"][0].tolist()
    np.testing.assert_allclose(found["scores"][0, :slots], expected["scores"][0], 1e-5)


def test_a_huge_limit_is_bounded(module):
    found = nbest(module, ["to be"], [(2, 0.6, 2**31 - 1, 1)])
    assert found["adjusted"].tolist() == [True]
    assert found["lengths"].max() <= 2 + signatures.MOST_EXTRA


@pytest.mark.parametrize("wrong", ["beam_size", "length_penalty_alpha", "text"])
def test_a_single_value_is_not_broadcast(module, wrong):
    inputs = {
        "text": ["to be", "be"],
        "beam_size": [2, 2],
        "length_penalty_alpha": [0.6, 0.6],
        "max_extra_length": [2, 2],
        "num_hypotheses": [1, 1],
    }
    inputs[wrong] = inputs[wrong][:1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shapes of all inputs"):
        call(module, "nbest", **inputs)


def test_columns_of_other_signatures_are_not_broadcast(module):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shapes of all inputs"):
        call(module, "score", source=["to be", "be"], target=["be"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shapes of all inputs"):
        call(module, "translate_ids", ids=[[5, 6], [7, 8]], lengths=[2])


def test_score_is_that_of_the_translator(module, translator, monkeypatch):
    targets = ["be", "to be or", "", "is the question", "not", "to be " * 9, "be"]
    found = call(module, "score", source=TEXTS, target=targets)
    most = translator.most_pieces()
    pieces = [len(x) for x in translator.tokenizer.tokenize(targets).to_list()]
    assert found["tokens"].tolist() == [min(n, most) + 1 for n in pieces]
    assert found["truncated"].tolist() == [
        cut or n > most
        for cut, n in zip(
            [x.truncated for x in translator.translate(TEXTS)], pieces, strict=True
        )
    ]
    fits = [row for row, n in enumerate(pieces) if n <= most]
    expected = translator.score(
        [TEXTS[row] for row in fits], [targets[row] for row in fits]
    )
    np.testing.assert_allclose(found["log_probability"][fits], expected, rtol=1e-5)


def test_score_of_a_part_of_the_rows_at_a_time_is_the_same(translator, monkeypatch):
    sources, targets = tf.constant(TEXTS), tf.constant(TEXTS[::-1])
    whole = signatures.score(translator, sources, targets)
    monkeypatch.setattr(signatures, "MOST_LOGITS", 2 * 24 * 7)
    parts = signatures.score(translator, sources, targets)
    np.testing.assert_allclose(
        whole["log_probability"], parts["log_probability"], rtol=1e-5
    )


def test_explain_says_what_the_translator_says(module, translator):
    found = call(module, "explain", text=TEXTS)
    expected = translator.translate(
        TEXTS,
        num_hypotheses=1,
        return_attention_weights=True,
        return_token_log_probs=True,
    )
    pieces = translator.tokenizer.pieces
    source_ids = translator.encode(TEXTS)[0].numpy()
    for row, each in enumerate(expected):
        own, [best] = rows_of(found, row), each.hypotheses
        assert own["translation"].decode() == best.text
        assert own["score"] == pytest.approx(best.score, abs=1e-5)
        assert own["truncated"] == each.truncated
        source = [pieces[piece].encode() for piece in source_ids[row] if piece]
        assert own["lengths"] == len(source)
        assert own["pieces"].tolist() == _padded(source, own["pieces"], b"")
        length = best.length
        assert own["output_lengths"] == length
        output = [pieces[piece].encode() for piece in best.ids]
        assert own["output_pieces"].tolist() == _padded(
            output, own["output_pieces"], b""
        )
        log_probs = own["token_log_probabilities"]
        np.testing.assert_allclose(
            log_probs[:length], best.token_log_probs or [], rtol=1e-5
        )
        assert not log_probs[length:].any()
        alignment = own["alignment"]
        if length:
            written = alignment[:length, : len(source)]
            np.testing.assert_allclose(written, best.attention_weights, atol=1e-6)
            np.testing.assert_allclose(written.sum(axis=1), 1.0, atol=1e-5)
        assert not alignment[length:].any()
        assert not alignment[:, len(source) :].any()


def _padded(values, column, empty):
    return values + [empty] * (len(column) - len(values))


def test_ids_are_translated_as_their_text(module, translator):
    pieces = translator.tokenizer.tokenize(TEXTS)
    lengths = pieces.row_lengths().numpy()
    rng = np.random.default_rng(1)
    ids = rng.integers(-9, 99, (len(TEXTS), lengths.max() + 3)).astype("int32")
    for row, values in enumerate(pieces.to_list()):
        ids[row, : len(values)] = values
    found = call(module, "translate_ids", ids=ids, lengths=lengths)
    expected = call(module, "serving_default", text=TEXTS)
    texts = translator.tokenizer.detokenize(found["ids"]).numpy()
    assert texts.tolist() == expected["translation"].tolist()
    np.testing.assert_allclose(found["scores"], expected["score"], atol=1e-5)
    assert found["truncated"].tolist() == expected["truncated"].tolist()
    for row, length in enumerate(found["lengths"]):
        assert not found["ids"][row, length:].any()
        assert PAD_ID not in found["ids"][row, :length]
        assert END_ID not in found["ids"][row, : max(0, length - 1)]


def test_ids_that_no_text_holds_are_unknown(module):
    unknown = call(module, "translate_ids", ids=[[1, 7, 1, 1, 1, 1]], lengths=[6])
    odd = call(module, "translate_ids", ids=[[0, 7, 2, 3, 24, -1]], lengths=[6])
    for name, values in unknown.items():
        np.testing.assert_array_equal(values, odd[name])


def test_lengths_are_moved_into_their_row(module):
    ids = [[5, 6, 7], [5, 6, 7], [5, 6, 7]]
    found = call(module, "translate_ids", ids=ids, lengths=[3, 99, -4])
    np.testing.assert_array_equal(found["ids"][0], found["ids"][1])
    assert found["lengths"][2] == 0
    assert found["scores"][2] == 0
    nothing = call(module, "translate_ids", ids=np.zeros((2, 0)), lengths=[0, 5])
    assert nothing["lengths"].tolist() == [0, 0]


def test_memory_is_that_of_the_model(module, translator):
    found = call(module, "encode", text=TEXTS)
    source_ids, _ = translator.encode(TEXTS)
    expected = translator.model.encode(source_ids).numpy()
    for row, length in enumerate(found["lengths"]):
        assert length == np.count_nonzero(source_ids[row])
        np.testing.assert_allclose(
            found["memory"][row, :length], expected[row, :length], atol=1e-5
        )
        assert not found["memory"][row, length:].any()


@pytest.mark.parametrize("texts", [[""], [" ", ""], [b"\x00"]])
def test_nothing_but_empty_texts(module, texts):
    found = call(module, "explain", text=texts)
    assert found["translation"].tolist() == [b""] * len(texts)
    assert found["lengths"].tolist() == [1] * len(texts)  # END
    assert found["output_lengths"].tolist() == [0] * len(texts)
    for name in ("output_pieces", "token_log_probabilities", "alignment"):
        assert found[name].shape[:2] == (len(texts), 0)
    answers = [
        call(module, "serving_default", text=texts),
        nbest(module, texts, [(2, 0.6, 2, 2)] * len(texts)),
        call(module, "score", source=texts, target=texts),
        call(module, "encode", text=texts),
    ]
    assert all(len(x) == len(texts) for each in answers for x in each.values())


def test_batches_without_rows(module):
    empty = [
        call(module, "serving_default", text=[]),
        nbest(module, [], []),
        call(module, "score", source=[], target=[]),
        call(module, "explain", text=[]),
        call(module, "translate_ids", ids=np.zeros((0, 4)), lengths=[]),
        call(module, "encode", text=[]),
    ]
    for outputs in empty:
        assert all(value.shape[0] == 0 for value in outputs.values())


def test_any_bytes_give_valid_text_and_finite_numbers(module):
    asked = [(2, 0.6, 2, 2)] * len(ODD)
    answers = [
        nbest(module, ODD, asked),
        call(module, "score", source=ODD, target=ODD[::-1]),
        call(module, "explain", text=ODD),
        call(module, "encode", text=ODD),
    ]
    for outputs in answers:
        for values in outputs.values():
            if values.dtype == object:
                for text in values.ravel():
                    text.decode("utf-8")
            else:
                assert np.isfinite(values).all()


def test_ids_need_core_operations_only(module):
    graph = module.signatures["translate_ids"].graph.as_graph_def(add_shapes=False)
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    found = {node.op for node in nodes} - {
        f.signature.name for f in graph.library.function
    }
    assert found & {"While", "StatelessWhile"}
    foreign = {op for op in found if not hasattr(tf.raw_ops, op)}
    assert foreign == set()
