"""Whatever text comes in: as many answers, each of its own text, in valid words."""

import math
import pathlib
import random
import re
import subprocess
import sys

import pytest

from tests.fuzz import campaign
from tests.fuzz.small import LINES, make_translator, save_run
from tests.fuzz.texts import as_line, draw, to_bytes

ROOT = pathlib.Path(__file__).parents[2]
BATCH = 256
ALONE = 2  # texts of a batch that are answered again alone
SPECIAL = re.compile(r"\[(PAD|UNK|START|END)\]|</?s>|<unk>|\ufffd")


@pytest.fixture(scope="module")
def translator():
    return make_translator()


@pytest.fixture(scope="module")
def served(translator, tmp_path_factory):
    """The signature that TensorFlow Serving would call, from the disk."""
    import tensorflow as tf

    from keras_attention.export.translation_module import TranslationModule

    folder = str(tmp_path_factory.mktemp("export") / "1")
    module = TranslationModule(translator, max_beam_size=2)
    function = {"serving_default": module.signatures["serving_default"]}
    tf.saved_model.save(module, folder, signatures=function)
    loaded = tf.saved_model.load(folder)
    yield loaded.signatures["serving_default"]
    del loaded  # the functions do not keep the variables alive that they read


def batches(count):
    """Yields the seeds and the texts of each batch."""
    end = campaign.SEED + count
    for first in range(campaign.SEED, end, BATCH):
        seeds = range(first, min(first + BATCH, end))
        yield seeds, [draw(seed) for seed in seeds]


def run(name, count, check):
    """Calls `check(seeds, texts, fault)` for each batch; prints the figures."""
    figures = campaign.Figures(f"texts, {name}")
    for seeds, texts in batches(count):
        by_seed = dict(zip(seeds, texts, strict=True))

        def fault(seed, what, texts=by_seed):
            figures.fault(seed, what, texts[seed])

        before = figures.counts["faults"]
        check(seeds, texts, fault)
        figures.add("answered", len(texts) - (figures.counts["faults"] - before))
    figures.finish()


def sample(seeds):
    return random.Random(seeds[0]).sample(range(len(seeds)), min(ALONE, len(seeds)))


def wrong_text(text):
    """What is wrong with a text that came out, bytes or str; "" for nothing."""
    try:
        text = text.decode() if isinstance(text, bytes) else text.encode().decode()
    except UnicodeError as error:
        return f"is no UTF-8 ({error})"
    return f"holds {SPECIAL.search(text)[0]!r}" if SPECIAL.search(text) else ""


@pytest.mark.parametrize("count", campaign.levels(256, 2_000, 100_000))
def test_tokenizer(count, translator):
    tokenizer = translator.tokenizer
    forbidden = {0, 2, 3}

    def check(seeds, texts, fault):
        ids = tokenizer.tokenize(texts)
        rows, back = ids.to_list(), tokenizer.detokenize(ids)
        again = tokenizer.tokenize(back).to_list()
        assert len(rows) == len(texts) == len(back)
        for seed, row, text, second in zip(
            seeds, rows, back.numpy(), again, strict=True
        ):
            if forbidden & {*row} or not all(0 < x < 40 for x in row):
                fault(seed, f"became {row}:")
            if problem := wrong_text(text):
                fault(seed, f"came back as {text!r}, which {problem}:")
            if 1 not in row and row != second:
                fault(seed, f"{row} reads itself as {second}:")
        for place in sample(seeds):
            (alone,) = tokenizer.tokenize([texts[place]]).to_list()
            if alone != rows[place]:
                fault(seeds[place], f"{rows[place]}, alone {alone}:")

    run("tokenizer", count, check)


def wrong_translation(found):
    """What is wrong with a `Translation`; "" for nothing."""
    most = 8
    for each in found.hypotheses:
        if problem := wrong_text(each.text):
            return f"{each.text!r} {problem}"
        if not math.isfinite(each.score) or {0, 2} & {*each.ids} or 3 in each.ids[:-1]:
            return f"score {each.score}, ids {each.ids}"
        if len(each.ids) != each.length:
            return f"{len(each.ids)} ids of length {each.length}"
    if found.truncated != (found.source_length > most):
        return f"truncated={found.truncated} of {found.source_length} pieces"
    empty = (found.text, found.score, found.length) == ("", 0.0, 0)
    if (found.source_length == 0) != empty:
        return f"{found.source_length} pieces give {found.text!r}"
    return ""


@pytest.mark.parametrize("count", campaign.levels(64, 1_000, 100_000))
def test_translator(count, translator):
    def check(seeds, texts, fault):
        found = translator.translate(texts)
        assert len(found) == len(texts)
        for seed, one in zip(seeds, found, strict=True):
            if problem := wrong_translation(one):
                fault(seed, problem)
        for place in sample(seeds):
            (alone,), beside = translator.translate([texts[place]]), found[place]
            same = alone.hypotheses[0].ids == beside.hypotheses[0].ids
            # Of two hypotheses that score alike the one or the other is right.
            if abs(alone.score - beside.score) > (1e-4 if same else 1e-6):
                fault(seeds[place], f"{beside.text!r}, alone {alone.text!r}:")

    run("Translator", count, check)


@pytest.mark.parametrize("count", campaign.levels(0, 1_000, 100_000)[1:])
def test_export(count, translator, served):
    import tensorflow as tf

    def check(seeds, texts, fault):
        content = [to_bytes(text) for text in texts]
        answer = served(text=tf.constant(content))
        columns = [answer[x].numpy() for x in ("translation", "score", "truncated")]
        expected = translator.translate(texts, num_hypotheses=1)
        for seed, ours, text, score, cut in zip(seeds, expected, *columns, strict=True):
            said = text.decode("utf-8", "replace")
            near = abs(score - ours.score) <= 1e-5 * max(1.0, abs(ours.score))
            if wrong_text(text) or (said, bool(cut)) != (ours.text, ours.truncated):
                fault(seed, f"export {text!r} {cut}, translator {ours}:")
            elif not near:
                fault(seed, f"export {score}, translator {ours.score}:")
        for place in sample(seeds):
            alone = served(text=tf.constant(content[place : place + 1]))
            if alone["translation"].numpy()[0] != columns[0][place]:
                fault(seeds[place], "alone it is another translation:")

    run("serving_default", count, check)


def translate(workdir, source, target):
    """Runs the command as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "trainers.translate", "--workdir", workdir]
        + ["--input", source, "--output", target],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("count", campaign.levels(0, 1_000, 100_000)[1:])
def test_command(count, translator, tmp_path):
    """A file in, as many lines out, and no traceback."""
    from keras_attention.decoding.formats import one_line

    figures = campaign.Figures("texts, trainers.translate")
    seeds = range(campaign.SEED, campaign.SEED + count)
    lines = [as_line(draw(seed)) for seed in seeds]
    lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")  # the mark of a file, not a text
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"".join(line + b"\n" for line in lines))
    done = translate(save_run(translator, tmp_path / "run"), source, target)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert b"Traceback" not in done.stderr
    found = target.read_bytes().split(b"\n")
    assert len(found) == count + 1 and found.pop() == b""
    for seed, line in zip(seeds, found, strict=True):
        if problem := wrong_text(line):
            figures.fault(seed, f"{line!r} {problem}:", draw(seed))
    for first in range(0, count, 50 * BATCH):
        rows = range(first, min(first + BATCH, count))
        expected = translator.translate([lines[row] for row in rows])
        for row, ours in zip(rows, expected, strict=True):
            if found[row] != one_line(ours.text).encode():
                figures.fault(seeds[row], f"{found[row]!r}, not {ours.text!r}:")
    figures.add("lines out for as many in", count)
    figures.finish()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cut.gz", "no.gz"])
def test_a_damaged_input_is_one_line_of_error(name, translator, tmp_path):
    import gzip

    whole = gzip.compress("".join(f"{line}\n" for line in LINES).encode())
    content = {"cut.gz": whole[:-9], "no.gz": b"a text\n"}
    (tmp_path / name).write_bytes(content[name])
    run = save_run(translator, tmp_path / "run")
    done = translate(run, tmp_path / name, tmp_path / "target")
    assert done.returncode == 1
    errors = [x for x in done.stderr.decode().splitlines() if name in x]
    assert len(errors) == 1 and "no whole gzip file" in errors[0]
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "target").exists()
