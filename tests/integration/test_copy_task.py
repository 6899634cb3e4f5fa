"""The whole model learns to copy: masks, positions, cache and search are right."""

import pytest

import keras_attention as ka
from keras_attention.data.synthetic import copy_task
from keras_attention.training.run import train


@pytest.mark.slow
def test_sequences_are_copied(tmp_path):
    pairs = copy_task(6_000, max_length=9)
    held_out = copy_task(200, split="test", max_length=9)
    assert not set(pairs) & set(held_out)
    corpus = ka.data.ParallelCorpus.from_pairs(*zip(*pairs, strict=True))
    train(
        tmp_path,
        corpora=(corpus, None),
        preset="tiny",
        transformer={
            "vocabulary_size": 40,
            "num_layers": 2,
            "model_dim": 64,
            "dropout_rate": 0.1,
        },
        training={
            "batch_tokens": 1_024,
            "max_steps": 1_200,
            "warmup_steps": 200,
            "learning_rate_scale": 0.35,
            "checkpoint_steps": 50,
            "average_checkpoints": 5,
            "log_steps": 100,
        },
        decoding={"beam_size": 4, "max_extra_length": 5},
    )
    translator = ka.Translator.load(tmp_path)
    sources, targets = zip(*held_out, strict=True)
    copies = translator(list(sources))
    right = sum(copy == target for copy, target in zip(copies, targets, strict=True))
    assert right / len(targets) >= 0.98
