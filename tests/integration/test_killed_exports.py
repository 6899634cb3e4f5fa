"""An export that is killed at any moment leaves no folder that a server would take."""

import json
import os
import random
import signal
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
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.integration.killed_exports", str(tmp_path)],
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(KILLS):
        process.stdin.write(b"\n")
        process.stdin.flush()
        child = int(process.stdout.readline())
        time.sleep(draw.uniform(0.05, LONGEST))
        os.kill(child, signal.SIGKILL)
    process.communicate(timeout=60)
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
