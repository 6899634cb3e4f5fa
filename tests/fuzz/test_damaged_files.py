"""Damaged files are read rightly or refused in words; the process survives them."""

import json
import pathlib
import random
import subprocess
import sys

import pytest

from tests.fuzz import campaign, json_readers, readers
from tests.fuzz.outcomes import outcome

READERS = {
    reader.__name__: reader
    for reader in (
        *(readers.Corpora, readers.PackedCorpora, readers.Trees, readers.Parameters),
        *(readers.Encoded, readers.Tokenizer, readers.WordPieces),
        *(json_readers.RunConfig, json_readers.SearchConfig, json_readers.Metrics),
        *(json_readers.Manifest, json_readers.Table),
    )
}


@pytest.mark.parametrize("count", campaign.levels(8, 100, 10_000))
@pytest.mark.parametrize("name", READERS)
def test_cheap_readers(name, count, tmp_path):
    reader = READERS[name](tmp_path / "place")
    figures = campaign.Figures(f"damaged files, {name}")
    for seed in range(campaign.SEED, campaign.SEED + count):
        damaged = reader.damage(random.Random(f"{name} {seed}"))
        found, problem = outcome(reader)
        if problem:
            figures.fault(seed, f"{damaged}: {problem}", reader.bytes_of(damaged))
        figures.add(found or "faults of these")
        reader.restore(damaged)
    figures.add("inputs", count)
    figures.finish()


MOST_DEATHS = 5


def read_in_children(name, count, folder, figures):
    """Goes on in a new process behind a file that ended one."""
    seed, end, deaths = campaign.SEED, campaign.SEED + count, 0
    results = folder / "results.jsonl"
    while seed < end and deaths < MOST_DEATHS:
        numbers = [str(seed), str(end - seed)]
        child = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.child", name, *numbers, str(folder)],
            cwd=pathlib.Path(__file__).parents[2],
            capture_output=True,
            check=False,
        )
        told = results.read_text().splitlines() if results.exists() else []
        told = [json.loads(line) for line in told]
        if child.returncode == 0:
            break
        deaths += 1
        said = child.stderr.decode("utf-8", "replace")[-600:]
        if not told:
            pytest.fail(f"{name}: its files could not be made: {said}", pytrace=False)
        seed = told[-1].get("begins", seed)
        figures.fault(seed, f"the process ended with {child.returncode}: {said}")
        seed += 1
    for one in told:
        if "seed" in one:
            figures.add(one["found"] or "faults of these")
            if one["problem"]:
                what = f"{one['file']}: {one['problem']}"
                figures.fault(one["seed"], what, one["input"])
    return sum("seed" in one for one in told)


@pytest.mark.parametrize("count", campaign.levels(0, 60, 10_000)[1:])
def test_checkpoints(count, tmp_path):
    figures = campaign.Figures("damaged files, Checkpoint")
    figures.add("inputs", read_in_children("Checkpoint", count, tmp_path, figures))
    figures.finish()


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["Model", "Workdir", "SavedModel"])
def test_models(name, tmp_path):
    figures = campaign.Figures(f"damaged files, {name}")
    count = campaign.count(300)
    figures.add("inputs", read_in_children(name, count, tmp_path, figures))
    figures.finish()


@pytest.mark.slow
def test_some_models(tmp_path):
    figures = campaign.Figures("damaged files, Model")
    figures.add("inputs", read_in_children("Model", 12, tmp_path, figures))
    figures.finish()
