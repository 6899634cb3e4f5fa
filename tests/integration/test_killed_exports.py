"""An export that is killed at any moment leaves no folder that a server would take."""

import json
import random
import subprocess
import sys
import time

import pytest

from keras_attention.export.checksums import weights_sha256
from keras_attention.export.warmup import read_warmup

KILLS, LONGEST = 10, 1.5  # seconds of exports before a kill
FILES = {
    "assets",
    "assets.extra",
    "batching_params.pbtxt",
    "fingerprint.pb",
    "manifest.json",
    "saved_model.pb",
    "variables",
}


@pytest.mark.slow
def test_every_numbered_folder_is_whole_after_ten_kills(tmp_path, repository):
    draw, interrupted = random.Random(1), 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.killed_exports", str(tmp_path)],
            cwd=repository,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout.readline() == b"ready\n"
        time.sleep(draw.uniform(0.05, LONGEST))
        process.kill()
        process.communicate()
    for path in tmp_path.iterdir():
        if path.name.isdigit():
            assert {each.name for each in path.iterdir()} == FILES
            manifest = json.loads((path / "manifest.json").read_text())
            assert manifest["weights"]["sha256"] == weights_sha256(path)
            assert read_warmup(path)
        else:
            assert path.name.startswith(".unfinished-")
            interrupted += 1
    assert interrupted >= KILLS // 2  # the kills hit exports
    numbers = sorted(int(x.name) for x in tmp_path.iterdir() if x.name.isdigit())
    assert numbers == list(range(1, len(numbers) + 1))
