"""How long would an update take on many GPUs, and how much of it is the all-reduce?

python benchmarks/scaling.py [--utilisation 0.3] [--overhead_ms 10] ...

A calculation on paper: nothing is measured. A GPU computes its share of the cells at a
fixed part of its peak rate, then all replicas sum their float32 gradients in a ring,
without overlap, as the update of this package does. Every assumption is a flag.
"""

import argparse
import dataclasses

from keras_attention.config import TransformerConfig

VOCABULARY = 37_000
GRADIENT_BYTES = 4  # float32, under every dtype policy


@dataclasses.dataclass(frozen=True)
class Machines:
    """GPUs and what lies between them.

    Args:
        name: as in the table.
        gpus: in all.
        gpus_per_host: that NVLink joins.
        peak: bfloat16 operations a second of one GPU, without sparsity.
        link: bytes a second and direction of one GPU's NVLink.
        network: bytes a second and direction of one host's network.
    """

    name: str
    gpus: int
    gpus_per_host: int
    peak: float
    link: float
    network: float

    def bandwidth(self):
        """Bytes a second of the slowest part of a ring through all GPUs.

        Rings in parallel share the network cards of a host, and all of them are used.
        """
        alone = self.gpus <= self.gpus_per_host
        return self.link if alone else min(self.link, self.network)


def parameter_count(config):
    """Parameters of a model with one matrix for embeddings and output, as printed."""
    d, f, n = config.model_dim, config.feed_forward_dim, config.num_layers
    attention = _attention(config)
    feed_forward = 2 * d * f + f + d
    encoder, decoder = (a * attention + feed_forward + 2 * (a + 1) * d for a in (1, 2))
    return config.vocabulary_size * d + n * (encoder + decoder)


def _attention(config):
    key_dim, value_dim = config.head_dims()
    return 2 * config.model_dim * config.num_heads * (key_dim + value_dim)


def update_operations(config, cells, length):
    """Floating-point operations of an update: matrix products, forward and backward.

    Args:
        config: a `TransformerConfig`.
        cells: of one side of the batch; the other has as many.
        length: of a row, for the products of attention with their lengths.
    """
    d, f, n = config.model_dim, config.feed_forward_dim, config.num_layers
    key_dim, value_dim = config.head_dims()
    attention = 2 * _attention(config)  # queries of one side, keys of the other
    scores = 2 * length * config.num_heads * (key_dim + value_dim)
    layers = n * (3 * (attention + scores) + 2 * 2 * (2 * d * f))
    return 3 * cells * (layers + 2 * d * config.vocabulary_size)


def all_reduce_seconds(size, gpus, bandwidth, latency=0.0):
    """Seconds of a ring all-reduce: every byte goes around almost twice.

    Args:
        size: bytes that every GPU holds.
        gpus: in the ring.
        bandwidth: bytes a second of its slowest link.
        latency: seconds of one of the 2 (gpus - 1) steps.
    """
    return 2 * (gpus - 1) * (size / gpus / bandwidth + latency)


def estimate(config, machines, cells, assumed):
    """Returns (seconds to compute, seconds of the all-reduce) of an update."""
    operations = update_operations(config, cells, assumed.length)
    rate = machines.gpus * machines.peak * assumed.utilisation
    computed = operations / rate + assumed.overhead_ms / 1e3
    size = GRADIENT_BYTES * parameter_count(config)
    bandwidth = machines.bandwidth() * assumed.link_efficiency
    latency = assumed.latency_us / 1e6
    return computed, all_reduce_seconds(size, machines.gpus, bandwidth, latency)


def table(assumed):
    """Returns the lines of the table."""
    places = [
        Machines("8 x A100", 8, 8, assumed.a100_tflops * 1e12, assumed.a100_link, 0.0),
        Machines(
            "64 x H100",
            64,
            8,
            assumed.h100_tflops * 1e12,
            assumed.h100_link,
            assumed.h100_network,
        ),
    ]
    lines = [
        "| model | machines | cells a side | a GPU | compute | all-reduce | update "
        "| share | 100 000 updates |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ("base", "big"):
        config = TransformerConfig.from_preset(name, vocabulary_size=VOCABULARY)
        for machines in places:
            for cells in assumed.batch_tokens:
                times = estimate(config, machines, cells, assumed)
                lines.append(_row(name, machines, cells, *times))
    return lines


def _row(name, machines, cells, computed, reduced):
    total = computed + reduced
    return (
        f"| {name} | {machines.name} | {cells:,} | {cells / machines.gpus:,.0f} | "
        f"{computed * 1e3:.1f} ms | {reduced * 1e3:.1f} ms | {total * 1e3:.1f} ms | "
        f"{reduced / total:.0%} | {total * 100_000 / 3600:.1f} h |"
    )


def assumptions(arguments=None):
    """Returns the flags."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--batch_tokens", type=int, nargs="+", default=[25_000, 400_000])
    add("--length", type=int, default=32, help="cells of a row and side")
    add("--utilisation", type=float, default=0.3, help="of the peak rate")
    add("--overhead_ms", type=float, default=10.0, help="of the host, an update")
    add("--link_efficiency", type=float, default=0.7, help="of the bandwidth")
    add("--latency_us", type=float, default=5.0, help="of a step of the ring")
    add("--a100_tflops", type=float, default=312.0, help="bfloat16, dense")
    add("--h100_tflops", type=float, default=989.0, help="bfloat16, dense (SXM)")
    add("--a100_link", type=float, default=300e9, help="NVLink 3, bytes/s, one way")
    add("--h100_link", type=float, default=450e9, help="NVLink 4, bytes/s, one way")
    add("--h100_network", type=float, default=400e9, help="8 x 400 Gbit/s, bytes/s")
    return parser.parse_args(arguments)


def main():
    """Prints the table."""
    print("\n".join(table(assumptions())))


if __name__ == "__main__":
    main()
