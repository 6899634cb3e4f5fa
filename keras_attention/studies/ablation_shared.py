"""What all rows of an ablation share: text, pieces, budget; kept in its workdir."""

import hashlib
import json
import pathlib
from typing import NamedTuple

from keras_attention.data.corpora import pairs_from_tfds
from keras_attention.data.lines import read_lines
from keras_attention.data.parallel_files import (
    ParallelFiles,
    as_pairs,
    check_equal_lines,
)
from keras_attention.data.tokenizer import CONFIG_FILE, SubwordTokenizer
from keras_attention.files import parse_object, write_atomically
from keras_attention.studies.ablation_children import ChildError
from keras_attention.studies.ablation_flags import (
    check_same_table,
    checked_vocabulary_size,
    data_flags,
    table_record,
)
from keras_attention.training import workdir as workdirs
from keras_attention.training.sources import VALID_SPLIT, synthetic_pairs

RECORD, LOG = "ablation.json", "log.txt"
# Flags of `evaluate_translation` -> the dev set as text.
DEV = {"source": "dev.source", "reference": "dev.target"}


class Shared(NamedTuple):
    """What all rows share.

    Args:
        tokenizer: a `SubwordTokenizer`.
        sources: arguments of `load_corpora`.
        facts: list of str that say what the table was made with.
    """

    tokenizer: SubwordTokenizer
    sources: dict
    facts: list


def prepare_table(workdir, data, base, vocabulary_size, children):
    """Writes the dev set and learns the pieces, or finds them in the workdir.

    Args:
        workdir: directory of the table, a `pathlib.Path`.
        data: arguments of `load_corpora`.
        base: the `Row` of the base.
        vocabulary_size: that is asked for, or None.
        children: the `Children` that learn the pieces.

    Returns:
        `Shared`.

    Raises:
        ValueError: no dev set, no size of the vocabulary, pieces that cannot be
            learned, or a workdir that holds something else.
        Stopped: a signal came meanwhile.
    """
    if (workdir / workdirs.CONFIG).exists():
        raise ValueError(
            "A table needs a workdir of its own. Received: "
            f"{workdir}, which holds a run. Take another one."
        )
    record = read_record(workdir)
    sides = dev_set(data)
    digests = {"dev_sha256": _sha256(sides)}
    if data.get("train_source"):
        files = ParallelFiles(data["train_source"], data["train_target"])
        digests["train_sha256"] = files.sha256
    directory = workdir / workdirs.TOKENIZER
    found = None  # written last: without it the directory is that of a killed save
    if (directory / CONFIG_FILE).exists():
        found = SubwordTokenizer.load(directory).vocabulary_size
    size = checked_vocabulary_size(vocabulary_size, found)
    wanted = table_record(base, size, {"sources": data, **digests})
    if record is not None:
        check_same_table(record, wanted)
    text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    write_atomically(workdir / RECORD, text)
    for name, lines in zip(DEV.values(), sides, strict=True):
        write_atomically(workdir / name, "".join(f"{line}\n" for line in lines))
    if found is None:
        _learn(workdir, data, size, base.training.tokenizer_kind, children)
    tokenizer = SubwordTokenizer.load(directory)
    return Shared(tokenizer, data, _facts(base, size, data, len(sides[0])))


def _learn(workdir, data, size, kind, children):
    flags = [f"--workdir={workdir}", *data_flags(data)]
    flags += [f"--vocabulary_size={size}", f"--tokenizer_kind={kind}"]
    try:
        children.run("table", "learn_vocabulary", flags, workdir / LOG)
    except ChildError as error:
        raise ValueError(f"The pieces cannot be learned: {error}") from error


def read_record(workdir):
    """Returns what the rows of a workdir share, or None if it holds no table.

    Raises:
        ValueError: the file is not what `prepare_table` writes.
    """
    path = pathlib.Path(workdir) / RECORD
    if not path.exists():
        return None
    try:
        record = parse_object(path.read_bytes())
        return {name: dict(record[name]) for name in (*workdirs.PARTS, "data")}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} must say what the rows of a table share. Received: {error!r}. "
            "Mend it or take another workdir."
        ) from error


def dev_set(data):
    """Returns the sources and the references that a table is scored on.

    Every line of files counts, those that training would leave out too.

    Args:
        data: arguments of `load_corpora`.

    Returns:
        Two lists of str, equally long.

    Raises:
        ValueError: no validation files, or text that cannot be read.
    """
    if data.get("synthetic"):
        corpus = synthetic_pairs("valid")
    elif data.get("tfds"):
        languages = (data.get("source_language"), data.get("target_language"))
        corpus = pairs_from_tfds(
            data["tfds"], VALID_SPLIT, *languages, data.get("tfds_data_dir")
        )
    elif data.get("valid_source") and data.get("valid_target"):
        return _lines(data["valid_source"], data["valid_target"])
    else:
        raise ValueError(
            "A table needs a dev set to score its rows on. Received: no validation "
            "files. Name valid_source and valid_target."
        )
    return [
        [" ".join(t.split("\n")) for t in s] for s in (corpus.sources, corpus.targets)
    ]


def _lines(source_files, target_files):
    sides = [], []
    for pair in zip(*as_pairs(source_files, target_files), strict=True):
        lines = [read_lines(path) for path in pair]
        check_equal_lines(*pair, *map(len, lines))
        for side, more in zip(sides, lines, strict=True):
            side += more
    return list(sides)


def _sha256(sides):
    text = json.dumps(sides, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()


def _facts(base, size, data, sentences):
    training, search = base.training, base.decoding
    budget = f"{training.max_steps} updates"
    if training.max_minutes is not None:
        budget = f"{training.max_minutes:g} minutes of training, at most {budget}"
    return [
        f"Budget of every row: {budget}; batches of {training.batch_tokens} cells a "
        f"side, {training.warmup_steps} updates of warm-up, learning rate scaled by "
        f"{training.learning_rate_scale:g}, seed {training.seed}",
        f"Text: {', '.join(data_flags(data))}; {size} {training.tokenizer_kind} "
        f"pieces, shared by both languages and all rows; dev set of {sentences} "
        "sentences",
        "Scored is the last checkpoint, not averaged. ppl: e to the mean nll of a "
        "piece of the dev set, END counted, without label smoothing. BLEU: sacreBLEU "
        f"of raw text, beam {search.beam_size}, alpha {search.length_penalty_alpha:g}, "
        f"at most {search.max_extra_length} pieces more than the source",
        "The paper's figures are of WMT 2014 English-German, newstest2013, 37000 "
        "pieces and 100000 updates of 25000 cells a side (big: 300000)",
    ]
