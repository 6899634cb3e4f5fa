"""The contenders, one a process.

python -m benchmarks.decode.contenders NAME SHAPE FOLDER THREADS

Each line on standard input is a task as JSON; the answer is a line of JSON with the
seconds it took, the peak of the process's memory and the best hypotheses. The name
`prepare` writes the weights that this package and CTranslate2 share to the folder.
"""

import dataclasses
import json
import os
import pathlib
import sys
import time

from benchmarks.decode.work import FIRST_ID, WORK, Task

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

ENGINE = "ctranslate2"  # where `prepare` writes the model, in the folder
NEVER = -3.0


def _translator(work):
    """Returns a translator with random weights that chooses no special piece.

    So every hypothesis reaches its limit, and no contender has to be told to suppress
    a piece. One channel of the decoder's output lies around 20, and the column of the
    output matrix that it meets is -3 for special pieces and 0 for all others. The
    other channels have random signs and the sub-layers speak softly: else hypotheses
    would repeat a piece for ever, and beams never cross.
    """
    import keras
    import numpy as np

    import keras_attention as ka

    keras.utils.set_random_seed(1)
    pieces = ["[PAD]", "[UNK]", "[START]", "[END]"]
    pieces += [f"w{number}" for number in range(FIRST_ID, work.vocabulary_size)]
    tokenizer = ka.SubwordTokenizer("\n".join(pieces).encode(), kind="wordpiece")
    config = ka.TransformerConfig(
        vocabulary_size=work.vocabulary_size,
        num_layers=work.num_layers,
        model_dim=work.model_dim,
        num_heads=work.num_heads,
        feed_forward_dim=work.feed_forward_dim,
    )
    model = ka.build_transformer(config)
    last = model.get_layer(f"decoder_block_{work.num_layers - 1}")
    for variable in model.trainable_variables:
        if variable.name == "output_kernel":
            variable.assign(0.3 * variable)
    norm = last.feed_forward_norm.norm
    norm.gamma.assign(np.random.default_rng(1).choice((-1.0, 1.0), work.model_dim))
    norm.beta.assign(np.eye(1, work.model_dim)[0] * 20.0)
    matrix = model.get_layer("token_embedding").embeddings
    values = np.array(keras.ops.convert_to_numpy(matrix))
    values[:, 0] = 0.0
    values[:FIRST_ID, 0] = NEVER
    matrix.assign(values)
    return ka.Translator(model, tokenizer, ka.DecodingConfig(length_penalty_alpha=0.0))


def prepare(work, folder):
    """Writes the model for CTranslate2."""
    from keras_attention.export import export_ctranslate2

    export_ctranslate2(_translator(work), pathlib.Path(folder) / ENGINE)


def own(work, folder, threads):
    """This package: what a `Translator` runs for a batch; `serve` sets its threads."""
    import numpy as np
    import tensorflow as tf

    from keras_attention.decoding.searches import Searches

    translator = _translator(work)
    end = translator.tokenizer.pieces.index("[END]")
    search = Searches(translator.model, translator.tokenizer.vocabulary_size)

    def decode(task):
        config = translator.decoding_config.replace(
            beam_size=task.beams, max_extra_length=task.length - work.length
        )
        ids = np.pad(work.sources(task.rows), ((0, 0), (0, 1)), constant_values=end)
        return search(tf.constant(ids), config).ids[:, 0].tolist()

    return decode


def _engine(compute_type):
    def contender(work, folder, threads):
        import ctranslate2

        folder = pathlib.Path(folder) / ENGINE
        pieces = json.loads((folder / "shared_vocabulary.json").read_text("utf-8"))
        number = {piece: index for index, piece in enumerate(pieces)}
        translator = ctranslate2.Translator(
            str(folder),
            compute_type=compute_type,
            inter_threads=1,
            intra_threads=threads,
        )

        def decode(task):
            sources = work.sources(task.rows).tolist()
            answers = translator.translate_batch(
                [[pieces[index] for index in source] for source in sources],
                max_batch_size=task.rows,
                beam_size=task.beams,
                length_penalty=0,
                max_decoding_length=task.length,
                min_decoding_length=task.length,
                return_scores=True,
            )
            best = (answer.hypotheses[0] for answer in answers)
            return [[number[piece] for piece in hypothesis] for hypothesis in best]

        return decode

    contender.__doc__ = f"CTranslate2, computing in {compute_type}."
    return contender


def hugging_face(work, folder, threads):
    """`MarianMTModel.generate` of the same size, with random weights of its own."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", work.num_layers),
            ("attention_heads", work.num_heads),
            ("ffn_dim", work.feed_forward_dim),
        )
    }
    config = MarianConfig(
        vocab_size=work.vocabulary_size,
        d_model=work.model_dim,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=0,
        eos_token_id=3,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
        **sides,
    )
    model = MarianMTModel(config).eval()

    def decode(task):
        ids = torch.nn.functional.pad(
            torch.from_numpy(work.sources(task.rows)).long(), (0, 1), value=3
        )
        with torch.inference_mode():
            found = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                num_beams=task.beams,
                do_sample=False,
                min_new_tokens=task.length,
                max_new_tokens=task.length,
            )
        return found[:, 1:].tolist()

    return decode


CONTENDERS = {
    "own": own,
    "ctranslate2": _engine("float32"),
    "ctranslate2_int8": _engine("int8"),
    "hugging_face": hugging_face,
}


def _forget_peak():
    """Sets the peak of this process's memory to what it holds (Linux)."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def _peak_mib():
    status = pathlib.Path("/proc/self/status").read_text()
    [line] = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def answer(decode, task):
    """Does a task and returns what the benchmark wants to know about it."""
    _forget_peak()
    start, processor = time.perf_counter(), time.process_time()
    for _ in range(task.calls):
        hypotheses = decode(task)
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor,
        "peak_mib": _peak_mib(),
        "hypotheses": hypotheses,
    }


def serve(name, shape, folder, threads):
    """Answers every line of standard input until it ends."""
    # TensorFlow reads them when it starts, and refuses to change them later.
    for kind in ("INTRAOP", "INTEROP"):
        os.environ[f"TF_NUM_{kind}_THREADS"] = threads
    decode = CONTENDERS[name](WORK[shape], folder, int(threads))
    for line in sys.stdin:
        task = Task(**json.loads(line))
        print(json.dumps(answer(decode, task)), flush=True)


def encode(task):
    """Returns the line that asks for a task."""
    return json.dumps(dataclasses.asdict(task)) + "\n"


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(WORK[sys.argv[2]], sys.argv[3])
    else:
        serve(*sys.argv[1:5])
