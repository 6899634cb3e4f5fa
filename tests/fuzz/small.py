"""A translator so small that a hundred thousand texts are a matter of minutes."""

import pathlib

# No brackets: what looks like a special piece in a translation can only be one.
LINES = ["to be or not to be", "that is the question", "der Hund läuft 42 mal"] * 4


def make_translator():
    """A translator whose weights are drawn so that it says something."""
    import keras

    from keras_attention.config import DecodingConfig, TransformerConfig
    from keras_attention.data import SubwordTokenizer
    from keras_attention.decoding.translator import Translator
    from keras_attention.models.build import build_transformer

    keras.utils.set_random_seed(1)
    tokenizer = SubwordTokenizer.learn_from_lines(LINES, 40)
    config = TransformerConfig(
        40, num_layers=1, model_dim=8, num_heads=2, feed_forward_dim=16
    )
    model = build_transformer(config)
    for weight in model.trainable_weights:
        weight.assign(weight * 2.0)
    decoding = DecodingConfig(
        beam_size=2, max_extra_length=2, max_source_length=8, num_hypotheses=2
    )
    return Translator(model, tokenizer, decoding)


def save_run(translator, folder):
    """Writes what `Translator.load` needs of a run."""
    from keras_attention.config import TrainingConfig
    from keras_attention.training import workdir as workdirs
    from keras_attention.training.averaging import save_model

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "transformer": translator.model.transformer_config,
        "training": TrainingConfig.from_preset("tiny"),
        "decoding": translator.decoding_config,
        "data": {"tokenizer_sha256": translator.tokenizer.sha256},
    }
    workdirs.write_config(folder, config)
    translator.tokenizer.save(folder / "tokenizer")
    save_model(translator.model, folder / "model.keras")
    return folder
