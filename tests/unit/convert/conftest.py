"""A Marian folder as Hugging Face writes one: tiny models, random weights."""

import io
import json

import pytest

SOURCES = [
    "a dog runs in the park",
    "two cats sleep on a red sofa",
    "the child plays with a ball",
    "she reads an old book, and he sings.",
]
TARGETS = [
    "ein Hund läuft im Park",
    "zwei Katzen schlafen auf einem roten Sofa",
    "das Kind spielt mit einem Ball",
    "sie liest ein altes Buch, und er singt.",
]
CODE = ">>deu<<"
LEFT_OUT = "\u2581the"  # a piece of the source model that the vocabulary lacks
CONFIG = {
    "model_type": "marian",
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "activation_function": "swish",
    "scale_embedding": True,
    "max_position_embeddings": 64,
}


def _learn(lines):
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3),
        model_writer=model,
        vocab_size=75,
        model_type="bpe",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def _pieces(model):
    import sentencepiece

    loaded = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [loaded.IdToPiece(i) for i in range(3, loaded.GetPieceSize())]


@pytest.fixture(scope="session")
def marian_files():
    """Contents of `source.spm`, `target.spm`, `vocab.json` and `config.json`."""
    models = [_learn(SOURCES), _learn(TARGETS)]
    others = dict.fromkeys([*_pieces(models[0]), *_pieces(models[1]), CODE])
    assert LEFT_OUT in others
    del others[LEFT_OUT]
    pieces = ["</s>", "<unk>", *others, "<pad>"]
    size = len(pieces)
    config = {
        **CONFIG,
        "vocab_size": size,
        "decoder_vocab_size": size,
        "pad_token_id": size - 1,
        "decoder_start_token_id": size - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": None,
    }
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return {
        "source.spm": models[0],
        "target.spm": models[1],
        "vocab.json": json.dumps(vocabulary).encode(),
        "config.json": json.dumps(config).encode(),
    }


@pytest.fixture
def marian_folder(marian_files, tmp_path):
    """A folder with all but the weights, for a test to spoil."""
    return write(marian_files, tmp_path / "marian")


def write(files, folder):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder
