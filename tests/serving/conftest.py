"""One exported version and one server for all tests of this folder."""

import importlib.util
import shutil
import types

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


@pytest.fixture(scope="session")
def artefact(tmp_path_factory):
    """A `Translator`, the folder of its one version, and 10 texts."""
    if MISSING:
        pytest.skip(f"the extra `client` is missing: {', '.join(MISSING)}")
    import keras

    import keras_attention as ka

    keras.utils.set_random_seed(1)
    tokenizer = ka.SubwordTokenizer.learn_from_lines(LINES, 40)
    config = ka.TransformerConfig(
        40, num_layers=1, model_dim=16, num_heads=2, feed_forward_dim=32
    )
    model = ka.build_transformer(config)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)  # so that beams disagree
    decoding = ka.DecodingConfig(
        beam_size=2, max_extra_length=3, max_source_length=12, num_hypotheses=2
    )
    translator = ka.Translator(model, tokenizer, decoding)
    version = ka.export_saved_model(translator, tmp_path_factory.mktemp("model") / "m")
    return types.SimpleNamespace(translator=translator, version=version, texts=TEXTS)


@pytest.fixture(scope="session")
def server(artefact):
    """A running server of that version, without batches."""
    with process.serving(model=artefact.version.parent) as server:
        yield server


@pytest.fixture
def versions(artefact, tmp_path):
    """A function that puts the version under a number into a folder of its own."""

    def place(number):
        staged = tmp_path / f"staged-{number}"
        shutil.copytree(artefact.version, staged)
        (tmp_path / "versions").mkdir(exist_ok=True)
        return staged.rename(tmp_path / "versions" / str(number))

    return place
