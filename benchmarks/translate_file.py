"""Does a whole file translate as fast as the search alone, in constant memory?

python -m benchmarks.translate_file --workdir RUN --input FILE [--forced] [--rounds 3]
python -m benchmarks.translate_file --workdir RUN --lines 1000000

The first form alternates, in one process, three things and prints the target tokens/s
of each: the way of `ka-translate` (lines read, encoded, sorted, packed, searched,
decoded, written in order); the searches of the same batches alone; and batches of the
same length (20 + 20 pieces, END suppressed), as `benchmarks.decode` has them. With
`--forced`, END is suppressed everywhere and a translation is as long as its source;
else a search goes on behind its best hypothesis, and those steps give no token. The
second form streams so many short lines and prints the memory as it goes (Linux).
"""

import argparse
import gzip
import itertools
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

FORM = "text"
LENGTH, ROWS = 20, 128
WORDS = "a dog runs on the green grass and two men look at it".split()


def forced():
    """Returns what makes every hypothesis reach its limit, the length of its source."""
    from keras_attention.vocabulary import END_ID

    return {"suppress_ids": (END_ID,), "max_extra_length": 0}


def read_lines(path):
    """Returns the lines of a text file, plain or .gz, as bytes."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return file.readlines()


def whole_way(translator, lines):
    """Translates and writes lines; returns target tokens and seconds."""
    from keras_attention.decoding.formats import TranslationLines
    from keras_attention.decoding.lines import translated

    write, tokens, start = TranslationLines(FORM, translator), 0, time.perf_counter()
    with open(os.devnull, "w", encoding="utf-8") as file:
        for number, each in enumerate(translated(translator, lines)):
            file.write(write(number, each))
            tokens += each.length
    return tokens, time.perf_counter() - start


def searches_alone(translator, lines):
    """Searches the same batches, encoded before; returns tokens and seconds."""
    from keras_attention.decoding.lines import windows
    from keras_attention.decoding.texts import batches, dense, most_rows

    config, ready = translator.decoding_config, []
    for _, texts in windows([("lines", lines)]):
        ids, lengths = translator._encode(texts)
        cells = ids.row_lengths().numpy() * (lengths.numpy() > 0)
        for rows in batches(cells, config.batch_tokens, most_rows(config)):
            ready.append(dense(ids, rows))
    start = time.perf_counter()
    tokens = sum(
        int(translator._searches(batch, config).lengths[:, 0].sum()) for batch in ready
    )
    return tokens, time.perf_counter() - start


def equal_lengths(translator, batches=8):
    """Searches batches as `benchmarks.decode` does; returns tokens and seconds."""
    import numpy as np

    from keras_attention.vocabulary import END_ID

    config = translator.decoding_config.replace(**forced())
    size = translator.tokenizer.vocabulary_size
    shape = (batches, ROWS, LENGTH)
    ids = np.random.default_rng(1).integers(4, size, shape).astype("int32")
    ids = np.pad(ids, ((0, 0), (0, 0), (0, 1)), constant_values=END_ID)
    start = time.perf_counter()
    tokens = sum(
        int(translator._searches(batch, config).lengths[:, 0].sum()) for batch in ids
    )
    return tokens, time.perf_counter() - start


def compare(translator, path, rounds):
    """Prints the rate of the three, the best of some rounds after a warm-up."""
    lines = read_lines(path)
    ways = {
        "whole way": lambda: whole_way(translator, lines),
        "its searches alone": lambda: searches_alone(translator, lines),
        "equal lengths": lambda: equal_lengths(translator),
    }
    for number in range(rounds + 1):
        found = {name: way() for name, way in ways.items()}
        if not number:
            best = {name: 0.0 for name in ways}
            continue
        for name, (tokens, seconds) in found.items():
            best[name] = max(best[name], tokens / seconds)
    print(f"{len(lines)} lines, {found['whole way'][0]} target tokens")
    for name, rate in best.items():
        share = best["whole way"] / rate
        print(
            f"{name:20} {rate:8.0f} target tok/s; the whole way has {share:.2f} of it"
        )


def stream(translator, lines):
    """Prints the memory while many short lines pass through."""
    from keras_attention.decoding.lines import translated

    source = (" ".join(WORDS[: 1 + n % 4]) + "\n" for n in itertools.count())
    start = time.perf_counter()
    config = {"beam_size": 1, "max_extra_length": 2}
    for number, _ in enumerate(
        translated(translator, itertools.islice(source, lines), **config), 1
    ):
        if number % max(1, lines // 20) == 0:
            now = time.perf_counter() - start
            print(f"{number:9} lines {now:7.0f} s {_memory():7.0f} MiB", flush=True)


def _memory():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main():
    """Parses the flags and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workdir", required=True)
    parser.add_argument("--input", type=pathlib.Path)
    parser.add_argument("--forced", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int)
    flags = parser.parse_args()

    import keras_attention as ka

    overrides = forced() if flags.forced else {}
    translator = ka.Translator.load(flags.workdir, **overrides)
    if flags.input:
        compare(translator, flags.input, flags.rounds)
    if flags.lines:
        stream(translator, flags.lines)


if __name__ == "__main__":
    main()
