"""The BLEU of a run: raw sources translated, raw references compared."""

import dataclasses
import json
import pathlib
import time

from keras_attention.checks import check_choice
from keras_attention.data.corpora import read_lines
from keras_attention.decoding.loading import read_record
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.corpus_bleu import corpus_bleu
from keras_attention.evaluation.moses_tokenizer import LANGUAGES
from keras_attention.evaluation.tokenized_bleu import tokenized_bleu
from keras_attention.evaluation.training_cost import training_cost
from keras_attention.files import parse_object, write_atomically

BLEU = "bleu.json"
METRICS = "metrics.jsonl"


def evaluate_translation(
    workdir,
    source_files,
    reference_files,
    target_language=None,
    sustained_flops=None,
    **decoding,
):
    """Scores the averaged model of a run and writes `bleu.json` into its workdir.

    Every line counts, empty ones too: a line is translated for each line read, and
    references are compared as they stand in their files.

    Args:
        workdir: directory of the run.
        source_files, reference_files: lists of as many text files, line n of each
            beside line n of its counterpart.
        target_language: "de", "en" or "fr", for the tokens of the second BLEU; None =
            that of the run's data set, or else "de".
        sustained_flops: FLOP/s that a device of the training sustained, for the
            paper's estimate of its cost (9.5e12 of a P100); None = not known.
        **decoding: fields of `DecodingConfig` that replace those of the run.

    Returns:
        What `bleu.json` holds: "score", "signature", "precisions", "brevity_penalty",
        "hypothesis_length", "reference_length" of `corpus_bleu`; "tokenized_bleu",
        with the same of `tokenized_bleu`; "sentences", "truncated", "empty",
        "seconds", "decoding", "source", "reference"; "training_cost", what
        `training_cost` returns, None for a model without a run or an older one; and
        the run's "config".

    Raises:
        ValueError: the lists differ in length, two files in their numbers of lines,
            the files hold no line, another language, a `sustained_flops` that is not
            positive, or the workdir holds no finished run.
    """
    sources, references = _read_beside(source_files, reference_files)
    if not sources:
        raise ValueError(
            "Nothing to score: expected at least one line. Received: "
            f"{', '.join(map(str, source_files))} without a line."
        )
    workdir = pathlib.Path(workdir)
    config = read_record(workdir)
    language = _target_language(target_language, config)
    cost = _cost(workdir, config, sustained_flops)
    translator = Translator.load(workdir, **decoding)
    started = time.monotonic()
    translations = translator.translate(sources)
    seconds = time.monotonic() - started
    texts = [translation.text for translation in translations]
    report = {
        **dataclasses.asdict(corpus_bleu(texts, references)),
        "tokenized_bleu": dataclasses.asdict(
            tokenized_bleu(texts, references, language)
        ),
        "sentences": len(sources),
        "truncated": sum(translation.truncated for translation in translations),
        "empty": sum(not translation.text for translation in translations),
        "seconds": round(seconds, 3),
        "decoding": translator.decoding_config.to_dict(),
        "source": [str(path) for path in source_files],
        "reference": [str(path) for path in reference_files],
        "training_cost": cost,
        "config": config,
    }
    text = json.dumps(report, indent=2, ensure_ascii=False)
    write_atomically(workdir / BLEU, text + "\n")
    return report


def _target_language(wanted, config):
    """Returns the language to tokenize for: as asked for, or as the run knows it."""
    if wanted is not None:
        return check_choice("target_language", wanted, LANGUAGES)
    recorded = (config.get("data", {}).get("sources") or {}).get("target_language")
    return recorded if recorded in LANGUAGES else LANGUAGES[0]


def _cost(workdir, config, sustained_flops):
    """Returns the `training_cost` of a run, or None if it is not known."""
    record = _newest_record(workdir / METRICS)
    data = config.get("data", {})
    known = [config.get("devices"), data.get("update_flops")]
    if record is None or not all(map(_is_number, known)):
        return None
    return training_cost(config, record, sustained_flops)


def _newest_record(path):
    """Returns the newest record of a run that tells its minutes, or None."""
    for line in reversed(read_lines(path)) if path.exists() else ():
        try:
            record = parse_object(line, finite=False)
        except ValueError:  # the run goes on and is writing it
            continue
        if _is_number(record.get("minutes")) and _is_number(record.get("step")):
            return record
    return None


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


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
