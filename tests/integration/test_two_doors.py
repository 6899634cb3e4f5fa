"""`compile` and `fit` in a script, and `training.run.train`: the same weights."""

import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention.data.synthetic import copy_task
from keras_attention.training.checkpoint_files import read_weights
from keras_attention.training.run import train

STEPS, SEED = 9, 3
FIELDS = {
    "num_layers": 1,
    "model_dim": 16,
    "num_heads": 2,
    "feed_forward_dim": 32,
    "dropout_rate": 0.2,
}


@pytest.mark.slow
def test_fit_and_the_loop_of_a_run_give_the_same_weights(tmp_path):
    corpus = ka.data.ParallelCorpus.from_pairs(*zip(*copy_task(60), strict=True))
    train(
        tmp_path,
        corpora=(corpus, None),
        preset="tiny",
        transformer={**FIELDS, "vocabulary_size": 40},
        training={
            "batch_tokens": 160,
            "max_steps": STEPS,
            "warmup_steps": 4,
            "checkpoint_steps": STEPS,
            "seed": SEED,
        },
    )
    weights = read_weights(tmp_path / "checkpoints" / f"step-{STEPS}")

    # What a user's script does; the seed first, as the run does.
    tokenizer = ka.SubwordTokenizer.load(tmp_path / "tokenizer")
    encoded = ka.data.encode_pairs(corpus, tokenizer, 256, 256)
    batches = ka.data.TokenBatches(encoded, batch_tokens=160, seed=SEED)
    assert batches.steps_per_epoch() < STEPS, "the run must cross the end of an epoch"
    config = ka.TransformerConfig.from_preset("tiny", vocabulary_size=40, **FIELDS)
    keras.utils.set_random_seed(SEED)
    model = ka.build_transformer(config)
    before = [np.array(weight) for weight in model.get_weights()]
    model.compile(
        optimizer=ka.make_optimizer(config.model_dim, warmup_steps=4),
        loss=ka.LabelSmoothedCrossEntropy(0.1),
    )
    data = ka.data.make_dataset(batches, epochs=None)
    model.fit(data, steps_per_epoch=STEPS, shuffle=False, verbose=0)

    assert int(model.optimizer.iterations) == STEPS
    for number, weight in enumerate(model.get_weights()):
        np.testing.assert_allclose(weight, weights[number], rtol=1e-6, atol=1e-7)
    moved = max(
        np.abs(a - b).max() for a, b in zip(before, weights.values(), strict=True)
    )
    assert moved > 0.01, "updates that move nothing compare nothing"
