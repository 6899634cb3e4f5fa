import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data.corpora import ParallelCorpus, read_pairs
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.presets import PRESETS
from keras_attention.training import prepare as rooms
from keras_attention.training.prepare import ENCODED, choose_config, prepare
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


def test_the_pairs_that_are_left_out_are_told(read, tiny_corpus):
    source, target = (path.read_text().split("\n")[:-1] for path in tiny_corpus)
    corpus = ParallelCorpus.from_pairs(
        [*source, "", "a dog", "the dog " * 30], [*target, "x", " ", "der Hund"]
    )
    inputs = read(corpora=(corpus, None), training={"max_source_length": 40})
    told = "6 pairs, dropped {'empty': 2, 'source_too_long': 1, 'target_too_long': 0}"
    assert inputs.describe().startswith(told)
    assert inputs.train_batches.encoded.line_numbers([5]).tolist() == [6]


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


def test_another_configuration_is_refused_before_the_pairs_are_read(
    begun, tmp_path, monkeypatch
):
    def unread(**data):
        raise AssertionError(data)

    monkeypatch.setattr(rooms, "load_corpora", unread)
    data = {"train_source": ["a"], "train_target": ["b"]}
    parts = overrides(transformer={"num_heads": 8})
    strategy = tf.distribute.get_strategy()
    with pytest.raises(ValueError, match=r"num_heads: 4 in the workdir, 8 asked"):
        prepare(tmp_path / "run", data, None, None, parts, strategy)


def test_other_pairs_than_the_workdirs_are_refused(read, begun, tiny_corpus):
    corpus = read_pairs(*tiny_corpus)
    fewer = dataclasses.replace(
        corpus, sources=corpus.sources[1:], targets=corpus.targets[1:], numbers=None
    )
    with pytest.raises(ValueError, match="training pairs are not those"):
        read(corpora=(fewer, None))


@pytest.fixture
def files(tiny_corpus):
    """The corpus as `data` of a run."""
    names = ("train_source", "train_target")
    return {name: [str(p)] for name, p in zip(names, tiny_corpus, strict=True)}


def prepare_files(workdir, files, **parts):
    strategy = tf.distribute.get_strategy()
    return prepare(workdir, files, None, "tiny", overrides(**parts), strategy)


def test_the_recorded_sources_are_read_again(tmp_path, files):
    size = {"transformer": {"vocabulary_size": SIZE}}
    first = prepare_files(tmp_path, files, **size)
    write_config(tmp_path, first.config)
    again = prepare(
        tmp_path, None, None, None, overrides(), tf.distribute.get_strategy()
    )
    assert again.config == first.config


def test_files_give_the_run_that_their_text_gives(tmp_path, read, files):
    size = {"transformer": {"vocabulary_size": SIZE}}
    on_disk = prepare_files(tmp_path, files, **size)
    assert isinstance(on_disk.train_batches.encoded.source_tokens.base, np.memmap)
    in_memory = read()
    for config in (on_disk.config, in_memory.config):
        config["data"].pop("sources")
    assert on_disk.config == in_memory.config
    plans = [inputs.train_batches.plan(3) for inputs in (on_disk, in_memory)]
    for (one, shape), (other, as_well) in zip(*plans, strict=True):
        assert shape == as_well and one.tolist() == other.tolist()


def test_a_run_that_goes_on_does_not_tokenize_again(tmp_path, files, monkeypatch):
    size = {"transformer": {"vocabulary_size": SIZE}}
    first = prepare_files(tmp_path, files, **size)
    monkeypatch.setattr(SubwordTokenizer, "tokenize", None)
    again = prepare_files(tmp_path, files)
    assert again.config == first.config
    assert len(list((tmp_path / ENCODED).iterdir())) == 1


def test_changed_files_are_other_pairs(tmp_path, files, tiny_corpus):
    size = {"transformer": {"vocabulary_size": SIZE}}
    write_config(tmp_path, prepare_files(tmp_path, files, **size).config)
    (tmp_path / "checkpoints" / "step-1").mkdir(parents=True)
    text = tiny_corpus[0].read_text("utf-8")
    tiny_corpus[0].write_text(text.replace("dog runs", "dog sleeps"), "utf-8")
    with pytest.raises(ValueError, match="training pairs are not those"):
        prepare_files(tmp_path, files)
    tiny_corpus[0].write_text(text, "utf-8")
    prepare_files(tmp_path, files)


def test_without_any_source_there_is_no_run(tmp_path):
    with pytest.raises(ValueError, match="Expected exactly one of"):
        prepare(tmp_path, None, None, "tiny", overrides(), tf.distribute.get_strategy())


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
    (second / "checkpoints" / "step-1").mkdir(parents=True)
    with pytest.raises(ValueError, match="began with .*first. Leave it out"):
        prepare(second, None, corpora, None, overrides(), strategy, tmp_path / "other")
    prepare(second, None, corpora, None, overrides(), strategy, tmp_path / "first")
