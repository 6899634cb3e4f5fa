"""The oracle itself, against numbers that other people printed."""

import numpy as np
import pytest

from tests.reference import foreign, transformer


@pytest.fixture(scope="module")
def torch_file(shared_data):
    return dict(np.load(shared_data / "vectors/torch_nn_transformer_postln_f64.npz"))


def torch_forward(file, enc=None, dec=None):
    source_mask = np.arange(6) < file["src_lengths"][:, None]
    target_mask = np.arange(5) < file["tgt_lengths"][:, None]
    memory = file["src"]
    for block in enc or foreign.torch_blocks(file, "enc"):
        memory = transformer.encoder_block(memory, block, source_mask[:, None])
    out = file["tgt"]
    causal = transformer.causal_mask(5)
    for block in dec or foreign.torch_blocks(file, "dec"):
        out = transformer.decoder_block(
            out, memory, block, causal & target_mask[:, None], source_mask[:, None]
        )
    wave = np.cos(np.arange(out.size)).reshape(out.shape)
    return memory, out, np.sum((out * wave)[target_mask])


def test_post_ln_stack_equals_torch(torch_file):
    memory, out, loss = torch_forward(torch_file)
    np.testing.assert_allclose(memory, torch_file["memory"], atol=1e-13)
    np.testing.assert_allclose(out, torch_file["out"], atol=1e-13)
    np.testing.assert_allclose(loss, torch_file["loss"], atol=1e-13)


def test_numerical_gradient_equals_torch(torch_file):
    blocks = foreign.torch_blocks(torch_file, "dec")
    expected = foreign.torch_blocks(torch_file, "dec", prefix="grad_")[1]

    def loss_of(bias):
        blocks[1]["ffn"] = {**blocks[1]["ffn"], "b_2": bias}
        return torch_forward(torch_file, dec=blocks)[2]

    gradient = transformer.numerical_gradient(loss_of, blocks[1]["ffn"]["b_2"])
    np.testing.assert_allclose(gradient, expected["ffn"]["b_2"], atol=1e-8)


def test_pre_ln_encoder_equals_joeynmt(shared_data):
    file = dict(np.load(shared_data / "vectors/joeynmt_encoder_preln_published.npz"))
    blocks, norm = foreign.joey_blocks(file, "enc")
    x = file["x"] + transformer.sinusoid(range(4), 12)
    for block in blocks:
        x = transformer.encoder_block(x, block, None, "pre")
    x = transformer.layer_norm(x, norm, 1e-6)
    np.testing.assert_allclose(x, file["expected"], atol=1e-6)


def test_pre_ln_decoder_equals_joeynmt(shared_data):
    file = dict(np.load(shared_data / "vectors/joeynmt_decoder_preln_published.npz"))
    blocks, norm = foreign.joey_blocks(file, "dec")
    x = file["trg_embed"] + transformer.sinusoid(range(5), 12)
    for block in blocks:
        x = transformer.decoder_block(
            x, file["encoder_output"], block, transformer.causal_mask(5), None, "pre"
        )
    states = transformer.layer_norm(x, norm, 1e-6)
    np.testing.assert_allclose(states, file["expected_states"], atol=1e-6)
    logits = states @ file["w/output_layer.weight"].T
    np.testing.assert_allclose(logits, file["expected_logits"], atol=1e-6)


def test_nothing_to_attend_to_gives_zeros():
    mask = np.array([[True, False], [False, False]])
    out, weights = transformer.attention(
        np.ones((2, 3)), np.ones((2, 3)), np.eye(2) * 5, mask
    )
    np.testing.assert_array_equal(weights, [[1, 0], [0, 0]])
    np.testing.assert_array_equal(out, 5 * weights)


def test_smoothed_targets_are_distributions():
    targets = transformer.smoothed_targets(np.array([2]), 5, 0.4)
    np.testing.assert_allclose(targets, [[0.1, 0.1, 0.6, 0.1, 0.1]])
