"""BPE learned from counted words is BPE learned from lines."""

import io
import random

import sentencepiece

from keras_attention.data.sentencepieces import UNKNOWN_SURFACE, learn_model
from keras_attention.data.synthetic import synthetic_corpus
from keras_attention.vocabulary import SPECIAL_PIECES


def pieces(model):
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    ids = range(processor.GetPieceSize())
    return [(processor.IdToPiece(i), processor.GetScore(i)) for i in ids]


def learn_from_lines(lines, size):
    """The trainer fed with whole lines."""
    model = io.BytesIO()
    names = dict(zip(("pad", "unk", "bos", "eos"), SPECIAL_PIECES, strict=True))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        character_coverage=1.0,
        unk_surface=UNKNOWN_SURFACE,
        minloglevel=2,
        **{f"{name}_id": i for i, name in enumerate(names)},
        **{f"{name}_piece": piece for name, piece in names.items()},
    )
    return model.getvalue()


def corpus():
    lines = [
        text for e in synthetic_corpus("train", 300) for text in (e.source, e.target)
    ]
    # Spaces that only normalisation makes plain, compatibility forms, runs of spaces.
    odd = ["der\u00a0Hund\u3000läuft", "ﬁne  ①", " \u3000 ", "  a  b ", "e\u0301 é"]
    return lines + 3 * odd


def test_counted_words_give_the_merges_of_lines():
    lines = corpus()
    expected = pieces(learn_from_lines(lines, 400))
    assert pieces(learn_model(iter(lines), 400, "bpe")) == expected


def test_the_order_of_the_lines_does_not_matter():
    lines = corpus()
    first = learn_model(lines, 400, "bpe")
    random.Random(1).shuffle(lines)
    assert learn_model(lines, 400, "bpe") == first


def test_every_line_counts():
    # A word of the last of many lines is learned whole: nothing is cut off.
    lines = ["ab cd ef"] * 20_000 + ["zyxw"] * 30_000
    assert "▁zyxw" in [piece for piece, _ in pieces(learn_model(lines, 20, "bpe"))]
