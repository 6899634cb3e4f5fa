"""The commands of docs/wmt14.md: their values are the paper's, and they run."""

import importlib
import json
import re
import shlex

import pytest
from absl import flags
from absl.testing import flagsaver

from keras_attention import config
from keras_attention.training.progress import read_metrics
from trainers import train_translation

FLAGS = flags.FLAGS
FLAGS.mark_as_parsed()

# Sections 5 and 6.1, Table 3: (vocabulary, kind, layers, width, heads, inner width,
# dropout, updates, averaged).
BASE, BIG = (6, 512, 8, 2048), (6, 1024, 16, 4096)
PAPER = {
    "en-de-base": (37_000, "bpe", *BASE, 0.1, 100_000, 5),
    "en-de-big": (37_000, "bpe", *BIG, 0.3, 300_000, 20),
    "en-fr-base": (32_000, "wordpiece", *BASE, 0.1, 100_000, 5),
    "en-fr-big": (32_000, "wordpiece", *BIG, 0.1, 300_000, 20),
}
PAIRS = [
    ("the dog runs .", "der Hund läuft ."),
    ("the cat sleeps .", "die Katze schläft ."),
    ("a child plays .", "ein Kind spielt ."),
    ("a red-brown dog plays .", "ein rot-brauner Hund spielt ."),
    ("the child runs .", "das Kind läuft ."),
] * 4
SMALLER = """
--vocabulary_size 60 --num_layers 1 --model_dim 16 --num_heads 2 --feed_forward_dim 32
--batch_tokens 256 --rows_multiple 2 --max_steps 3 --checkpoint_steps 1
--validation_sentences 2 --max_extra_length 3 --verbosity -1
"""


def commands(repository):
    """The commands of the page, as lists of words."""
    page = (repository / "docs" / "wmt14.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    return [
        shlex.split(line) for line in blocks.replace("\\\n", " ").split("\n") if line
    ]


def of(repository, name):
    """The commands of one program."""
    return [words for words in commands(repository) if words[0] == name]


def run(words, *more):
    """Runs the `main` of a program with its flags; later ones win."""
    name = words[0].removeprefix("ka-").replace("-", "_")
    binary = importlib.import_module(f"trainers.{name}")
    with flagsaver.flagsaver():
        assert FLAGS([*words, *more]) == words[:1]
        return binary.main()


def test_every_command_is_one_that_this_file_knows(repository):
    names = [words[0] for words in commands(repository)]
    known = {"ka-train-translation": 4, "ka-evaluate-translation": 4, "sacrebleu": 4}
    assert {name: names.count(name) for name in names} == known


def test_the_values_are_those_of_the_paper(repository):
    found = {}
    for words in of(repository, "ka-train-translation"):
        with flagsaver.flagsaver():
            FLAGS(words)
            preset, recipe = FLAGS.preset, FLAGS.workdir.removeprefix("runs/")
            assert FLAGS.source_language == recipe[:2]
            assert FLAGS.target_language == recipe[3:5]
            assert FLAGS.tfds == f"wmt14_translate/{recipe[3:5]}-{recipe[:2]}"
            model = config.TransformerConfig.from_preset(
                preset, **train_translation.TRANSFORMER()
            )
            training = config.TrainingConfig.from_preset(
                preset, **train_translation.TRAINING()
            )
            decoding = config.DecodingConfig.from_preset(
                preset, **train_translation.DECODING()
            )
        found[recipe] = (
            *(model.vocabulary_size, training.tokenizer_kind, model.num_layers),
            *(model.model_dim, model.num_heads, model.feed_forward_dim),
            *(model.dropout_rate, training.max_steps, training.average_checkpoints),
        )
        assert (training.batch_tokens, training.warmup_steps) == (25_000, 4_000)
        assert (training.label_smoothing, training.checkpoint_minutes) == (0.1, 10.0)
        assert (training.beta_1, training.beta_2) == (0.9, 0.98)
        assert (decoding.beam_size, decoding.length_penalty_alpha) == (4, 0.6)
        assert decoding.max_extra_length == 50
    assert found == PAPER


def test_the_test_sets_are_known_to_sacrebleu(repository):
    from sacrebleu.dataset import DATASETS

    files = {}
    for _, _, name, _, pair, _, side, _, file in of(repository, "sacrebleu"):
        assert pair in DATASETS[name].langpairs
        assert file == f"newstest2014.{pair}.{pair.split('-')[side == 'ref']}"
        files[file] = side
    wanted = {}
    for words in of(repository, "ka-evaluate-translation"):
        wanted[words[words.index("--source") + 1]] = "src"
        wanted[words[words.index("--reference") + 1]] = "ref"
    assert files == wanted


def test_the_data_set_can_be_prepared():
    pytest.importorskip("importlib_resources", reason="TFDS prepares nothing without")
    from tensorflow_datasets.translate.wmt14 import Wmt14Translate

    assert Wmt14Translate.code_path.name == "wmt14.py"


def stand_in(folder):
    """Writes data sets as WMT14 has them for TensorFlow Datasets, of a few pairs."""
    from tensorflow_datasets.translate.wmt14 import Wmt14Translate

    class StandIn(Wmt14Translate, skip_registration=True):
        __module__ = "stand_in"  # has no file, so none is looked for beside it
        name = "wmt14_translate"

        def _split_generators(self, dl_manager):
            counts = {"train": len(PAIRS), "validation": 3, "test": 3}
            return {split: self._generate_examples(n) for split, n in counts.items()}

        def _generate_examples(self, count):
            other, english = self.builder_config.language_pair
            for number, (source, target) in enumerate(PAIRS[:count]):
                yield number, {english: source, other: target}

    for pair in ("de-en", "fr-en"):
        StandIn(config=pair, data_dir=folder).download_and_prepare()


@pytest.mark.slow
def test_they_run_from_the_first_to_the_last(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stand_in("data")
    for words in of(repository, "ka-train-translation"):
        assert run(words, "--tfds_data_dir", "data", *SMALLER.split()) == 0
    for words in of(repository, "sacrebleu"):
        side = 1 if "ref" in words else 0
        text = "".join(f"{pair[side]}\n" for pair in PAIRS[:5])
        (tmp_path / words[-1]).write_text(text, encoding="utf-8")
    for words in of(repository, "ka-evaluate-translation"):
        run(words, "--verbosity", "-1")
    printed = capsys.readouterr().out
    for recipe, (_, kind, *_, averaged) in PAPER.items():
        workdir = tmp_path / "runs" / recipe
        report = json.loads((workdir / "bleu.json").read_text(encoding="utf-8"))
        assert report["config"]["training"]["tokenizer_kind"] == kind
        assert report["config"]["training"]["average_checkpoints"] == averaged
        assert report["decoding"]["beam_size"] == 4
        metrics = read_metrics(workdir / "metrics.jsonl")
        (average,) = [r for r in metrics if r["kind"] == "average"]
        assert average["steps"] == [1, 2, 3]  # all that there are
        name = "moses-de+compounds" if "-de-" in recipe else "moses-fr"
        assert f"tok:{name}" in report["tokenized_bleu"]["signature"]
        assert report["training_cost"]["estimated_flops"] > 0
        assert f"{report['tokenized_bleu']['signature']}\n" in printed
        assert f"{report['signature']}\n" in printed
