"""Several models in one process, and the end of a process."""

import concurrent.futures
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_attention as ka

LINES = ["to be or not to be", "that is the question", "whether it is nobler"] * 4
TEXTS = [*LINES[:3], "to be", "question", "it is nobler to be", "nobler"] * 3
pytestmark = pytest.mark.slow


def make(seed, size, dtype="float32", **fields):
    """A model of its own sizes and vocabulary that says something."""
    keras.utils.set_random_seed(seed)
    tokenizer = ka.SubwordTokenizer.learn_from_lines(LINES, size)
    config = ka.TransformerConfig(size, num_layers=1, num_heads=2, **fields)
    model = ka.build_transformer(config, dtype_policy=dtype)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)
    decoding = ka.DecodingConfig(beam_size=2, max_extra_length=3)
    return ka.Translator(model, tokenizer, decoding)


def said(translator):
    return [(x.text, x.score) for x in translator.translate(TEXTS)]


def test_models_of_one_process_leave_each_other_alone():
    """Different sizes, vocabularies and policies, at once and while one is trained."""
    one = make(1, 24, model_dim=8, feed_forward_dim=16)
    alone = said(one)
    other = make(2, 32, "mixed_bfloat16", model_dim=16, feed_forward_dim=8)
    other_alone = said(other)
    learner = make(3, 28, model_dim=8, feed_forward_dim=8).model
    learner.compile(ka.make_optimizer(8, 10), loss=ka.LabelSmoothedCrossEntropy())
    ids = np.random.default_rng(0).integers(4, 28, (8, 6)).astype("int32")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [pool.submit(said, x) for x in (one, other, one, other)]
        inputs = {"source_ids": ids, "target_ids": ids}
        learner.fit(inputs, ids, batch_size=4, epochs=2, verbose=0)
    assert [x.result() for x in found] == [alone, other_alone] * 2
    assert keras.config.dtype_policy().name == "float32"


PROGRAM = """
import threading
from tests.integration.test_one_process import make, said
one = make(1, 24, model_dim=8, feed_forward_dim=16)
thread = threading.Thread(target=said, args=(one,))
thread.start()
said(one)
thread.join()
print("said", flush=True)
{end}
"""


@pytest.mark.parametrize(
    ("end", "code", "last"),
    [
        ("", 0, None),
        ("raise SystemExit(3)", 3, None),
        ("raise KeyError('of the user')", 1, "KeyError: 'of the user'"),
    ],
)
def test_the_interpreter_ends_without_a_word(end, code, last):
    """Whatever threads and graphs there were: its own exit code, nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end)],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "said\n", done.stderr
    assert done.returncode == code
    lines = [x for x in done.stderr.splitlines() if x and not of_tensorflow(x)]
    # All that is said is what the user's own program raised.
    assert bool(lines) == bool(last), lines
    assert done.stderr.count("Traceback") == len(lines[-1:])
    assert lines[-1:] == [last][: len(lines[-1:])]


def of_tensorflow(line):
    """Whether TensorFlow says this while it is imported."""
    return line.startswith(("WARNING: All log", "I0000", "E0000", "W0000"))
