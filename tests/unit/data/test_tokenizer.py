"""Any bytes in, ids inside the vocabulary out, and valid UTF-8 back."""

import hashlib
import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_attention import vocabulary
from keras_attention.data import (
    SubwordTokenizer,
    read_lines,
    sentencepieces,
    wordpieces,
)

LINES = [
    "le chat dort .",
    "un chien court .",
    "(Where), said she: “what's to-day?” ## [PAD] [UNK] [START] [END] #1",
    "The 3 quick brown foxes jumped over 12 lazy dogs; zwölf Boxkämpfer jagen Viktor!",
] * 3
SIZES = {"bpe": 150, "unigram": 70, "wordpiece": 150}
KINDS = list(SIZES)
UNKNOWN = "\u2047"
relaxed = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    kind = request.param
    return SubwordTokenizer.learn_from_lines(LINES, SIZES[kind], kind)


def texts_of(tokenizer, ids):
    return [text.decode("utf-8") for text in tokenizer.detokenize(ids).numpy()]


def test_special_pieces_and_size(tokenizer):
    assert tuple(tokenizer.pieces[:4]) == vocabulary.SPECIAL_PIECES
    assert tokenizer.vocabulary_size == len(tokenizer.pieces) == SIZES[tokenizer.kind]
    assert len(set(tokenizer.pieces)) == tokenizer.vocabulary_size


def test_known_text_comes_back(tokenizer):
    texts = [*LINES, "le chien dort.", "[PAD][END] ## a#b ##1", "(the (dogs)!)"]
    ids = tokenizer.tokenize(texts)
    assert ids.dtype == tf.int32
    assert isinstance(ids, tf.RaggedTensor)
    assert texts_of(tokenizer, ids) == texts


def test_text_never_becomes_a_special_piece(tokenizer):
    texts = [*vocabulary.SPECIAL_PIECES, "".join(vocabulary.SPECIAL_PIECES), "[PAD]a"]
    ids = tokenizer.tokenize([*texts, " ".join(texts)]).flat_values.numpy()
    assert not np.isin(ids, [0, 2, 3]).any()


def test_unseen_characters_cost_only_themselves(tokenizer):
    known = tokenizer.tokenize(["le", "dort ."]).to_list()
    row = tokenizer.tokenize(["le Zèbre 中 dort ."]).to_list()[0]
    assert row[: len(known[0])] == known[0]
    assert row[-len(known[1]) :] == known[1]
    unseen = {"Z", "è", "中"} - set("".join(LINES))
    assert 1 <= row.count(vocabulary.UNK_ID) <= len(unseen) + 1
    text = texts_of(tokenizer, [row])[0]
    assert text.startswith("le ") and text.endswith(" dort .") and UNKNOWN in text
    assert tokenizer.tokenize(["😀"]).to_list()[0].count(vocabulary.UNK_ID) == 1


def test_separators_do_not_glue_words(tokenizer):
    plain = tokenizer.tokenize(["le chat"]).to_list()
    for between in "\r\t\x0b\x0c\x00\x1f\x85\u2028\u2029\u00a0\u3000\u2581\ufffd":
        assert tokenizer.tokenize([f"le{between}chat"]).to_list() == plain
    for odd in (
        b"le\xffchat",
        b"le\xed\xa0\x80chat",
        "le\ud800chat",
        b" le \n chat \r",
    ):
        assert tokenizer.tokenize([odd]).to_list() == plain


def test_blank_texts_are_empty_rows(tokenizer):
    ids = tokenizer.tokenize(["", "   ", "\n", b"\xff", "\u200b \u3000"[1:]])
    assert ids.to_list() == [[]] * 5
    assert texts_of(tokenizer, ids) == [""] * 5
    nothing = tokenizer.tokenize([])
    assert nothing.shape[0] == 0
    assert tokenizer.detokenize(nothing).shape == (0,)


@relaxed
@given(st.lists(st.one_of(st.binary(), st.text(st.characters())), min_size=1))
def test_any_input_has_a_defined_answer(tokenizer, texts):
    ids = tokenizer.tokenize(texts)
    flat = ids.flat_values.numpy()
    assert ids.shape[0] == len(texts)
    assert ((flat >= 0) & (flat < tokenizer.vocabulary_size)).all()
    assert not np.isin(flat, [0, 2, 3]).any()
    for text in texts_of(tokenizer, ids):
        assert "\x00" not in text and "\n" not in text


@relaxed
@given(st.lists(st.text("dogs le.,!?()12 "), min_size=1, max_size=5))
def test_round_trip_of_known_characters(tokenizer, texts):
    expected = [" ".join(text.split()) for text in texts]
    assert texts_of(tokenizer, tokenizer.tokenize(texts)) == expected


@relaxed
@given(st.lists(st.lists(st.integers(-5, 300), max_size=9), min_size=1, max_size=4))
def test_any_ids_become_valid_text(tokenizer, rows):
    texts = texts_of(tokenizer, rows)
    cut = [row[: row.index(3)] if 3 in row else row for row in rows]
    assert texts == texts_of(tokenizer, cut)
    stripped = [[i for i in row if i not in (0, 2)] for row in cut]
    assert texts == texts_of(tokenizer, stripped)


def test_dense_and_ragged_ids_agree(tokenizer):
    ids = tokenizer.tokenize(LINES)
    framed = tf.concat([ids, tf.fill([len(LINES), 1], 3)], axis=1)
    dense = framed.to_tensor()
    junk = tf.concat([dense, tf.fill([len(LINES), 2], 5)], axis=1)  # after END
    for other in (framed, dense, junk, tf.cast(dense, tf.int64), dense.numpy()):
        assert texts_of(tokenizer, other) == LINES


def test_python_graph_and_pipeline_agree(tokenizer):
    texts = ["le Zèbre 中 dort .", "😀", "", b"\xff a", LINES[2]]
    eager = tokenizer.tokenize(texts)
    spec = [tf.TensorSpec([None], tf.string)]
    graph = tf.function(lambda x: tokenizer.tokenize(x), spec)
    back = tf.function(lambda x: tokenizer.detokenize(tokenizer.tokenize(x)), spec)
    encoded = tf.constant([t if isinstance(t, bytes) else t.encode() for t in texts])
    assert graph(encoded).to_list() == eager.to_list()
    assert (
        back(encoded).numpy().tolist() == tokenizer.detokenize(eager).numpy().tolist()
    )
    data = tf.data.Dataset.from_tensors(encoded).map(tokenizer.tokenize)
    assert next(iter(data)).to_list() == eager.to_list()
    alone = [tokenizer.tokenize([text]).to_list()[0] for text in texts]
    assert alone == eager.to_list()


def test_a_saved_module_tokenizes_alike(tokenizer, tmp_path):
    module = tf.Module()
    module.tokenizer = tokenizer
    module.round_trip = tf.function(
        lambda x: tokenizer.detokenize(tokenizer.tokenize(x)),
        [tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path))
    texts = tf.constant(["le chat dort .", "\u2028Ω"])
    loaded = tf.saved_model.load(str(tmp_path)).round_trip(texts)
    assert loaded.numpy().tolist() == module.round_trip(texts).numpy().tolist()


def test_learning_is_deterministic(tokenizer):
    again = SubwordTokenizer.learn_from_lines(
        iter(LINES), SIZES[tokenizer.kind], tokenizer.kind
    )
    assert again.pieces == tokenizer.pieces
    assert again.tokenize(LINES).to_list() == tokenizer.tokenize(LINES).to_list()


def test_save_and_load(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "new" / "folder")
    loaded = SubwordTokenizer.load(tmp_path / "new" / "folder")
    assert (loaded.kind, loaded.sha256) == (tokenizer.kind, tokenizer.sha256)
    assert loaded.vocabulary_size == tokenizer.vocabulary_size
    assert loaded.tokenize(LINES).to_list() == tokenizer.tokenize(LINES).to_list()


def test_a_changed_model_is_refused_unparsed(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    config = json.loads((tmp_path / "tokenizer.json").read_text())
    model = tmp_path / config["model"]
    model.write_bytes(tokenizer.model + b"\x00")
    with pytest.raises(ValueError, match="not the one that was saved.*sha256"):
        SubwordTokenizer.load(tmp_path)
    model.unlink()
    with pytest.raises(ValueError, match="Cannot read the tokenizer file"):
        SubwordTokenizer.load(tmp_path)


@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_no_model_is_parsed_that_is_not_the_recorded_one(tmp_path, monkeypatch, kind):
    lines = ["to be or not to be"] * 2
    SubwordTokenizer.learn_from_lines(lines, 18, kind).save(tmp_path)
    wanted = SubwordTokenizer.load(tmp_path).sha256
    assert SubwordTokenizer.load(tmp_path, wanted).sha256 == wanted
    for engine in (sentencepieces, wordpieces):
        for name in ("SentencePieces", "WordPieces", "parse_model", "_parse"):
            monkeypatch.setattr(engine, name, None, raising=False)
    with pytest.raises(ValueError, match=f"of sha256 {'0' * 64}. Received: {wanted}"):
        SubwordTokenizer.load(tmp_path, "0" * 64)
    (path,) = (x for x in tmp_path.iterdir() if x.name != "tokenizer.json")
    changed = path.read_bytes() + b"x"
    path.write_bytes(changed)
    with pytest.raises(ValueError, match="not the one that was saved.*sha256"):
        SubwordTokenizer.load(tmp_path, wanted)
    # Somebody writes both files anew; what the run has recorded is another.
    config = (tmp_path / "tokenizer.json").read_text()
    found = hashlib.sha256(changed).hexdigest()
    (tmp_path / "tokenizer.json").write_text(config.replace(wanted, found))
    with pytest.raises(ValueError, match=f"of sha256 {wanted}. Received: {found}"):
        SubwordTokenizer.load(tmp_path, wanted)


def test_the_sum_of_a_tokenizer_with_symbols_is_compared_too(tmp_path):
    lines = ["to be or not to be"] * 2
    SubwordTokenizer.learn_from_lines(lines, 18, symbols=["(S", ")S"]).save(tmp_path)
    wanted = SubwordTokenizer.load(tmp_path).sha256
    assert SubwordTokenizer.load(tmp_path, wanted).symbols == ("(S", ")S")
    with pytest.raises(ValueError, match=f"of sha256 1. Received: {wanted}"):
        SubwordTokenizer.load(tmp_path, "1")


def test_broken_configurations_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Cannot read the tokenizer file"):
        SubwordTokenizer.load(tmp_path)
    for content in ("{", "[]", '"x"', "[" * 99_999, b"\xff", '{"kind": 1, "kind": 2}'):
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "tokenizer.json").write_bytes(content)
        with pytest.raises(ValueError, match="not a tokenizer configuration.*Received"):
            SubwordTokenizer.load(tmp_path)
    symbols = '{"kind": "bpe", "sha256": "0", "symbols": %s}'
    wrong = [symbols % each for each in ('"ab"', "[1]", "7", "null")]
    for content in (
        *wrong,
        "{}",
        '{"kind": "bpe"}',
        '{"kind": "../x", "sha256": "0"}',
        '{"kind": []}',
    ):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(ValueError, match="must name a kind among"):
            SubwordTokenizer.load(tmp_path)


def test_sizes_that_the_text_cannot_give(tokenizer):
    kind = tokenizer.kind
    with pytest.raises(ValueError, match=f"at most [0-9]+ {kind} pieces") as error:
        SubwordTokenizer.learn_from_lines(LINES, 100_000, kind)
    largest = int(str(error.value).split("at most ")[1].split()[0])
    tight = SubwordTokenizer.learn_from_lines(LINES, largest, kind)
    assert tight.vocabulary_size == largest
    with pytest.raises(ValueError, match="characters of this text alone need"):
        SubwordTokenizer.learn_from_lines(LINES, 10, kind)
    for nothing in ([], ["", " \n"]):
        with pytest.raises(ValueError, match="no text to learn from"):
            SubwordTokenizer.learn_from_lines(nothing, 100, kind)


@pytest.mark.parametrize("kind, size", [("bpe", 60), ("wordpiece", 49)])
def test_huge_and_odd_lines_are_learned_from(kind, size):
    lines = ["ab" * 100_000, "\ufdfa" * 20_000, b"\xff\x00q\xfe", "\u2585z", "\ud800y"]
    tokenizer = SubwordTokenizer.learn_from_lines(lines, size, kind)
    assert 1 not in tokenizer.tokenize(["abzyq", "ab" * 50_000]).flat_values.numpy()


def test_learning_from_files(tiny_corpus):
    tokenizer = SubwordTokenizer.learn(list(tiny_corpus), 60)
    one = SubwordTokenizer.learn(tiny_corpus[0], 40)
    lines = [line for path in tiny_corpus for line in read_lines(path)]
    assert texts_of(tokenizer, tokenizer.tokenize(lines)) == lines
    assert one.vocabulary_size == 40
    with pytest.raises(ValueError, match="Cannot read the text file"):
        SubwordTokenizer.learn([tiny_corpus[0], tiny_corpus[0].parent / "x"], 60)


def test_byte_fallback_spells_unseen_characters():
    tokenizer = SubwordTokenizer.learn_from_lines(LINES, 400, byte_fallback=True)
    ids = tokenizer.tokenize(["le 中 dort"])
    assert vocabulary.UNK_ID not in ids.to_list()[0]
    assert texts_of(tokenizer, ids) == ["le 中 dort"]
    half = ids.to_list()[0]
    half.remove(tokenizer.pieces.index("<0xB8>"))
    assert "dort" in texts_of(tokenizer, [half])[0]  # valid UTF-8 all the same
    with pytest.raises(ValueError, match="WordPiece has no byte pieces"):
        SubwordTokenizer.learn_from_lines(LINES, 400, "wordpiece", byte_fallback=True)


def test_foreign_models_are_refused():
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=70, minloglevel=2
    )
    with pytest.raises(ValueError, match=r"must be \[PAD\].*Received: <unk>, <s>"):
        SubwordTokenizer(model.getvalue(), "bpe")
    for damaged in (b"", b"junk", model.getvalue()[:100]):
        with pytest.raises(ValueError, match=r"SentencePiece model|must be \[PAD\]"):
            SubwordTokenizer(damaged, "unigram")
    with pytest.raises(ValueError, match=r"must be \[PAD\].*no piece may occur twice"):
        SubwordTokenizer(b"[PAD]\n[UNK]\n[END]\n[START]\na\n", "wordpiece")
    with pytest.raises(ValueError, match="no piece may occur twice"):
        SubwordTokenizer(b"[PAD]\n[UNK]\n[START]\n[END]\na\na\n", "wordpiece")
    with pytest.raises(ValueError, match="not a WordPiece vocabulary"):
        SubwordTokenizer(b"\xff", "wordpiece")


def test_wrong_arguments(tokenizer):
    with pytest.raises(ValueError, match="vector of strings"):
        tokenizer.tokenize("a single text")
    with pytest.raises(ValueError, match="two dimensions"):
        tokenizer.detokenize(tf.zeros([3], tf.int32))
    with pytest.raises(ValueError, match="must be one of bpe, unigram, wordpiece"):
        SubwordTokenizer.learn_from_lines(LINES, 100, "bert")


def test_real_text_comes_back_but_for_normalisation(shared_data):
    import unicodedata

    lines = []
    for language in ("en", "de"):
        path = shared_data / "mt" / "multi30k" / f"val.{language}.gz"
        lines += read_lines(path)[:300]
    expected = [" ".join(unicodedata.normalize("NFKC", x).split()) for x in lines]
    for kind in ("bpe", "unigram"):
        tokenizer = SubwordTokenizer.learn_from_lines(lines, 1_000, kind)
        assert texts_of(tokenizer, tokenizer.tokenize(lines)) == expected
    tokenizer = SubwordTokenizer.learn_from_lines(lines[:200], 800, "wordpiece")
    assert texts_of(tokenizer, tokenizer.tokenize(lines[:200])) == expected[:200]


@pytest.mark.parametrize("size", [4, 400.0, "400", None])
def test_what_is_no_vocabulary_size_is_refused(size):
    with pytest.raises(ValueError, match="`vocabulary_size` must be an integer"):
        SubwordTokenizer.learn_from_lines(["a b"], size)
