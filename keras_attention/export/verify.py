"""Whether a server can run a version, and says what the translator says."""

import dataclasses
import logging
import math
import pathlib
import statistics
import time

import numpy as np

from keras_attention.decoding.texts import check_texts
from keras_attention.export import engine
from keras_attention.export.allowed_ops import check_ops
from keras_attention.export.checksums import check_manifest
from keras_attention.export.guard import check_restored, load_meta_graph
from keras_attention.export.warmup import (
    WarmupRequest,
    read_warmup,
    signature_inputs,
    warmup_texts,
)

_LOGGER = logging.getLogger(__name__)
SIGNATURE = "serving_default"
MOST_TEXTS = 1_000
LONGEST = 30  # pieces of a made-up text
ROWS = 32  # texts of one request of the comparison
REPEATS = 4  # of one request, for the time that later ones take
TOLERANCE = 1e-5  # of scores, relative where they are above 1
SECONDS = 1_800  # that the engine may take in all, and beside that
SLOWER = 5  # times what the translator took


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """What was found of a version that passed.

    Attributes:
        version: its folder.
        engine: the version of TensorFlow that ran it.
        load_seconds: until the session was open.
        replayed: requests of the warm-up that were answered.
        cold_seconds: {signature: its first request of all, which the warm-up pays}.
        first_seconds: {signature: its first request after the warm-up}.
        steady_seconds: {signature: the median of the same request's repetitions}.
        compared: texts of which the translations are equal.
        largest_difference: of two scores among those, relative above 1.
    """

    version: pathlib.Path
    engine: str
    load_seconds: float
    replayed: int
    cold_seconds: dict[str, float]
    first_seconds: dict[str, float]
    steady_seconds: dict[str, float]
    compared: int = 0
    largest_difference: float = 0.0


def verify_saved_model(version, translator=None, texts=None, package=None):
    """Refuses a version that a server would not run, or would run differently.

    Without running anything: the operations are those of the list, loading fills all
    variables and tables, weights and subword model are those of the manifest, and the
    warm-up asks for every signature. Then a child process loads the version in the
    C++ engine that TensorFlow Serving uses, with XLA off, and replays the warm-up.

    Args:
        version: the folder of a version; one that is not finished may be checked too.
        translator: the `Translator` that was exported; None = nothing is compared.
        texts: list of str or bytes to compare, of which the first 1 000 count; None =
            1 000 that are made up of the tokenizer's pieces.
        package: folder with the `tensorflow/` and `tensorflow_text/` to run it with,
            of another release for example; None = those that are installed.

    Returns:
        `VerificationReport`.

    Raises:
        ValueError: what is wrong with the version.

    Reference:
        https://www.tensorflow.org/tfx/serving/saved_model_warmup
    """
    version, folders = pathlib.Path(version), [package] if package else _installed()
    check_ops(version)
    check_restored(version)
    check_manifest(version)
    warmup = read_warmup(version)
    _check_complete(version, warmup)
    texts = _compared_texts(translator, texts)
    parts = {
        "warmup": [_request(x.signature, x.inputs) for x in warmup],
        "repeated": [_request(x.signature, x.inputs) for x in _repeated(warmup)],
        "compared": [
            _request(SIGNATURE, {"text": np.array(texts[row : row + ROWS], object)})
            for row in range(0, len(texts), ROWS)
        ],
    }
    expected, seconds = _expected(translator, texts)
    found = _run(version, parts, folders, SECONDS + SLOWER * seconds)
    cold: dict[str, float] = {}
    for request, (_, seconds) in zip(warmup, found["warmup"], strict=True):
        cold.setdefault(request.signature, seconds)
    times = [seconds for _, seconds in found["repeated"]]
    return VerificationReport(
        version=version,
        engine=found["engine"],
        load_seconds=found["load_s"],
        replayed=len(warmup),
        cold_seconds=cold,
        first_seconds=dict(zip(cold, times[::REPEATS], strict=True)),
        steady_seconds={
            key: statistics.median(times[row * REPEATS + 1 : (row + 1) * REPEATS])
            for row, key in enumerate(cold)
        },
        compared=len(texts),
        largest_difference=_compare(version, expected, found["compared"]),
    )


def _installed():
    """Returns where Python found TensorFlow; a child process may look elsewhere."""
    packages = map(engine.c_api.find_package, engine.c_api.PACKAGES)
    return sorted({folder.parent for folder in packages if folder})


def _check_complete(version, warmup):
    """Refuses a warm-up that leaves out a signature, or asks for what is not there."""
    asked = {request.signature for request in warmup}
    known = set(signature_inputs(load_meta_graph(version)))
    if asked != known:
        raise ValueError(
            f"Expected warm-up requests for the signatures {sorted(known)} of "
            f"{str(version)!r}. Received: requests for {sorted(asked)}. Export the "
            f"version again."
        )


def _repeated(warmup):
    """Returns the first request of each signature, so often that it can be timed."""
    first: dict[str, WarmupRequest] = {}
    for request in warmup:
        first.setdefault(request.signature, request)
    return [request for request in first.values() for _ in range(REPEATS)]


def _compared_texts(translator, texts):
    if translator is None:
        return []
    if texts is None:
        lengths = [2 + row % LONGEST for row in range(MOST_TEXTS)]
        texts = warmup_texts(translator.tokenizer, lengths)
    return check_texts("texts", texts)[:MOST_TEXTS]


def _request(signature, inputs):
    """Returns a request as the engine's process reads it."""
    return {
        "signature": signature,
        "inputs": {
            name: {
                "values": [
                    x.decode("latin-1") if isinstance(x, bytes) else x
                    for x in array.ravel().tolist()
                ],
                "shape": list(array.shape),
            }
            for name, array in inputs.items()
        },
    }


def _expected(translator, texts):
    """Returns (what the translator says of the texts, the seconds that it took)."""
    if not texts:
        return [], 0.0
    _LOGGER.info("translating %d texts, to compare", len(texts))
    began = time.monotonic()
    expected = translator.translate(texts, num_hypotheses=1)
    return expected, time.monotonic() - began


def _run(version, parts, folders, timeout):
    """Runs the parts one after the other; answers become (outputs, seconds)."""
    requests = [request for part in parts.values() for request in part]
    found = engine.answers(version, requests, folders, timeout)
    if "load_error" in found:
        raise ValueError(
            f"Expected a version that the C++ engine can load. Received: "
            f"{str(version)!r}, {found['load_error']}. A server could not load it."
        )
    pairs = zip(requests, found["answers"], strict=True)
    answers = iter([_checked(version, *pair) for pair in pairs])
    read = {name: [next(answers) for _ in part] for name, part in parts.items()}
    return {**read, "engine": found["engine"], "load_s": found["load_s"]}


def _checked(version, request, answer):
    """Returns (outputs, seconds) of an answer that a server could give."""
    problem, outputs = answer.get("error"), answer.get("outputs", {})
    rows = {x["shape"][0] for x in request["inputs"].values()}
    for name, array in outputs.items():
        if {*array["shape"][:1]} != rows:
            problem = f"the shape {array['shape']} of {name!r}, not a row for each text"
        values = array["values"]
        if any(isinstance(x, float) and not math.isfinite(x) for x in values):
            problem = f"a value of {name!r} that is no finite number"
    if problem:
        raise ValueError(
            f"Expected a version that answers {request['signature']!r}. Received: "
            f"{str(version)!r}, {problem}. A server would not serve it."
        )
    return outputs, answer["seconds"]


def _compare(version, expected, answers):
    """Returns the largest difference of scores; texts must be equal."""
    largest = 0.0
    columns = {
        name: [x for outputs, _ in answers for x in outputs[name]["values"]]
        for name in ("translation", "score", "truncated")
    }
    for row, ours in enumerate(expected):
        text = columns["translation"][row].encode("latin-1").decode("utf-8", "replace")
        score, truncated = columns["score"][row], columns["truncated"][row]
        difference = abs(score - ours.score) / max(1.0, abs(ours.score))
        same = (text, truncated) == (ours.text, ours.truncated)
        if not same or not difference <= TOLERANCE:
            raise ValueError(
                f"Expected {str(version)!r} to translate as the translator does: "
                f"{ours.text!r}, score {ours.score:.6f}, truncated {ours.truncated}. "
                f"Received: {text!r}, {score:.6f}, {truncated}, for text {row + 1} of "
                f"{len(expected)}. Is it the export of this run, with its settings?"
            )
        largest = max(largest, difference)
    return largest
