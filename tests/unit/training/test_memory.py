import types

import numpy as np
import tensorflow as tf

from keras_attention.training import memory
from keras_attention.training.memory import memory_figures


def test_a_block_of_memory_shows(monkeypatch):
    before = memory_figures()
    block = np.ones(2**26)  # half a GiB
    during = memory_figures()
    assert 0.45 < during["memory_gib"] - before["memory_gib"] < 0.6
    del block
    after = memory_figures()
    assert after["memory_gib"] < during["memory_gib"] - 0.4
    assert after["peak_memory_gib"] >= during["memory_gib"] - 0.01


def test_where_the_system_does_not_tell_it(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_STATM", tmp_path / "statm")
    assert list(memory_figures()) == ["peak_memory_gib"]


def test_of_several_gpus_the_fullest_counts(monkeypatch):
    held = {
        "GPU:0": {"current": 2**30, "peak": 3 * 2**30},
        "GPU:1": {"current": 2**31, "peak": 2**31},
    }
    devices = [types.SimpleNamespace(name=f"/device:{name}") for name in held]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: devices)
    monkeypatch.setattr(tf.config.experimental, "get_memory_info", held.__getitem__)
    figures = memory_figures()
    assert figures["gpu_memory_gib"] == 2.0
    assert figures["gpu_peak_memory_gib"] == 3.0
