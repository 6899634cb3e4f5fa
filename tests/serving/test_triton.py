"""An export behind a real `tritonserver`, out of the wheel of nvidia-pytriton.

It wants another NumPy than this package, so it has an environment of its own:

    /usr/bin/python3 -m venv /tmp/triton && /tmp/triton/bin/pip install nvidia-pytriton
    KERAS_ATTENTION_TRITON=/tmp/triton/bin/python pytest -m campaign tests/serving
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

import pytest

from keras_attention.export import engine
from tests.serving.test_load import texts_of

PROGRAM = pathlib.Path(__file__).with_name("triton_server.py")
pytestmark = pytest.mark.campaign
REQUESTS, THREADS = 300, 16


@pytest.fixture
def triton(graph):
    """host:port of the server's HTTP and of its metrics."""
    python = os.environ.get("KERAS_ATTENTION_TRITON")
    if not python:
        pytest.skip("KERAS_ATTENTION_TRITON names no python that has nvidia-pytriton")
    # Its stub links the libpython of the system; that of another build goes first.
    prefix = subprocess.check_output(
        [python, "-c", "import sys; print(sys.base_prefix)"], text=True
    ).strip()
    packages = pathlib.Path(engine.c_api.find_package("tensorflow")).parent
    started = subprocess.Popen(
        [python, PROGRAM, engine.__file__, graph, packages],
        env={**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib", "PYTHONPATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=sys.stderr.fileno() if sys.stderr is sys.__stderr__ else None,
        text=True,
    )
    with started:
        for line in started.stdout:
            if line.startswith('{"http"'):
                break
        else:
            pytest.fail(f"the server ended with {started.wait()}")
        said = json.loads(line)
        assert said["foreign"] == []
        yield said["http"], said["metrics"]
        started.stdin.close()
        started.wait(60)


def called(url, body=None):
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=120) as said:
        return json.load(said)


def counted(address, name):
    """A counter of Triton's, for Prometheus."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as said:
        text = said.read().decode()
    (value,) = re.findall(rf"^nv_inference_{name}{{.*}} (\d+)", text, re.MULTILINE)
    return int(value)


def test_concurrent_requests_share_batches(triton, translator):
    texts = texts_of(REQUESTS)
    http, metrics = triton

    def ask(text):
        field = {"name": "text", "shape": [1, 1], "datatype": "BYTES", "data": [text]}
        found = called(f"http://{http}/v2/models/model/infer", {"inputs": [field]})[
            "outputs"
        ]
        return {each["name"]: each["data"][0] for each in found}

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(ask, texts))
    expected = translator.translate(texts)
    assert [x["translation"] for x in found] == [x.text for x in expected]
    scores = [x.score for x in expected]
    assert [x["score"] for x in found] == pytest.approx(scores, abs=1e-5)
    assert [x["truncated"] for x in found] == [x.truncated for x in expected]
    requests, batches = (
        counted(metrics, name) for name in ("request_success", "exec_count")
    )
    print(f"{requests} requests in {batches} batches")
    assert requests == REQUESTS and batches < REQUESTS / 2
