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
from keras_attention.export.checksums import check_manifest

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
    fewer = json.loads(vocabulary)
    fewer["other"] = fewer.pop(">>deu<<")
    for other in (
        MarianTokenizer(source, source, vocabulary),
        MarianTokenizer(source, target, json.dumps(fewer).encode()),
    ):
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
    [{"a": 1}, {"a": 0, "b": 0}, {"a": "0"}, {"a": [0]}, {"a": 0, "b": 2}],
)
def test_ids_must_be_whole(marian_files, pieces):
    models = [marian_files[name] for name in FILES[:2]]
    with pytest.raises(ValueError, match="every piece to an id.*Received: .*Copy"):
        MarianTokenizer(*models, json.dumps(pieces).encode())


def test_a_vocabulary_needs_its_special_pieces(marian_files):
    models = [marian_files[name] for name in FILES[:2]]
    with pytest.raises(ValueError, match="Received: no </s>, <pad>.*Only"):
        MarianTokenizer(*models, b'{"<unk>": 0}')
    for content in (b"{", b'["a"]'):
        with pytest.raises(ValueError, match="must be a JSON object. Received: .*Copy"):
            MarianTokenizer(*models, content)


@pytest.fixture(scope="module")
def translator(tokenizer):
    keras.utils.set_random_seed(2)
    config = ka.TransformerConfig(
        tokenizer.vocabulary_size,
        num_layers=1,
        model_dim=8,
        num_heads=2,
        feed_forward_dim=16,
        output_bias=True,
    )
    decoding = ka.DecodingConfig(beam_size=2, max_extra_length=3)
    return ka.Translator(ka.build_transformer(config), tokenizer, decoding)


def test_a_translator_splits_each_side_by_its_model(translator, tokenizer):
    sources, targets = ["a dog runs", "the ball"], ["ein Hund", "das Kind läuft"]
    for texts, split, more in (
        (sources, tokenizer.tokenize, {}),
        (targets, tokenizer.tokenize_targets, {"targets": True}),
    ):
        found = [[i for i in row if i] for row in translator.encode(texts, **more)[0]]
        assert found == [[*row, ka.END_ID] for row in split(texts).to_list()]
    pieces = [len(row) + 1 for row in tokenizer.tokenize_targets(targets).to_list()]
    scored = translator.score(sources, targets, return_token_log_probs=True)
    assert [len(row) for row in scored] == pieces
    [prefix] = tokenizer.tokenize_targets(["ein Hund"]).to_list()
    [found] = translator.translate(["a dog runs"], prefixes=["ein Hund"])
    assert list(found.hypotheses[0].ids[: len(prefix)]) == prefix


@pytest.mark.slow
def test_an_export_holds_both_models(translator, tmp_path, marian_files):
    pieces = json.loads(marian_files["vocab.json"])
    pieces["other"] = pieces.pop(">>deu<<")
    other_vocabulary = MarianTokenizer(
        *(marian_files[name] for name in FILES[:2]), json.dumps(pieces).encode()
    )
    # Verified on export in the C++ engine, whose ops are on a list.
    folder = ka.export_saved_model(translator, tmp_path / "model")
    signatures = tf.saved_model.load(str(folder)).signatures
    found = signatures["serving_default"](text=tf.constant(TEXTS))
    expected = translator.translate(TEXTS)
    assert [x.decode() for x in found["translation"].numpy()] == [
        translation.text for translation in expected
    ]
    sides = ["a dog runs", "the ball"], ["ein Hund", "das Kind läuft"]
    source, target = map(tf.constant, sides)
    found = signatures["score"](source=source, target=target)
    scores = found["log_probability"].numpy().tolist()
    assert scores == pytest.approx(translator.score(*sides), abs=1e-4)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["tokenizer"]["sha256"] == translator.tokenizer.sha256
    manifest["tokenizer"]["sha256"] = other_vocabulary.sha256
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="the tokenizer of .* Received: "):
        check_manifest(folder)
