"""Random-weight models of Hugging Face, and a record of one's logits.

`python -m tests.unit.convert.marian_models` writes the record anew (it needs torch and
transformers): the weights of one model, ids, and the logits that it gave.
"""

import pathlib

import numpy as np

RECORD = pathlib.Path(__file__).with_name("marian_record.npz")
SOURCE_IDS = [[7, 8, 9, 5, 0], [6, 11, 0, -1, -1]]  # -1 is padding
TARGET_IDS = [[-1, 4, 10, 9], [-1, 5, 6, 2]]


def random_model(config, seed=1):
    """Returns a `MarianMTModel` whose every weight is random, biases too."""
    import torch
    import transformers

    torch.manual_seed(seed)
    model = transformers.MarianMTModel(transformers.MarianConfig(**config))
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name:
            deviation = 0.3 if parameter.dim() > 1 else 0.2
            start = 1.0 if "layer_norm.weight" in name else 0.0
            torch.nn.init.normal_(parameter, start, deviation)
    model.tie_weights()
    torch.nn.init.normal_(model.final_logits_bias, std=0.5)
    return model.eval()


def logits(model, source_ids, target_ids):
    """Returns logits (B, T, V) of ids where -1 is the padding."""
    import torch

    padding = model.config.pad_token_id
    source, target = (
        torch.tensor(np.where(ids == -1, padding, ids))
        for ids in map(np.asarray, (source_ids, target_ids))
    )
    with torch.no_grad():
        mask = (torch.tensor(source_ids) != -1).long()
        found = model(input_ids=source, attention_mask=mask, decoder_input_ids=target)
    return found.logits.numpy()


def tensors(model):
    """Returns the weights by name, as a file without copies would hold them."""
    return {
        name: tensor.numpy()
        for name, tensor in model.state_dict().items()
        if "embed_" not in name and name != "lm_head.weight"
    }


def _record():
    from tests.unit.convert.conftest import CONFIG

    size = {"vocab_size": 13, "pad_token_id": 12, "decoder_start_token_id": 12}
    model = random_model({**CONFIG, **size, "decoder_vocab_size": 13})
    found = logits(model, SOURCE_IDS, TARGET_IDS)
    np.savez_compressed(RECORD, logits=found, **tensors(model))


if __name__ == "__main__":
    _record()
