"""Rows as flags, and what the rows of one table must share."""

import pytest
from absl import flags
from absl.testing import flagsaver

from keras_attention.config import TrainingConfig, TransformerConfig
from keras_attention.studies import ablation_flags
from keras_attention.studies.ablation_rows import ALL_ROWS, make_base, make_row
from trainers import train_translation

TRANSFORMER = {"num_layers": 3, "num_heads": 8, "use_bias": True, "dropout_rate": 0.1}
TRAINING = {"max_minutes": 0.1, "jit_compile": False, "seed": 9}


@pytest.mark.parametrize("name", ALL_ROWS)
def test_the_binary_reads_the_row_from_its_flags(name):
    base = make_base("tiny", TRANSFORMER, TRAINING, {"beam_size": 2})
    row = make_row(name, base)
    given = ablation_flags.row_flags(row)
    with flagsaver.flagsaver():
        flags.FLAGS(["train_translation", *given])
        assert flags.FLAGS.preset == name
        found = TransformerConfig.from_preset(
            name, **{"vocabulary_size": 37_000, **train_translation.TRANSFORMER()}
        )
        assert found == row.transformer
        training = TrainingConfig.from_preset(name, **train_translation.TRAINING())
        assert training == row.training
        assert train_translation.DECODING() == {"beam_size": 2}
    flags.FLAGS.mark_as_parsed()


@pytest.mark.parametrize("name", [name for name in ALL_ROWS if name != "base"])
def test_with_the_base_of_the_paper_the_preset_says_all(name):
    row = make_row(name, make_base("base"))
    assert ablation_flags.row_flags(row) == [f"--preset={name}"]


def test_the_base_is_told_not_to_average():
    told = ablation_flags.row_flags(make_base("base"))
    assert told == ["--preset=base", "--average_checkpoints=1"]


def test_data_becomes_flags():
    data = {"tfds": "translate_folder", "source_language": "en", "synthetic": None}
    assert ablation_flags.data_flags(data) == [
        "--tfds=translate_folder",
        "--source_language=en",
    ]
    assert ablation_flags.data_flags({"synthetic": True}) == ["--synthetic"]


def record(training=None, data=None, size=500):
    base = make_base("tiny", None, training)
    return ablation_flags.table_record(base, size, data or {"train_sha256": "a"})


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"training": {"max_steps": 7}}, "training.max_steps: 20000 there, 7 now"),
        ({"training": {"seed": 2}}, "training.seed: 1 there, 2 now"),
        ({"size": 600}, "vocabulary_size: 500 there, 600 now"),
        ({"data": {"train_sha256": "b"}}, "data.train_sha256: 'a' there, 'b' now"),
        ({"data": {"train_sha256": "a", "x": 1}}, "data.x: None there, 1 now"),
    ],
)
def test_a_table_made_with_other_flags_is_refused(other, told):
    with pytest.raises(ValueError, match=f"made with other flags.*{told}"):
        ablation_flags.check_same_table(record(), record(**other))


def test_how_a_run_looks_at_itself_may_change():
    other = {"log_steps": 3, "checkpoint_steps": 5, "validation_sentences": 0}
    ablation_flags.check_same_table(record(), record(other))
    assert set(ablation_flags._FREE) < set(TrainingConfig.__dataclass_fields__)


def test_the_size_of_the_vocabulary_is_that_of_the_pieces():
    assert ablation_flags.checked_vocabulary_size(None, 40) == 40
    assert ablation_flags.checked_vocabulary_size(40, None) == 40
    with pytest.raises(ValueError, match="is needed to learn.*Received: None"):
        ablation_flags.checked_vocabulary_size(None, None)
    with pytest.raises(ValueError, match="the table's tokenizer, 40. Received: 50"):
        ablation_flags.checked_vocabulary_size(50, 40)
