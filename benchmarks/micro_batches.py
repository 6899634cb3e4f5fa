"""How much memory does an update take in m micro-batches?

python benchmarks/micro_batches.py --tokens 25000 --micro_batches 4 8 16

Each count makes one update of a preset in a process of its own, on a batch of `tokens`
cells a side. The constant c of the best fit of c + b / m to the peaks is the program,
the parameters, their gradients, the optimizer and one chunk of logits; b belongs to the
batch. A process above `--limit_gib` is ended.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

GIB = 2**20  # the kernel counts in KiB


def update(preset, vocabulary_size, rows, length, micro_batches):
    """Makes one update and prints the peak memory in KiB and its seconds."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    import keras_attention as ka
    from keras_attention.training.steps import Steps

    config = ka.TransformerConfig.from_preset(preset, vocabulary_size=vocabulary_size)
    model = ka.build_transformer(config)
    model.compile(
        ka.make_optimizer(config.model_dim),
        ka.LabelSmoothedCrossEntropy(0.1),
        micro_batches=micro_batches,
    )
    model.optimizer.build(model.trainable_variables)
    steps = Steps(model, tf.distribute.get_strategy())
    ids = tf.random.uniform((rows, length), 4, vocabulary_size, tf.int32, seed=1)
    start = time.perf_counter()
    steps.train({"source_ids": ids, "target_ids": ids}, ids)
    steps.first_bad_step()  # waits for the update
    seconds = time.perf_counter() - start
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, seconds)


def measure(arguments, rows, length, micro_batches):
    """Returns (peak GiB, seconds) of a process, or None if it passed the limit."""
    command = [sys.executable, __file__, "--preset", arguments.preset, "--child"]
    sizes = (arguments.vocabulary_size, rows, length, micro_batches)
    child = subprocess.Popen(
        command + [str(size) for size in sizes],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    while child.poll() is None:
        if resident_gib(child.pid) > arguments.limit_gib:
            child.kill()
            child.wait()
            return None
        time.sleep(0.05)
    if child.returncode:
        raise RuntimeError(f"the update failed with exit code {child.returncode}")
    peak, seconds = map(float, child.stdout.read().split())
    return peak / GIB, seconds


def resident_gib(pid):
    """Returns what a process holds at present; 0 once it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    lines = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(lines[0].split()[1]) / GIB if lines else 0.0


def main():
    """Measures every count and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="base")
    parser.add_argument("--vocabulary_size", type=int, default=37_000)
    parser.add_argument("--tokens", type=int, default=25_000, help="cells a side")
    parser.add_argument("--length", type=int, default=25, help="cells of a row")
    parser.add_argument("--micro_batches", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--limit_gib", type=float, default=12.0)
    parser.add_argument("--child", type=int, nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        update(arguments.preset, *arguments.child)
        return
    rows = arguments.tokens // arguments.length
    print(
        f"{arguments.preset}, V {arguments.vocabulary_size}, {rows} x "
        f"{arguments.length} cells a side",
        flush=True,
    )
    peaks = {}
    for count in arguments.micro_batches:
        measured = measure(arguments, rows, arguments.length, count)
        if measured is None:
            print(f"m {count:3}: above {arguments.limit_gib} GiB, ended", flush=True)
            continue
        peaks[count] = measured[0]
        print(
            f"m {count:3}: peak {measured[0]:6.2f} GiB, {measured[1]:.0f} s", flush=True
        )
    if len(peaks) < 3:
        return
    slope, constant = np.polyfit([1 / count for count in peaks], [*peaks.values()], 1)
    print(f"best fit: {constant:.2f} GiB + {slope:.2f} GiB / m")
    for count, peak in peaks.items():
        share = (peak - constant) / slope
        print(
            f"m {count:3}: {share:.3f} of the batch's memory, 1 / m = {1 / count:.3f}"
        )


if __name__ == "__main__":
    main()
