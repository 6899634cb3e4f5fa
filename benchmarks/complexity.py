"""Table 1 on this machine: time and memory of real layers as inputs grow.

python -m benchmarks.complexity [--shortest 64] [--longest 8192] [--plot docs/x.png]

Every layer is of Keras or of this package; one process a layer, so that the peak of
its memory is its own; forward and backward of one sequence, compiled by `tf.function`.
The time is the least of `--repeats` runs, the memory the peak of the process over what
it held before. The exponents p of n^p are fitted to the `--fitted` longest inputs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

from keras_attention.evaluation.complexity import fit_exponent

KINDS = (
    "self_attention",
    "self_attention_in_chunks",
    "restricted_self_attention",
    "lstm",
    "gru",
    "convolutional",
    "dilated_convolutional",
    "separable_convolutional",
)
KERNEL_SIZE = 3
HEADS = 4


def make_layer(kind, arguments):
    """Returns a function of (1, n, d) for a kind."""
    import keras

    import keras_attention as ka

    d = arguments.model_dim
    if kind in ("lstm", "gru"):
        layer = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU}[kind]
        return layer(d, return_sequences=True)
    if "convolutional" in kind:
        separable = kind == "separable_convolutional"
        layer = keras.layers.SeparableConv1D if separable else keras.layers.Conv1D
        dilation = KERNEL_SIZE if kind == "dilated_convolutional" else 1
        return layer(d, KERNEL_SIZE, padding="same", dilation_rate=dilation)
    chosen = {
        "self_attention": {},
        "self_attention_in_chunks": {"chunk_length": arguments.chunk_length},
        "restricted_self_attention": {"window": arguments.window},
    }[kind]
    layer = ka.MultiHeadAttention(HEADS, d // HEADS, **chosen)
    return lambda x: layer(x, x)


def measure(kind, arguments):
    """Prints a line of JSON for every length."""
    import tensorflow as tf

    layer = make_layer(kind, arguments)

    @tf.function
    def update(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.square(layer(x)))
        return tape.gradient(total, x)

    layer(tf.zeros((1, 8, arguments.model_dim)))
    length = arguments.shortest
    while length <= arguments.longest:
        x = tf.random.stateless_normal((1, length, arguments.model_dim), (1, 2))
        before = status("VmRSS")
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # of the peak
        update(x)
        seconds = []
        for _ in range(arguments.repeats):
            began = time.perf_counter()
            update(x)
            seconds.append(time.perf_counter() - began)
        found = {"length": length, "seconds": min(seconds)}
        # Resident pages are counted in batches: the peak may read as below the start.
        found["bytes"] = max(status("VmHWM") - before, 0)
        print(json.dumps(found), flush=True)
        if sum(seconds) > arguments.patience:
            break
        length *= 2


def status(name):
    """Returns a figure of this process in bytes: VmRSS now, VmHWM at its peak."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(x.split()[1]) * 1024 for x in lines if x.startswith(name))


def run(kind, flags):
    """Measures one kind in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.complexity", "--kind", kind, *flags]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    # What was freed goes back to the system, so that a peak is not that of before.
    environment["MALLOC_TRIM_THRESHOLD_"] = "0"
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def exponents(points, fitted):
    """Returns the exponents of time and memory over the longest inputs."""
    last = points[-fitted:]
    lengths = [point["length"] for point in last]
    return [
        fit_exponent(lengths, [max(point[name], 1e-9) for point in last])
        for name in ("seconds", "bytes")
    ]


def print_table(results, arguments):
    lengths = sorted(
        {point["length"] for points in results.values() for point in points}
    )
    print(f"milliseconds / MB; d = {arguments.model_dim}, forward and backward")
    print("| layer | " + " | ".join(map(str, lengths)) + " | time | memory |")
    print("|---|" + "---|" * (len(lengths) + 2))
    for kind, points in results.items():
        cells = {
            p["length"]: f"{1e3 * p['seconds']:.1f} / {p['bytes'] / 1e6:.0f}"
            for p in points
        }
        time_, memory = exponents(points, arguments.fitted)
        row = " | ".join(cells.get(length, "") for length in lengths)
        print(f"| {kind} | {row} | n^{time_:.2f} | n^{memory:.2f} |")


def draw(results, path):
    """Draws time and memory against the length, both axes logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Of Okabe and Ito, which all kinds of colour vision tell apart.
    colours = "#0072B2 #56B4E9 #009E73 #D55E00 #E69F00 #CC79A7 #000000 #999999".split()
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, name, label, factor in zip(
        figure.subplots(1, 2),
        ("seconds", "bytes"),
        ("milliseconds, forward and backward", "peak of memory, MB"),
        (1e3, 1e-6),
        strict=True,
    ):
        for (kind, points), colour, mark in zip(
            results.items(), colours, "os^Dv<>P", strict=True
        ):
            axes.plot(
                [point["length"] for point in points],
                [max(point[name], 1) * factor for point in points]
                if name == "bytes"
                else [point[name] * factor for point in points],
                color=colour,
                marker=mark,
                label=kind.replace("_", " "),
            )
        axes.set(xscale="log", yscale="log", xlabel="positions n", ylabel=label)
        axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shortest", type=int, default=64)
    parser.add_argument("--longest", type=int, default=8_192)
    parser.add_argument("--model_dim", type=int, default=64)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--chunk_length", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--fitted", type=int, default=4)
    parser.add_argument("--patience", type=float, default=60, help="seconds a length")
    parser.add_argument("--kind", choices=KINDS, help="measure this one, print JSON")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--plot", help="picture to write")
    arguments = parser.parse_args()
    if arguments.kind:
        return measure(arguments.kind, arguments)
    names = "shortest longest model_dim window chunk_length repeats patience".split()
    flags = [f"--{name}={getattr(arguments, name)}" for name in names]
    results = {kind: run(kind, flags) for kind in arguments.kinds}
    print_table(results, arguments)
    if arguments.plot:
        draw(results, arguments.plot)


if __name__ == "__main__":
    main()
