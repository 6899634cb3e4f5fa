"""A training that goes on and on holds no more than at its beginning.

KERAS_ATTENTION_SOAK_MINUTES=120 pytest -m campaign -s tests/integration/test_soak.py
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

MINUTES = float(os.environ.get("KERAS_ATTENTION_SOAK_MINUTES", "120"))
SLOPE = 10.0  # MB an hour
KEPT = 4  # two of the schedule, the best and the one of the end


@pytest.mark.parametrize(
    "minutes",
    [
        pytest.param(0.5, marks=pytest.mark.slow),
        pytest.param(MINUTES, marks=pytest.mark.campaign),
    ],
    ids=["short", "long"],
)
def test_a_training_is_flat(tmp_path, minutes, capsys):
    command = [sys.executable, "-m", "tests.integration.soaked_run", str(tmp_path)]
    done = subprocess.run(
        [*command, str(minutes), str(minutes * 60 / 40)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    found = [json.loads(x) for x in done.stdout.splitlines() if x.startswith("{")]
    assert len(found) >= 10
    found = found[len(found) // 4 :]  # the graphs are traced and the buffers are there
    hours = [x["minutes"] / 60 for x in found]
    slope = np.polyfit(hours, [x["megabytes"] for x in found], 1)[0]
    first, last = found[0], found[-1]
    with capsys.disabled():
        print(
            f"\n{last['updates']} updates in {last['minutes']:.0f} minutes: memory "
            f"{first['megabytes']:.1f} to {last['megabytes']:.1f} MB, {slope:+.1f} MB "
            f"an hour; handles {first['handles']} to {last['handles']}, threads "
            f"{first['threads']} to {last['threads']}, checkpoints at most "
            f"{max(x['checkpoints'] for x in found)}"
        )
    assert last["handles"] <= first["handles"] + 1
    assert last["threads"] <= first["threads"]
    assert max(x["checkpoints"] for x in found) <= KEPT
    assert last["event_files"] == first["event_files"]
    if minutes >= 30:  # less is noise
        assert slope < SLOPE
    assert last["megabytes"] - first["megabytes"] < 40
