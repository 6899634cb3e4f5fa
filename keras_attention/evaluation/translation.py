"""The BLEU of a run: raw sources translated, raw references compared."""

import json
import pathlib
import time

from keras_attention.data.corpora import read_lines
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.corpus_bleu import corpus_bleu
from keras_attention.files import write_atomically

BLEU = "bleu.json"


def evaluate_translation(workdir, source_files, reference_files, **decoding):
    """Scores the averaged model of a run and writes `bleu.json` into its workdir.

    Every line counts, empty ones too: a line is translated for each line read, and
    references are compared as they stand in their files.

    Args:
        workdir: directory of the run.
        source_files, reference_files: lists of text files, line n beside line n.
        **decoding: fields of `DecodingConfig` that replace those of the run.

    Returns:
        What `bleu.json` holds: "score", "signature", "precisions", "brevity_penalty",
        "hypothesis_length", "reference_length", "sentences", "truncated", "empty",
        "seconds", "decoding", "source", "reference" and the run's "config".

    Raises:
        ValueError: the files differ in their numbers of lines or hold none, or the
            workdir holds no finished run.
    """
    sources, references = _read(source_files), _read(reference_files)
    if len(sources) != len(references):
        raise ValueError(
            "Sources and references need equal numbers of lines. Received: "
            f"{', '.join(map(str, source_files))} with {len(sources)} and "
            f"{', '.join(map(str, reference_files))} with {len(references)} lines."
        )
    if not sources:
        raise ValueError(
            "Nothing to score: expected at least one line. Received: "
            f"{', '.join(map(str, source_files))} without a line."
        )
    workdir = pathlib.Path(workdir)
    translator = Translator.load(workdir, **decoding)
    started = time.monotonic()
    translations = translator.translate(sources)
    seconds = time.monotonic() - started
    result = corpus_bleu([translation.text for translation in translations], references)
    report = {
        "score": result.score,
        "signature": result.signature,
        "precisions": list(result.precisions),
        "brevity_penalty": result.brevity_penalty,
        "hypothesis_length": result.hypothesis_length,
        "reference_length": result.reference_length,
        "sentences": len(sources),
        "truncated": sum(translation.truncated for translation in translations),
        "empty": sum(not translation.text for translation in translations),
        "seconds": round(seconds, 3),
        "decoding": translator.decoding_config.to_dict(),
        "source": [str(path) for path in source_files],
        "reference": [str(path) for path in reference_files],
        "config": json.loads((workdir / "config.json").read_text(encoding="utf-8")),
    }
    text = json.dumps(report, indent=2, ensure_ascii=False)
    write_atomically(workdir / BLEU, text + "\n")
    return report


def _read(files):
    return [line for path in files for line in read_lines(path)]
