import dataclasses

import pytest
import tensorflow as tf

from keras_attention.data.batching import encode_pairs
from keras_attention.data.corpora import read_pairs
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.presets import PRESETS
from keras_attention.training.prepare import choose_config, fingerprint, prepare
from keras_attention.training.workdir import write_config

SIZE = 50


def overrides(**parts):
    return {"transformer": {}, "training": {}, "decoding": {}, **parts}


@pytest.fixture
def read(tmp_path, tiny_corpus):
    """Prepares a run in a workdir that stays the same within a test."""
    corpora = (read_pairs(*tiny_corpus), None)

    def call(workdir=tmp_path / "run", corpora=corpora, preset="tiny", **parts):
        parts.setdefault("transformer", {"vocabulary_size": SIZE})
        workdir.mkdir(exist_ok=True)
        strategy = tf.distribute.get_strategy()
        return prepare(workdir, None, corpora, preset, overrides(**parts), strategy)

    return call


def test_preset_and_overrides_make_the_configuration():
    config = choose_config(None, "tiny", overrides(training={"seed": 7}), SIZE)
    assert config["preset"] == "tiny"
    assert config["transformer"].model_dim == 128
    assert config["transformer"].vocabulary_size == SIZE
    assert config["training"].seed == 7
    assert choose_config(None, None, overrides(), SIZE)["preset"] == "base"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_makes_a_configuration(name):
    assert choose_config(None, name, overrides(), SIZE)["preset"] == name


def test_without_a_preset_a_run_goes_on_as_it_is_recorded():
    recorded = choose_config(None, "tiny", overrides(training={"seed": 7}), SIZE)
    config = choose_config(recorded, None, overrides(training={"max_steps": 3}), SIZE)
    assert config["preset"] == "tiny"
    assert config["training"] == recorded["training"].replace(max_steps=3)
    assert config["transformer"] == recorded["transformer"]


def test_the_tokenizer_is_learned_once(read, tmp_path):
    first = read()
    assert first.tokenizer.vocabulary_size == SIZE
    assert first.config["data"]["pairs"] == 6
    assert first.valid_batches is None
    again = read(transformer={})
    assert again.tokenizer.sha256 == first.tokenizer.sha256
    assert "6 pairs" in first.describe() and "real tokens" in first.describe()


def test_a_vocabulary_size_is_needed_to_learn(read):
    with pytest.raises(ValueError, match="`vocabulary_size` is needed to learn"):
        read(transformer={})


def test_another_vocabulary_size_than_the_workdirs_is_refused(read):
    read()
    with pytest.raises(ValueError, match=f"tokenizer, {SIZE}. Received: 40"):
        read(transformer={"vocabulary_size": 40})


@pytest.fixture
def begun(read, tmp_path):
    """A run with a checkpoint."""
    write_config(tmp_path / "run", read().config)
    (tmp_path / "run" / "checkpoints" / "step-1").mkdir(parents=True)


def test_before_the_first_checkpoint_a_configuration_may_change(read, tmp_path):
    write_config(tmp_path / "run", read().config)
    assert read(training={"seed": 2}).config["training"].seed == 2


def test_another_configuration_than_the_workdirs_is_refused(read, begun):
    read(training={"max_steps": 3})
    with pytest.raises(ValueError, match=r"training\.seed: 1 in the workdir, 2 asked"):
        read(training={"seed": 2})


def test_other_pairs_than_the_workdirs_are_refused(read, begun, tiny_corpus):
    corpus = read_pairs(*tiny_corpus)
    fewer = dataclasses.replace(
        corpus, sources=corpus.sources[1:], targets=corpus.targets[1:]
    )
    with pytest.raises(ValueError, match="training pairs are not those"):
        read(corpora=(fewer, None))


def test_the_recorded_sources_are_read_again(tmp_path, tiny_corpus):
    files = {
        name: [str(path)]
        for name, path in zip(
            ("train_source", "train_target"), tiny_corpus, strict=True
        )
    }
    size = {"transformer": {"vocabulary_size": SIZE}}
    strategy = tf.distribute.get_strategy()
    first = prepare(tmp_path, files, None, "tiny", overrides(**size), strategy)
    write_config(tmp_path, first.config)
    again = prepare(tmp_path, None, None, None, overrides(), strategy)
    assert again.config == first.config


def test_without_any_source_there_is_no_run(tmp_path):
    with pytest.raises(ValueError, match="Expected exactly one of"):
        prepare(tmp_path, None, None, "tiny", overrides(), tf.distribute.get_strategy())


def test_fingerprint_sees_every_id(tiny_corpus):
    corpus = read_pairs(*tiny_corpus)
    tokenizer = SubwordTokenizer.learn_from_lines(corpus.lines(), SIZE)
    encoded = encode_pairs(corpus, tokenizer, 99, 99)
    changed = encoded.source_tokens.copy()
    changed[0] += 1
    other = dataclasses.replace(encoded, source_tokens=changed)
    assert fingerprint(encoded) == fingerprint(encoded) != fingerprint(other)


def test_learned_positions_hold_the_longest_pair():
    def choose(**training):
        parts = {"transformer": {"positions": "learned", "max_length": 20}}
        return choose_config(None, "tiny", overrides(**parts, training=training), SIZE)

    choose(max_source_length=19, max_target_length=19)
    for side in ("source", "target"):
        lengths = {"max_source_length": 19, "max_target_length": 19}
        lengths[f"max_{side}_length"] = 20
        with pytest.raises(
            ValueError, match=f"be below `max_length`.*max_{side}_length=20.*th=20"
        ):
            choose(**lengths)


@pytest.mark.parametrize("field", ["patience", "validation_steps"])
def test_validation_needs_pairs(read, tiny_corpus, field):
    with pytest.raises(ValueError, match=f"{field}=2 and no validation pairs"):
        read(training={field: 2})
    pairs = read_pairs(*tiny_corpus)
    assert read(training={field: 2}, corpora=(pairs, pairs)).valid_batches is not None


def test_a_tokenizer_that_was_half_written_is_learned_again(read, tmp_path):
    first = read()
    (tmp_path / "run" / "tokenizer" / "tokenizer.json").unlink()
    assert read().tokenizer.sha256 == first.tokenizer.sha256
    assert (tmp_path / "run" / "tokenizer" / "tokenizer.json").exists()


def test_another_tokenizer_than_the_runs_is_refused(read, begun, tmp_path):
    other = SubwordTokenizer.learn_from_lines(["we were not here or there"], 20)
    other.save(tmp_path / "run" / "tokenizer")
    with pytest.raises(ValueError, match="tokenizer is not the one the run began with"):
        read(transformer={})


def test_a_workdir_without_tokenizer_takes_that_of_the_initial_run(
    read, tmp_path, tiny_corpus
):
    first = read(tmp_path / "first")
    corpora = (read_pairs(*reversed(tiny_corpus)), None)
    second = tmp_path / "second"
    second.mkdir()
    strategy = tf.distribute.get_strategy()
    inputs = prepare(
        second, None, corpora, "tiny", overrides(), strategy, tmp_path / "first"
    )
    assert inputs.tokenizer.sha256 == first.tokenizer.sha256
    assert inputs.config["initial_workdir"] == str(tmp_path / "first")
    write_config(second, inputs.config)
    again = prepare(second, None, corpora, "tiny", overrides(), strategy)
    assert again.config == inputs.config
