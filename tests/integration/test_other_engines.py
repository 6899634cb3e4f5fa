"""One version in the engines of older releases of TensorFlow, which servers still run.

Each is installed into a folder of its own, without what its Python parts would need,
and kept there for the next time: 1.5 GB each.
"""

import pathlib
import subprocess
import sys
import tempfile

import pytest

from keras_attention.decoding.translator import Translator
from keras_attention.export import export_saved_model
from keras_attention.export.verify import verify_saved_model
from tests.integration.test_export import SENTENCES, make_workdir

INSTALLED = pathlib.Path(tempfile.gettempdir()) / "keras-attention-engines"
pytestmark = pytest.mark.campaign


def installed_engine(release):
    """Returns the folder of a release; skips where no registry can be reached."""
    folder = INSTALLED / release
    if not (folder / "whole").exists():
        packages = [f"{x}=={release}.*" for x in ("tensorflow", "tensorflow-text")]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*command, "--upgrade", "--target", str(folder), *packages],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode().strip().splitlines()
            pytest.skip(f"pip cannot install TensorFlow {release}: {said[-1:]}")
        (folder / "whole").touch()
    return folder


@pytest.fixture(scope="module", params=["bpe", "unigram", "wordpiece"])
def exported(request, tmp_path_factory):
    base = tmp_path_factory.mktemp(request.param)
    make_workdir(base, request.param)
    translator = Translator.load(base)
    return translator, export_saved_model(translator, base / "models")


@pytest.mark.parametrize("release", ["2.20", "2.19"])
def test_an_older_engine_says_the_same(exported, release):
    translator, version = exported
    package = installed_engine(release)
    report = verify_saved_model(version, translator, SENTENCES, package)
    assert report.engine.startswith(f"{release}.")
    assert report.compared == len(SENTENCES)
