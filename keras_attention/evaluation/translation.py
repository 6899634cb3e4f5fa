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
        source_files, reference_files: lists of as many text files, line n of each
            beside line n of its counterpart.
        **decoding: fields of `DecodingConfig` that replace those of the run.

    Returns:
        What `bleu.json` holds: "score", "signature", "precisions", "brevity_penalty",
        "hypothesis_length", "reference_length", "sentences", "truncated", "empty",
        "seconds", "decoding", "source", "reference" and the run's "config".

    Raises:
        ValueError: the lists differ in length, two files in their numbers of lines,
            the files hold no line, or the workdir holds no finished run.
    """
    sources, references = _read_beside(source_files, reference_files)
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


def _read_beside(source_files, reference_files):
    """Returns the lines of all sources and of all references, checked file by file."""
    if len(source_files) != len(reference_files):
        raise ValueError(
            "Expected as many references as sources. Received: "
            f"{len(source_files)} source and {len(reference_files)} reference files."
        )
    sources, references = [], []
    for source, reference in zip(source_files, reference_files, strict=True):
        beside = read_lines(source), read_lines(reference)
        if len(beside[0]) != len(beside[1]):
            raise ValueError(
                "A source and its reference need equal numbers of lines. Received: "
                f"{source} with {len(beside[0])} and {reference} with "
                f"{len(beside[1])} lines."
            )
        sources += beside[0]
        references += beside[1]
    return sources, references
