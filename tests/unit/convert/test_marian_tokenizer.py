"""Two SentencePiece models, one vocabulary, in a graph."""

import hashlib
import json

import keras
import pytest
import sentencepiece
import tensorflow as tf

import keras_attention as ka
from keras_attention.convert import MarianTokenizer
from keras_attention.convert.marian_tokenizer import FILES

TEXTS = [
    "a dog runs",
    "the old dog",  # with the piece that the vocabulary lacks
    "",
    "   ",
    "she reads \u2603 books",  # a snowman, which the model lacks
    "schläft",  # whose letters the other model knows
    ">>deu<< a dog runs",
    ">>deu<<",
    ">>xyz<<a cat",
    "a >>deu<< dog",
    ">>a cat",
    "line\nbreak >>",
]


@pytest.fixture(scope="module")
def tokenizer(marian_files):
    return MarianTokenizer(*(marian_files[name] for name in FILES))


@pytest.fixture(scope="module")
def reference(marian_files):
    """What Hugging Face does, without Hugging Face: text -> list of their ids."""
    vocabulary = json.loads(marian_files["vocab.json"])

    def ids(text, model="source.spm"):
        text, code = text.replace("\n", " "), []
        if text.startswith(">>") and "<<" in text:
            end = text.find("<<") + 2
            code, text = [text[:end]], text[end:]
        loaded = sentencepiece.SentencePieceProcessor(model_proto=marian_files[model])
        pieces = code + loaded.encode(text, out_type=str)
        return [vocabulary.get(piece, vocabulary["<unk>"]) for piece in pieces]

    return ids


def theirs(tokenizer, ids):
    return [[tokenizer.vocabulary.rows[i] for i in row] for row in ids.to_list()]


def test_ids_are_those_of_the_models_and_the_vocabulary(tokenizer, reference):
    found = theirs(tokenizer, tokenizer.tokenize(TEXTS))
    assert found == [reference(text) for text in TEXTS]
    flat = [i for row in found for i in row]
    assert tokenizer.vocabulary.ids["<unk>"] in flat
    assert flat.count(tokenizer.vocabulary.ids[">>deu<<"]) == 2


def test_targets_are_split_by_the_other_model(tokenizer, reference):
    found = theirs(tokenizer, tokenizer.tokenize_targets(TEXTS))
    assert found == [reference(text, "target.spm") for text in TEXTS]
    assert found != theirs(tokenizer, tokenizer.tokenize(TEXTS))


def test_special_pieces_stand_first(tokenizer, marian_files):
    vocabulary = json.loads(marian_files["vocab.json"])
    assert tokenizer.vocabulary_size == len(vocabulary) + 1  # PAD and START are one
    assert tokenizer.pieces[:4] == ["[PAD]", "[UNK]", "[START]", "[END]"]
    rows, padding = tokenizer.vocabulary.rows, vocabulary["<pad>"]
    assert rows[:4] == [padding, vocabulary["<unk>"], padding, vocabulary["</s>"]]
    assert rows[4:] == sorted(set(vocabulary.values()) - {padding, 0, 1})
    for number in range(4, tokenizer.vocabulary_size):
        assert vocabulary[tokenizer.pieces[number]] == rows[number]
    spelled = tokenizer.id_to_piece([[0, 3], [4, 10**6]]).numpy().tolist()
    assert spelled == [[b"[PAD]", b"[END]"], [tokenizer.pieces[4].encode(), b"[UNK]"]]


@pytest.mark.parametrize("text", ["</s>", "<pad>", "[PAD]", "a </s> dog", "<unk>"])
def test_no_text_becomes_a_special_piece(tokenizer, text):
    for split in (tokenizer.tokenize, tokenizer.tokenize_targets):
        found = set(split([text]).flat_values.numpy().tolist())
        assert not found & {ka.PAD_ID, ka.START_ID, ka.END_ID}


def test_texts_come_back(tokenizer):
    texts = ["ein Hund läuft", "", "das Kind, im Park."]
    found = tokenizer.detokenize(tokenizer.tokenize_targets(texts))
    assert [text.decode() for text in found.numpy()] == texts
    ids = tokenizer.tokenize_targets(["ein Hund"]).to_list()[0]
    rows = [[2, *ids, 3, *ids], [*ids, ka.UNK_ID, 10**6], [0, 0, 0]]
    found = [text.decode().split() for text in tokenizer.detokenize(rows).numpy()]
    assert found == [["ein", "Hund"], ["ein", "Hund", "\u2047", "\u2047"], []]


def test_a_graph_does_the_same_also_after_a_new_seed(tokenizer):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def there_and_back(texts):
        ids = tokenizer.tokenize(texts)
        return ids.to_tensor(), tokenizer.detokenize(ids)

    expected = tokenizer.tokenize(TEXTS)
    words = tokenizer.detokenize(expected).numpy().tolist()
    keras.utils.set_random_seed(5)  # which clears TensorFlow's cached kernels
    ids, texts = there_and_back(tf.constant(TEXTS))
    assert ids.numpy().tolist() == expected.to_tensor().numpy().tolist()
    assert texts.numpy().tolist() == words
    assert there_and_back(tf.constant([], tf.string))[1].shape == (0,)


def test_saving_keeps_the_files(tokenizer, tmp_path, marian_files):
    tokenizer.save(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == marian_files[name]
    again = MarianTokenizer.load(tmp_path)
    assert again.sha256 == tokenizer.sha256 and again.kind == "marian"
    assert again.tokenize(TEXTS).to_list() == tokenizer.tokenize(TEXTS).to_list()
    source, target, vocabulary = (marian_files[name] for name in FILES)
    other = MarianTokenizer(target, source, vocabulary)
    assert other.sha256 != tokenizer.sha256
    assert len(other.sha256) == len(hashlib.sha256().hexdigest())


def test_missing_and_broken_files_are_refused(marian_folder):
    for name in FILES[:2]:
        content = (marian_folder / name).read_bytes()
        (marian_folder / name).write_bytes(b"no model")
        with pytest.raises(ValueError, match="not a SentencePiece model"):
            MarianTokenizer.load(marian_folder)
        (marian_folder / name).unlink()
        with pytest.raises(ValueError, match=rf"must hold .*Received: .*{name}"):
            MarianTokenizer.load(marian_folder)
        (marian_folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "pieces",
    [["a"], {"a": 1}, {"a": 0, "b": 0}, {"a": "0"}, {"a": [0]}, {"a": 0, "b": 2}],
)
def test_ids_must_be_whole(marian_files, pieces):
    models = [marian_files[name] for name in FILES[:2]]
    with pytest.raises(ValueError, match="every piece to an id.*Received: .*Copy"):
        MarianTokenizer(*models, json.dumps(pieces).encode())


def test_a_vocabulary_needs_its_special_pieces(marian_files):
    models = [marian_files[name] for name in FILES[:2]]
    with pytest.raises(ValueError, match="Received: no </s>, <pad>.*Only"):
        MarianTokenizer(*models, b'{"<unk>": 0}')
    with pytest.raises(ValueError, match="must be JSON. Received: .*Copy"):
        MarianTokenizer(*models, b"{")
