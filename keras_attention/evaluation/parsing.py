"""How well a run parses: trees predicted from words, brackets compared (6.3)."""

import json
import pathlib
import time

from keras_attention.data.linearization import ANY_TAG, BARE, delinearize, linearize
from keras_attention.data.normalization import normalize_tree, sentence
from keras_attention.data.tree_corpora import synthetic_trees
from keras_attention.data.trees import read_trees
from keras_attention.decoding.loading import read_record
from keras_attention.decoding.translator import Translator
from keras_attention.evaluation.bracket_summary import percentage
from keras_attention.evaluation.brackets import score_brackets
from keras_attention.files import write_atomically

BRACKETS, PREDICTED = "brackets.json", "predicted.trees"


def parse(translator, sentences, **overrides):
    """Predicts the tree of each sentence.

    Args:
        translator: the `Translator` of a run that has learned to parse.
        sentences: list of lists of words (str).
        **overrides: fields of `DecodingConfig` for this call.

    Returns:
        List of (`Tree`, `Translation`). The leaves of a tree are exactly the words of
        its sentence, whatever the model says: `delinearize` repairs it.

    Raises:
        ValueError: a word that is empty or holds white space.
    """
    texts = [sentence(words) for words in sentences]
    found = translator.translate(texts, **overrides)
    return [
        (delinearize(_symbols(translation), words), translation)
        for words, translation in zip(sentences, found, strict=True)
    ]


def evaluate_parsing(
    workdir,
    trees=(),
    synthetic=False,
    output=None,
    parameter_file=None,
    **decoding,
):
    """Parses the words of gold trees and writes `brackets.json` into the workdir.

    The predicted trees go into a file, one line a sentence; a gold tree without a word
    gives an empty line and is not scored. Gold trees are normalised first
    (`normalize_tree`). To score brackets, both trees carry the gold tags: the scorer
    leaves punctuation out by its tag, and a wrong one would make it drop the sentence.
    A word without a tag, which would do so too, is tagged `XX` for it.
    The tagging accuracy is that of the predicted tags, punctuation included.

    Args:
        workdir: directory of the run.
        trees: list of files of gold trees.
        synthetic: True takes the test split of the embedded corpus instead.
        output: path of the predicted trees; None = `predicted.trees` in the workdir.
        parameter_file: of the scorer; None = the rules of `COLLINS.prm`.
        **decoding: fields of `DecodingConfig` that replace those of the run.

    Returns:
        What `brackets.json` holds: "f1", "recall", "precision", "complete_match",
        "average_crossing", "no_crossing", "strict_f1" and "unusable_sentences" (as
        in `BracketSummary`), "tagging_accuracy" (None for a run without tags),
        "sentences", "error_sentences", "empty", "repaired" (trees that had to be),
        "truncated", "seconds", "decoding", "trees", "parameter_file" and the
        run's "config".

    Raises:
        ValueError: not exactly one of files and `synthetic`, a file that cannot be
            read, no tree with a word, or a workdir without a finished run that has
            learned to parse.
    """
    gold = _gold(trees, synthetic)
    workdir = pathlib.Path(workdir)
    translator = Translator.load(workdir, **decoding)
    if not getattr(translator.tokenizer, "symbols", ()):
        raise ValueError(
            "Expected a run that has learned to parse. Received: "
            f"{str(workdir)!r}, whose targets are text and no symbols of trees. "
            "Evaluate translations with `ka-evaluate-translation`."
        )
    scored = [tree for tree in gold if tree is not None]
    started = time.monotonic()
    found = parse(translator, [tree.leaves() for tree in scored])
    seconds = time.monotonic() - started
    predicted = [tree for tree, _ in found]
    lines = iter(predicted)
    texts = [str(next(lines)) if tree is not None else "" for tree in gold]
    output = pathlib.Path(output or workdir / PREDICTED)
    write_atomically(output, "".join(f"{text}\n" for text in texts))
    config = read_record(workdir)
    report = {
        **_scores(scored, predicted, parameter_file),
        "tagging_accuracy": _tagging_accuracy(scored, predicted, config),
        "sentences": len(scored),
        "empty": len(gold) - len(scored),
        "repaired": sum(_symbols(x) != linearize(tree) for tree, x in found),
        "truncated": sum(translation.truncated for _, translation in found),
        "seconds": round(seconds, 3),
        "decoding": translator.decoding_config.to_dict(),
        "trees": "synthetic" if synthetic else [str(path) for path in trees],
        "parameter_file": parameter_file and str(parameter_file),
        "config": config,
    }
    text = json.dumps(report, indent=2, ensure_ascii=False)
    write_atomically(workdir / BRACKETS, text + "\n")
    return report


def _gold(files, synthetic):
    if bool(files) == bool(synthetic):
        raise ValueError(
            "Expected files of gold trees, or the embedded corpus. Received: "
            f"trees={files}, synthetic={synthetic}."
        )
    trees = synthetic_trees("test") if synthetic else sum(map(read_trees, files), [])
    gold = [normalize_tree(tree) for tree in trees]
    if not any(gold):
        raise ValueError(
            f"Nothing to score: expected a tree with a word. Received: {len(gold)} "
            f"trees in {', '.join(map(str, files))}, none with one."
        )
    return gold


def _symbols(translation):
    return [symbol for symbol in translation.text.split(" ") if symbol]


def _tags(tree):
    return [x for x in linearize(tree) if x == BARE or x[0] not in "()"]


def _with_tags(tree, tags):
    """Returns a tree with other symbols in the places of its tags."""
    tags = iter(tags)
    symbols = [
        next(tags) if x == BARE or x[0] not in "()" else x for x in linearize(tree)
    ]
    return delinearize(symbols, tree.leaves())


def _scores(gold, predicted, parameter_file):
    tags = [[ANY_TAG if x == BARE else x for x in _tags(tree)] for tree in gold]
    gold, predicted = (
        [str(_with_tags(*pair)) for pair in zip(trees, tags, strict=True)]
        for trees in (gold, predicted)
    )
    result = score_brackets(gold, predicted, parameter_file)
    names = (
        "f1",
        "recall",
        "precision",
        "complete_match",
        "average_crossing",
        "no_crossing",
        "error_sentences",
        "strict_f1",
        "unusable_sentences",
    )
    return {name: getattr(result, name) for name in names}


def _tagging_accuracy(gold, predicted, config):
    """Percentage of words whose predicted tag is that of the gold tree, or None."""
    sources = config.get("data", {}).get("sources") or {}
    trees = sources.get("trees", {})
    if isinstance(trees, dict) and not trees.get("tags", True):
        return None
    right = total = 0
    for one, other in zip(gold, predicted, strict=True):
        pairs = list(zip(_tags(one), _tags(other), strict=True))
        right += sum(tag == predicted_tag for tag, predicted_tag in pairs)
        total += len(pairs)
    return percentage(right, total)
