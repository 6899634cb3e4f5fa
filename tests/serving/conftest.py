"""One exported version and one server for all tests of this folder."""

import importlib.util
import shutil

import pytest

from tests.serving import process

MISSING = [n for n in ("grpc", "tensorflow_serving") if not importlib.util.find_spec(n)]
if MISSING:  # their doctests cannot be looked for either
    collect_ignore = ["fronts.py", "models.py", "server.py", "service.py", "warmup.py"]

LINES = ["to be or not to be", "that is the question", "whether it is nobler"] * 4
TEXTS = [
    *("to be", "that is", "the question", "not to be or", "whether", "nobler be"),
    *("", "   ", "to be or not to be that is the question whether it is", "caf\u00e9"),
]


def make_translator(**decoding):
    """Returns a `Translator` whose beams disagree, of 40 pieces."""
    import keras

    import keras_attention as ka

    keras.utils.set_random_seed(1)
    tokenizer = ka.SubwordTokenizer.learn_from_lines(LINES, 40)
    config = ka.TransformerConfig(
        40, num_layers=1, model_dim=16, num_heads=2, feed_forward_dim=32
    )
    model = ka.build_transformer(config)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)
    decoding = {"max_extra_length": 3, "max_source_length": 12, **decoding}
    return ka.Translator(model, tokenizer, ka.DecodingConfig(beam_size=2, **decoding))


@pytest.fixture(scope="session")
def translator():
    if MISSING:
        pytest.skip(f"the extra `client` is missing: {', '.join(MISSING)}")
    return make_translator(num_hypotheses=2)


@pytest.fixture(scope="session")
def graph(translator, tmp_path_factory):
    """The graph of an export alone, which is there in half the time."""
    import tensorflow as tf

    from keras_attention.export.translation_module import TranslationModule

    module = TranslationModule(translator, max_beam_size=3)
    folder = tmp_path_factory.mktemp("graph") / "1"
    tf.saved_model.save(module, str(folder), signatures=module.signatures)
    return folder


@pytest.fixture(scope="session")
def server(graph):
    """A running server of that graph, without batches."""
    with process.serving(model=graph.parent) as server:
        yield server


@pytest.fixture(scope="session")
def version(translator, tmp_path_factory):
    """The folder of a whole export."""
    import keras_attention as ka

    return ka.export_saved_model(translator, tmp_path_factory.mktemp("model") / "m")


@pytest.fixture
def versions(version, tmp_path):
    """A folder of versions, and a function that puts the export there by a rename."""
    folder = tmp_path / "versions"
    folder.mkdir()

    def place(number):
        staged = tmp_path / f"staged-{number}"
        without = shutil.ignore_patterns("assets.extra")  # warming up takes a while
        shutil.copytree(version, staged, ignore=without)
        return staged.rename(folder / str(number))

    place.folder = folder
    return place
