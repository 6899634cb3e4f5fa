"""Encoder and decoder blocks against the oracle, torch.nn and JoeyNMT."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention import ops
from tests.reference import bridge, foreign
from tests.reference import transformer as oracle

OPTIONS = [
    dict(),
    dict(norm_position="pre", activation="gelu"),
    dict(use_bias=True, value_dim=3, activation="silu", layer_norm_epsilon=1e-2),
    dict(norm_position="pre", use_bias=True, key_dim=5, activation="tanh"),
]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def randomise(layer, seed=0):
    for i, variable in enumerate(layer.trainable_variables):
        value = np.random.default_rng(seed + i).normal(0, 0.4, variable.shape)
        variable.assign(value)


def make(cls, **options):
    sizes = dict(num_heads=2, key_dim=4, feed_forward_dim=12, dropout_rate=0.0)
    block = cls(**{**sizes, **options})
    block(*[normal(1, 2, 8)] * (2 if cls is ka.DecoderBlock else 1))
    randomise(block)
    return block


def mask_of(*lengths, size):
    return np.arange(size) < np.array(lengths)[:, None]


def oracle_options(options):
    return (
        options.get("norm_position", "post"),
        options.get("layer_norm_epsilon", 1e-6),
        options.get("activation", "relu"),
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_encoder_block_equals_the_oracle(options):
    block, x = make(ka.EncoderBlock, **options), normal(2, 5, 8)
    real = mask_of(5, 3, size=5)
    output, weights = block(x, mask=real, return_attention_weights=True)
    expected = oracle.encoder_block(
        x, bridge.block_weights(block), real[:, None], *oracle_options(options)
    )
    np.testing.assert_allclose(output, expected, atol=1e-5)
    assert weights.shape == (2, 2, 5, 5)


@pytest.mark.parametrize("options", OPTIONS)
def test_decoder_block_equals_the_oracle(options):
    block = make(ka.DecoderBlock, **options)
    x, memory = normal(2, 4, 8), normal(2, 6, 8, seed=1)
    target_mask, source_mask = mask_of(4, 2, size=4), mask_of(3, 6, size=6)
    output, self_weights, memory_weights = block(
        x,
        memory,
        inputs_mask=target_mask,
        memory_mask=source_mask,
        return_attention_weights=True,
    )
    expected = oracle.decoder_block(
        x,
        memory,
        bridge.block_weights(block),
        oracle.causal_mask(4) & target_mask[:, None],
        source_mask[:, None],
        *oracle_options(options),
    )
    np.testing.assert_allclose(output, expected, atol=1e-5)
    assert self_weights.shape == (2, 2, 4, 4) and memory_weights.shape == (2, 2, 4, 6)


def place_of(cache, step, lineage, beams, source_mask):
    return ops.DecodingPlace(
        beams=beams,
        index=ops.position_index(cache, step),
        capacity=cache["key"].shape[2],
        self_bias=ops.mask_bias(ops.lineage_mask(lineage, beams)),
        memory_bias=ops.mask_bias(source_mask[:, None, None]),
        in_place=step % 2 == 0,  # both ways give the same
        self_small=step % 3 == 0,
        memory_small=step % 3 == 1,
    )


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("beams", [1, 3])
def test_steps_with_a_cache_equal_the_whole(options, beams):
    block = make(ka.DecoderBlock, **options)
    x, memory = normal(2 * beams, 5, 8), normal(2, 6, 8, seed=1)
    source_mask = mask_of(3, 6, size=6)
    whole = block(
        x,
        np.repeat(memory, beams, axis=0),
        memory_mask=np.repeat(source_mask, beams, axis=0),
    )
    cache, start = block.empty_cache(2, beams, 5), block.start(memory)
    lineage = ops.empty_lineage(2 * beams, 5)
    for t in range(5):
        lineage = ops.extend_lineage(lineage, t, beams)
        place = place_of(cache, t, lineage, beams, source_mask)
        out, cache, weights = block.step(
            x[:, t], cache, start, place, block.decoding_weights()
        )
        np.testing.assert_allclose(out, whole[:, t], atol=1e-5)
        assert weights.shape == (2, 2, beams, 6)


def test_steps_on_an_empty_batch():
    block = make(ka.DecoderBlock)
    cache, lineage = block.empty_cache(0, 2, 4), ops.empty_lineage(0, 4)
    place = place_of(cache, 0, lineage, 2, np.ones((0, 4), bool))
    start, weights = block.start(normal(0, 4, 8)), block.decoding_weights()
    out, cache, _ = block.step(normal(0, 8), cache, start, place, weights)
    assert out.shape == (0, 8) and cache["key"].shape[0] == 0


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_close_to_float32(policy):
    half, full = make(ka.DecoderBlock, dtype=policy), make(ka.DecoderBlock)
    half.set_weights(full.get_weights())
    x, memory = normal(2, 4, 8), normal(2, 6, 8, seed=1)
    masks = dict(inputs_mask=mask_of(4, 2, size=4), memory_mask=mask_of(0, 6, size=6))
    output = tf.cast(half(x, memory, **masks), "float32")
    np.testing.assert_allclose(output, full(x, memory, **masks), atol=6e-2)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_a_stack_made_by_hand_hands_its_masks_on(policy, seeded):
    """No mask is given to any layer: each gets its own from the layer before it."""
    source, target = (keras.Input((None,), dtype="int32") for _ in range(2))
    embedding = ka.TokenEmbedding(12, 8, dtype=policy)
    positions = ka.SinusoidalPositionalEncoding(dtype=policy)
    memory, x = positions(embedding(source)), positions(embedding(target))
    sizes = dict(num_heads=2, key_dim=4, feed_forward_dim=12, dtype=policy)
    for _ in range(3):
        memory = ka.EncoderBlock(**sizes)(memory)
    for _ in range(2):
        x = ka.DecoderBlock(**sizes)(x, memory)
    model = keras.Model([source, target], [memory, embedding(x, reverse=True)])
    short, padded = np.array([[7, 8, 9]]), np.array([[7, 8, 9, 0, 0, 0]])
    targets = np.array([[2, 4, 5, 6, 0]])
    encoded, logits = model([short, targets])
    for outputs in (
        model([padded, targets]),
        model.predict_on_batch([padded, targets]),
    ):
        states = tf.cast(outputs[0][:, :3], "float32")
        limit = 1e-5 if policy == "float32" else 2e-2
        np.testing.assert_allclose(states, tf.cast(encoded, "float32"), atol=limit)
        np.testing.assert_allclose(outputs[1], logits, atol=limit, rtol=limit)
    last = model([np.array([[7, 8, 10]]), targets])[1]
    assert np.abs(last - logits)[0, 0].max() > 1e-2  # the last token is seen


def torch_stack(file, cls, stack):
    blocks = []
    for weights in foreign.torch_blocks(file, stack):
        block = cls(4, 4, 32, dropout_rate=0.0, use_bias=True)
        block.build(*[(None, None, 16)] * (2 if stack == "dec" else 1))
        bridge.set_block(block, weights)
        blocks.append(block)
    return blocks


def test_torch_stack_outputs_loss_and_every_gradient(shared_data):
    """torch.nn: biases in the projections, post-LN, no final norm, epsilon 1e-6."""
    file = dict(np.load(shared_data / "vectors/torch_nn_transformer_postln_f64.npz"))
    encoder = torch_stack(file, ka.EncoderBlock, "enc")
    decoder = torch_stack(file, ka.DecoderBlock, "dec")
    source_mask = mask_of(*file["src_lengths"], size=6)
    target_mask = mask_of(*file["tgt_lengths"], size=5)
    source = tf.constant(file["src"], "float32")
    target = tf.constant(file["tgt"], "float32")
    wave = np.cos(np.arange(target.numpy().size)).reshape(target.shape)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([source, target])
        memory = source
        for block in encoder:
            memory = block(memory, mask=source_mask)
        out = target
        for block in decoder:
            out = block(out, memory, inputs_mask=target_mask, memory_mask=source_mask)
        loss = tf.reduce_sum(
            out * tf.constant(wave * target_mask[..., None], "float32")
        )
    np.testing.assert_allclose(memory, file["memory"], atol=1e-5)
    np.testing.assert_allclose(out, file["out"], atol=1e-5)
    np.testing.assert_allclose(loss, file["loss"], atol=1e-5)
    for tensor, name in ((source, "grad_src"), (target, "grad_tgt")):
        np.testing.assert_allclose(tape.gradient(loss, tensor), file[name], atol=1e-5)
    for stack, blocks in (("enc", encoder), ("dec", decoder)):
        expected = foreign.torch_blocks(file, stack, prefix="grad_")
        for block, gradients in zip(blocks, expected, strict=True):
            variables = block.trainable_variables
            values = tape.gradient(loss, [v.value for v in variables])
            ours = bridge.to_symbols(block, bridge.values_by_id(variables, values))
            keras.tree.map_structure(
                lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5),
                dict(ours),
                {key: gradients[key] for key in ours},
            )


def test_joeynmt_encoder(shared_data):
    """Pre-LN with biases; the sinusoid is added to an unscaled input, final norm."""
    file = dict(np.load(shared_data / "vectors/joeynmt_encoder_preln_published.npz"))
    blocks, norm = foreign.joey_blocks(file, "enc")
    x = ka.SinusoidalPositionalEncoding()(file["x"])
    for weights in blocks:
        block = ka.EncoderBlock(
            4, 3, 24, dropout_rate=0.0, norm_position="pre", use_bias=True
        )
        block.build((None, None, 12))
        bridge.set_block(block, weights)
        x = block(x, mask=file["mask"][:, 0])
    final = ka.AddAndNorm(norm_position="pre")
    final.build((None, None, 12))
    bridge.assign(bridge.norm_variables(final), norm)
    np.testing.assert_allclose(final.prepare(x), file["expected"], atol=1e-5)


def test_joeynmt_decoder(shared_data):
    file = dict(np.load(shared_data / "vectors/joeynmt_decoder_preln_published.npz"))
    blocks, norm = foreign.joey_blocks(file, "dec")
    x, memory = ka.SinusoidalPositionalEncoding()(file["trg_embed"]), None
    for weights in blocks:
        block = ka.DecoderBlock(
            4, 3, 24, dropout_rate=0.0, norm_position="pre", use_bias=True
        )
        block.build((None, None, 12), (None, None, 12))
        bridge.set_block(block, weights)
        x, _, memory = block(
            x,
            file["encoder_output"],
            memory_mask=file["src_mask"][:, 0],
            return_attention_weights=True,
        )
    final = ka.AddAndNorm(norm_position="pre")
    final.build((None, None, 12))
    bridge.assign(bridge.norm_variables(final), norm)
    states = final.prepare(x).numpy()
    np.testing.assert_allclose(states, file["expected_states"], atol=1e-5)
    logits = states @ file["w/output_layer.weight"].T
    np.testing.assert_allclose(logits, file["expected_logits"], atol=1e-5)
    heads = np.asarray(memory).mean(axis=1)
    expected = file["expected_attention_last_layer_head_mean"]
    np.testing.assert_allclose(heads, expected, atol=1e-5)


@pytest.mark.parametrize("cls", [ka.EncoderBlock, ka.DecoderBlock])
def test_dropout_has_expectation_and_is_off_at_inference(cls, seeded):
    block = make(cls, dropout_rate=0.5)
    inputs = [normal(2, 4, 8)] * (2 if cls is ka.DecoderBlock else 1)
    np.testing.assert_array_equal(block(*inputs), block(*inputs, training=False))
    difference = block(*inputs, training=True) - block(*inputs)
    assert np.abs(difference).max() > 0.1


@pytest.mark.parametrize("cls", [ka.EncoderBlock, ka.DecoderBlock])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_heads", 0),
        ("feed_forward_dim", 0),
        ("dropout_rate", 1.0),
        ("norm_position", "middle"),
        ("layer_norm_epsilon", -1.0),
    ],
)
def test_what_cannot_work_is_refused(cls, name, value):
    with pytest.raises(ValueError, match=f"{name}.*Received"):
        make(cls, **{name: value})
