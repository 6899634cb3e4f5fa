"""Is the smoothed loss faster without a one-hot tensor, and does it need less memory?

python benchmarks/label_smoothed_loss.py [--tokens 1536] [--vocabulary_size 8000]

Alternates the loss of the package and the same loss by a one-hot target, forward and
backward, on the same logits in one run, and prints the minima and their ratio.
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

import keras_attention as ka


def one_hot_loss(labels, logits, smoothing):
    """The loss with a target of shape (B, T, V)."""
    classes = logits.shape[-1]
    target = tf.one_hot(labels, classes, 1 - smoothing, smoothing / (classes - 1))
    losses = tf.nn.softmax_cross_entropy_with_logits(target, logits)
    return losses * tf.cast(labels != ka.PAD_ID, tf.float32)


def forward_and_backward(loss):
    """Returns a graph from labels and logits to the mean loss and its gradient."""

    @tf.function
    def step(labels, logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            mean = tf.reduce_mean(loss(labels, logits))
        return mean, tape.gradient(mean, logits)

    return step


def main():
    """Measures both and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=1536)
    parser.add_argument("--vocabulary_size", type=int, default=8000)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    shape = (arguments.tokens // 24, 24)
    logits = tf.random.normal((*shape, arguments.vocabulary_size), seed=1)
    labels = tf.random.uniform(shape, 4, arguments.vocabulary_size, tf.int32, seed=2)
    smoothed = ka.LabelSmoothedCrossEntropy(0.1)
    steps = {
        "without one-hot": forward_and_backward(smoothed.call),
        "with one-hot": forward_and_backward(lambda y, z: one_hot_loss(y, z, 0.1)),
    }
    best = dict.fromkeys(steps, float("inf"))
    results = {}
    for _ in range(arguments.repeats + 1):
        for name, step in steps.items():
            start = time.perf_counter()
            mean, gradient = step(labels, logits)
            gradient.numpy()
            best[name] = min(best[name], time.perf_counter() - start)
            results[name] = (float(mean), gradient)
    for name, seconds in best.items():
        print(f"{name:16} {seconds * 1e3:8.1f} ms   loss {results[name][0]:.5f}")
    difference = tf.reduce_max(tf.abs(results["without one-hot"][1] - gradient))
    ratio = best["with one-hot"] / best["without one-hot"]
    print(f"largest difference of the gradients {float(difference):.1e}")
    print(f"with one-hot takes {ratio:.2f} x the time")


if __name__ == "__main__":
    main()
