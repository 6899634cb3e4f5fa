"""Subword ids of a large corpus on disk: written once, then mapped into memory."""

import collections
import contextlib
import errno
import hashlib
import json
import os
import pathlib
import re
import shutil
import warnings

import numpy as np

from keras_attention.data.encoded import EncodedCorpus
from keras_attention.data.encoding import (
    REASONS,
    check_pairs_left,
    encoded_blocks,
    token_dtype,
)
from keras_attention.files import delete_leftovers, flush_to_disk, parse_object

FORMAT = 1  # another number makes every run tokenize anew
FACTS = "facts.json"
_OFFSETS = np.dtype(np.int64)
_NUMBERS = np.dtype(np.uint32)
_NAME = re.compile("[0-9a-f]{32}")


def encode_files(
    files,
    tokenizer,
    max_source_length,
    max_target_length,
    directory,
    report=lambda done, kept: None,
):
    """Tokenizes a corpus into files and maps them, or finds them there.

    The ids are those of `encode_pairs`, but no pair takes memory of its own. They lie
    in a directory named after the text, the tokenizer and the two maxima, which
    appears whole or not at all; damaged ones are made anew with a warning, and those
    of other text or another tokenizer are deleted.

    Args:
        files: `ParallelFiles`.
        tokenizer: a `SubwordTokenizer`.
        max_source_length, max_target_length: as in `encode_pairs`.
        directory: to keep them in; it holds nothing else. Made when missing.
        report: called now and then with the numbers of pairs read and kept so far;
            what it raises ends the work.

    Returns:
        An `EncodedCorpus` of mapped arrays.

    Raises:
        ValueError: no pair is left, or a file changed while it was read.
        OSError: the directory cannot be written to, or the disk is full.
    """
    directory = pathlib.Path(directory)
    maxima = max_source_length, max_target_length
    dtype = token_dtype(tokenizer)
    place = directory / _key(files, tokenizer, maxima)
    if place.exists():
        encoded = _read(place, dtype, len(files))
        if encoded is not None:
            return encoded
        warnings.warn(f"{place} is damaged; the text is tokenized anew.", stacklevel=2)
        shutil.rmtree(place)
    directory.mkdir(parents=True, exist_ok=True)
    delete_leftovers(directory)
    temporary = directory / f".tmp-{os.getpid()}-{place.name}"
    try:
        temporary.mkdir()
        dropped = _write(files, tokenizer, maxima, temporary, report)
        encoded = _mapped(temporary, dtype, dropped)
        text = json.dumps(_facts(encoded), indent=2) + "\n"
        (temporary / FACTS).write_text(text, "utf-8")
        _take_place(temporary, place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return encoded


def _key(files, tokenizer, maxima):
    parts = [FORMAT, files.sha256, tokenizer.sha256, *maxima]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _types(dtype):
    """The files and the types of their numbers, in the order of `TokenBlock`."""
    return {
        "source_tokens": dtype,
        "source_offsets": _OFFSETS,
        "target_tokens": dtype,
        "target_offsets": _OFFSETS,
        "numbers": _NUMBERS,
    }


def _write(files, tokenizer, maxima, directory, report):
    """Writes the arrays of a corpus; returns what was dropped."""
    dropped = collections.Counter()
    ends, kept = [0, 0], 0
    with contextlib.ExitStack() as stack:
        source, source_offsets, target, target_offsets, numbers = (
            stack.enter_context(open(directory / name, "wb")) for name in _types(None)
        )
        for offsets in (source_offsets, target_offsets):
            offsets.write(np.zeros(1, _OFFSETS))
        for block in encoded_blocks(files, tokenizer, *maxima):
            source.write(block.arrays[0])
            ends[0] = _write_ends(source_offsets, block.arrays[1], ends[0])
            target.write(block.arrays[2])
            ends[1] = _write_ends(target_offsets, block.arrays[3], ends[1])
            numbers.write(block.arrays[4])
            dropped.update(block.dropped)
            kept += len(block.arrays[4])
            report(kept + sum(dropped.values()), kept)
    check_pairs_left(kept, dropped, maxima)
    return dict(dropped)


def _write_ends(file, lengths, start):
    ends = start + np.cumsum(lengths, dtype=_OFFSETS)
    file.write(ends)
    return int(ends[-1]) if len(ends) else start


def _take_place(temporary, place):
    """Gives finished files their name and deletes those of other text."""
    for path in (*temporary.iterdir(), temporary):
        flush_to_disk(path)
    for other in place.parent.iterdir():
        if _NAME.fullmatch(other.name) and other != place:
            shutil.rmtree(other)
    try:
        os.rename(temporary, place)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        # Another worker wrote the same ids and was faster; these stay mapped here.
    flush_to_disk(place.parent)


def _mapped(directory, dtype, dropped):
    arrays = {
        name: np.memmap(directory / name, kind, mode="r").view(np.ndarray)
        for name, kind in _types(dtype).items()
    }
    return EncodedCorpus(**arrays, dropped=dropped)


def _facts(encoded):
    return {
        "dropped": encoded.dropped,
        "pairs": encoded.num_pairs,
        "sha256": encoded.sha256,
        "numbers_sha256": hashlib.sha256(encoded.numbers).hexdigest(),
    }


def _read(place, dtype, lines):
    """Returns the corpus of a directory, or None if it is not what was written."""
    try:
        facts = parse_object((place / FACTS).read_bytes())
        encoded = _mapped(place, dtype, facts["dropped"])
        counts = [encoded.num_pairs, *facts["dropped"].values()]
    except (OSError, ValueError, KeyError, AttributeError):  # missing, cut, not JSON
        return None
    whole = all(type(count) is int and count >= 0 for count in counts)
    # What was dropped has no sum of its own; all counts together are the lines.
    whole = whole and set(facts["dropped"]) <= {*REASONS} and sum(counts) == lines
    return encoded if whole and _facts(encoded) == facts else None
