"""How much of a batch is real? Prints it for two token budgets.

python benchmarks/batching.py --source train.en.gz --target train.de.gz
"""

import argparse
import time

import numpy as np

from keras_attention import data


def report(encoded, batch_tokens, rows_multiple):
    """Prints the figures of one token budget."""
    batches = data.TokenBatches(encoded, batch_tokens, rows_multiple)
    began = time.perf_counter()
    plan = batches.plan(epoch=0)
    planned = time.perf_counter() - began
    for rows, shape in plan:
        encoded.padded(rows, shape)
    padded = time.perf_counter() - began - planned
    steps = sum(1 for _ in batches.dataset(epoch=1))
    streamed = time.perf_counter() - began - planned - padded
    cells = 2 * sum(np.prod(shape) for _, shape in plan)
    print(
        f"{batch_tokens} tokens: real-token share {batches.real_token_share(0):.4f}, "
        f"{len(batches.shapes)} shapes, {steps} steps; plan {planned * 1e3:.1f} ms, "
        f"padding {cells / padded / 1e6:.0f} and tf.data {cells / streamed / 1e6:.0f} "
        "million cells/s"
    )
    print("  shapes:", " ".join(f"{rows}x{length}" for rows, length in batches.shapes))


def main():
    """Parses the command line and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", nargs="+", required=True, help="text files")
    parser.add_argument("--target", nargs="+", required=True, help="text files")
    parser.add_argument("--kind", default="bpe", help="bpe, unigram or wordpiece")
    parser.add_argument("--vocabulary_size", type=int, default=8_000)
    parser.add_argument("--batch_tokens", type=int, nargs="+", default=[25_000, 4_096])
    parser.add_argument("--rows_multiple", type=int, default=8)
    parser.add_argument("--max_length", type=int, default=256, help="pieces a side")
    arguments = parser.parse_args()
    files = arguments.source + arguments.target
    began = time.perf_counter()
    tokenizer = data.SubwordTokenizer.learn(
        files, arguments.vocabulary_size, arguments.kind
    )
    learned = time.perf_counter() - began
    corpus = data.read_pairs(arguments.source, arguments.target)
    began = time.perf_counter()
    length = arguments.max_length
    encoded = data.encode_pairs(corpus, tokenizer, length, length)
    print(
        f"{len(corpus)} pairs, {encoded.num_pairs} kept, dropped {encoded.dropped}: "
        f"share {1 - encoded.num_pairs / corpus.counts['read']:.5f}; learning "
        f"{learned:.1f} s, encoding {time.perf_counter() - began:.1f} s"
    )
    for batch_tokens in arguments.batch_tokens:
        report(encoded, batch_tokens, arguments.rows_multiple)


if __name__ == "__main__":
    main()
