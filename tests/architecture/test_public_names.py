"""The public surface: a change here is a change for users (see CHANGELOG.md)."""

import subprocess
import sys

import keras
import pytest

import keras_attention as ka

SNAPSHOT = """
END_ID PAD_ID PRESETS START_ID UNK_ID
AddAndNorm DecoderBlock DecodingConfig EncoderBlock Ensemble LabelSmoothedCrossEntropy
LearnedPositionalEmbedding MultiHeadAttention NoamSchedule PositionwiseFeedForward
SinusoidalPositionalEncoding SubwordTokenizer TokenEmbedding TrainingConfig Transformer
TransformerConfig Translator __version__ beam_search build_transformer convert data
decoding evaluation export export_saved_model layers make_optimizer models objectives
ops training
""".split()


def test_all_is_the_snapshot():
    assert ka.__all__ == SNAPSHOT


@pytest.mark.parametrize("name", SNAPSHOT)
def test_every_name_is_there(name):
    assert getattr(ka, name) is not None
    assert name in dir(ka)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Transfomer'"):
        ka.Transfomer  # noqa: B018


@pytest.mark.parametrize(
    "name",
    [
        *("AddAndNorm", "DecoderBlock", "EncoderBlock", "LabelSmoothedCrossEntropy"),
        *("LearnedPositionalEmbedding", "MultiHeadAttention", "NoamSchedule"),
        *("PositionwiseFeedForward", "SinusoidalPositionalEncoding"),
        *("TokenEmbedding", "Transformer"),
    ],
)
def test_importing_registers_every_class(name):
    registered = keras.saving.get_registered_object(f"keras_attention>{name}")
    assert registered is getattr(ka, name)


def test_layers_and_model_come_without_tensorflow_text():
    program = (
        "import sys, keras_attention as ka\n"
        "ka.build_transformer(ka.TransformerConfig(vocabulary_size=9, num_layers=1,"
        " model_dim=4, num_heads=1, feed_forward_dim=4))\n"
        "print('tensorflow_text' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=120
    )
    assert done.stdout.split()[-1] == b"False"
