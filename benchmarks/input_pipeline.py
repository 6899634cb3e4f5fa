"""Is the input pipeline faster than training, and how much memory takes a pair?

python benchmarks/input_pipeline.py --pairs 500000 5000000 --max_minutes 15

Makes corpora of the embedded grammar in a temporary directory, and for each, in a
process of its own: tokenizes it to disk ("prepare"), then maps it, plans two epochs
and reads batches ("read"). Memory is the peak of the anonymous resident memory, so
pages of mapped files, which the system may drop, do not count. The slope between the
smallest and the largest corpus is the memory of a pair.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

GOAL_BYTES, GOAL_RATIO = 32, 20
SENTENCES = 20_000  # of the grammar; a line joins one or two of them
VOCABULARY = 2_000


class PeakMemory:
    """Watches the anonymous resident memory of this process while it is entered."""

    def __init__(self, seconds=0.01):
        self.peak = 0
        self._seconds = seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(self._seconds):
            status = pathlib.Path("/proc/self/status").read_text()
            (line,) = (x for x in status.splitlines() if x.startswith("RssAnon:"))
            self.peak = max(self.peak, int(line.split()[1]) << 10)


def make_corpus(folder, pairs):
    """Writes `pairs` lines of the embedded grammar a side, repeatably."""
    from keras_attention.data.synthetic import synthetic_corpus

    examples = synthetic_corpus("train", SENTENCES)
    rng = random.Random(1)
    with open(folder / "en", "w") as source, open(folder / "de", "w") as target:
        for _ in range(pairs):
            line = rng.choices(examples, k=rng.randint(1, 2))
            source.write(" ".join(example.source for example in line) + "\n")
            target.write(" ".join(example.target for example in line) + "\n")


def corpus_of(folder):
    """Returns the files of a corpus and the tokenizer, learned once."""
    from keras_attention import data

    place = folder.parent / "tokenizer"
    if not place.exists():
        from keras_attention.data.synthetic import synthetic_corpus

        examples = synthetic_corpus("train", SENTENCES)
        lines = [text for e in examples for text in (e.source, e.target)]
        data.SubwordTokenizer.learn_from_lines(lines, VOCABULARY).save(place)
    files = data.ParallelFiles(folder / "en", folder / "de")
    return files, data.SubwordTokenizer.load(place)


def prepare(folder, arguments):
    """Tokenizes a corpus to disk; returns its figures."""
    from keras_attention import data
    from keras_attention.training.encoding_progress import EncodingProgress

    files, tokenizer = corpus_of(folder)
    tokenizer.tokenize(["warm up"])
    began, counted = time.monotonic(), [0]
    say = EncodingProgress(len(files), lambda text: print(text, file=sys.stderr), 20)

    def report(done, kept):
        counted[0] = done
        say(done, kept)
        if time.monotonic() - began > arguments.max_minutes * 60:
            raise TimeoutError

    with PeakMemory() as memory:
        try:
            encode(data, files, tokenizer, folder, report)
            complete = True
        except TimeoutError:
            complete = False
    seconds = time.monotonic() - began
    return {
        "complete": complete,
        "pairs": counted[0],
        "seconds": seconds,
        "peak": memory.peak,
    }


def encode(data, files, tokenizer, folder, report=lambda done, kept: None):
    return data.encode_files(files, tokenizer, 256, 256, folder / "ids", report)


def read(folder, arguments):
    """Maps a prepared corpus, plans two epochs and reads batches of both."""
    from keras_attention import data
    from keras_attention.training.recorder import count_tokens

    files, tokenizer = corpus_of(folder)
    with PeakMemory() as memory:
        began = time.monotonic()
        batches = data.TokenBatches(
            encode(data, files, tokenizer, folder), arguments.batch_tokens
        )
        opened = time.monotonic() - began
        began = time.monotonic()
        for epoch in range(2):
            counts = count_tokens(batches, epoch)
        planned = time.monotonic() - began
        tokens = seconds = 0
        for epoch in range(2):
            counts = count_tokens(batches, epoch)
            steps = min(arguments.batches, len(counts))
            tokens += sum(counts[step]["target_tokens"] for step in range(steps))
            dataset = batches.dataset(epoch).take(steps)
            began = time.perf_counter()
            for _ in dataset:
                pass
            seconds += time.perf_counter() - began
    return {
        "pairs": batches.encoded.num_pairs,
        "open_seconds": opened,
        "plan_seconds": planned / 2,
        "tokens_per_second": tokens / seconds,
        "batch_milliseconds": 1e3 * seconds / (2 * steps),
        "peak": memory.peak,
    }


def train(folder, arguments):
    """Trains the tiny preset on one batch of the pipeline; target tokens/s."""
    import keras_attention as ka

    files, tokenizer = corpus_of(folder)
    batches = ka.data.TokenBatches(
        encode(ka.data, files, tokenizer, folder), arguments.batch_tokens
    )
    size = tokenizer.vocabulary_size
    config = ka.TransformerConfig.from_preset("tiny", vocabulary_size=size)
    model = ka.build_transformer(config)
    model.compile(
        optimizer=ka.make_optimizer(config.model_dim),
        loss=ka.LabelSmoothedCrossEntropy(0.1),
    )
    batch = batches.dataset(0).take(1).cache()
    tokens = sum(int((label != ka.PAD_ID).numpy().sum()) for _, label in batch)
    model.fit(batch.repeat(3), verbose=0, shuffle=False)
    began = time.perf_counter()
    model.fit(batch.repeat(arguments.updates), verbose=0, shuffle=False)
    return {"tokens_per_second": arguments.updates * tokens / timed(began)}


def timed(began):
    return time.perf_counter() - began


STAGES = {"prepare": prepare, "read": read, "train": train}


def in_child(stage, folder):
    """Runs a stage in a process of its own, so that peaks do not mix."""
    command = [sys.executable, __file__, *sys.argv[1:], "--stage", stage, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def report(pairs, folder, memory):
    """Measures one size; returns whether it was complete."""
    began = time.monotonic()
    make_corpus(folder, pairs)
    print(f"{pairs} pairs, made in {time.monotonic() - began:.0f} s", flush=True)
    done = in_child("prepare", folder)
    rate = done["pairs"] / done["seconds"]
    print(
        f"  prepare: {done['pairs']} pairs in {done['seconds']:.0f} s, {rate:.0f} a "
        f"second, {1e6 / rate / 60:.2f} minutes a million; peak "
        f"{done['peak'] / 2**20:.0f} MiB",
        flush=True,
    )
    if not done["complete"]:
        print("  the time limit came first: no slope from this size")
        return False
    memory["prepare"].append((done["pairs"], done["peak"]))
    done = in_child("read", folder)
    memory["read"].append((done["pairs"], done["peak"]))
    print(
        f"  read: opened in {done['open_seconds']:.1f} s, an epoch planned in "
        f"{done['plan_seconds']:.2f} s; {done['tokens_per_second'] / 1e6:.2f} million "
        f"target tokens/s, {done['batch_milliseconds']:.2f} ms a batch; peak "
        f"{done['peak'] / 2**20:.0f} MiB",
        flush=True,
    )
    rate = in_child("train", folder)["tokens_per_second"]
    ratio = done["tokens_per_second"] / rate
    print(
        f"  train: the tiny model takes {rate:.0f} target tokens/s: the pipeline gives "
        f"{ratio:.0f} x that (goal {GOAL_RATIO})",
        flush=True,
    )
    return True


def main():
    """Parses the command line and reports, or runs one stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[500_000, 5_000_000])
    parser.add_argument("--max_minutes", type=float, default=15, help="a preparation")
    parser.add_argument("--batch_tokens", type=int, default=4_096)
    parser.add_argument("--batches", type=int, default=2_000, help="read an epoch")
    parser.add_argument("--updates", type=int, default=20, help="of training")
    parser.add_argument("--directory", help="for the corpora; None = temporary files")
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage:
        stage, folder = arguments.stage
        print(json.dumps(STAGES[stage](pathlib.Path(folder), arguments)))
        return
    memory = {"prepare": [], "read": []}
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        for pairs in arguments.pairs:
            folder = pathlib.Path(directory) / str(pairs)
            folder.mkdir()
            report(pairs, folder, memory)
    for stage, points in memory.items():
        if len(points) > 1:
            (few, least), (many, most) = min(points), max(points)
            slope = (most - least) / (many - few)
            print(f"{stage}: {slope:.1f} bytes a pair (goal {GOAL_BYTES})")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    main()
