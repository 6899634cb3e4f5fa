"""How much memory this process holds, and the most that it held."""

import pathlib
import resource

import tensorflow as tf

_STATM = pathlib.Path("/proc/self/statm")
_GIB = 2**30


def memory_figures():
    """Returns figures in GiB, as far as this system tells them.

    Returns:
        A dictionary: "memory_gib" and "peak_memory_gib" of the process in main memory;
        with GPUs also "gpu_memory_gib" and "gpu_peak_memory_gib", of the GPU that
        holds, or held, the most.

    Example:

    >>> memory_figures()["peak_memory_gib"] > 0
    True
    """
    peak = peak_memory_gib()
    figures = {"peak_memory_gib": peak}
    if _STATM.exists():  # Linux
        pages = int(_STATM.read_text().split()[1])
        now = pages * resource.getpagesize() / _GIB
        # The kernel notes a new peak a little later than the memory itself.
        figures = {"memory_gib": now, "peak_memory_gib": max(now, peak)}
    held = [
        tf.config.experimental.get_memory_info(device.name.removeprefix("/device:"))
        for device in tf.config.list_logical_devices("GPU")
    ]
    if held:
        figures["gpu_memory_gib"] = max(info["current"] for info in held) / _GIB
        figures["gpu_peak_memory_gib"] = max(info["peak"] for info in held) / _GIB
    return figures


def peak_memory_gib():
    """Returns the most main memory that this process held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # KiB on Linux
