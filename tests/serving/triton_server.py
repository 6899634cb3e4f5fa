"""Serves an export with NVIDIA's Triton; a program for an environment of its own.

    python triton_server.py ENGINE.py VERSION SITE_PACKAGES

Triton batches the requests, and TensorFlow's C API, which `ENGINE.py` loads from
SITE_PACKAGES, answers them: neither TensorFlow nor Keras is imported. The ports are
said as a line of JSON, and the program ends with its standard input.
"""

import importlib.util
import json
import socket
import sys

import numpy as np

BATCH, DELAY_MICROSECONDS = 32, 5_000
SIGNATURE = "serving_default"


def free_ports(count):
    """Ports that nothing listens on."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def load(path, version, packages):
    """The SavedModel, in the engine at `path`."""
    spec = importlib.util.spec_from_file_location("engine", path)
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)
    return engine.SavedModel(engine.Engine([packages]), version)


def main():
    """Serves until standard input ends."""
    from pytriton.decorators import batch
    from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
    from pytriton.triton import Triton, TritonConfig

    model = load(*sys.argv[1:])

    @batch
    def infer(text):
        texts = [bytes(value) for value in text[:, 0]]
        found = model.run(SIGNATURE, {"text": texts})
        return {
            "translation": np.array(found["translation"][0], object)[:, None],
            "score": np.array(found["score"][0], np.float32)[:, None],
            "truncated": np.array(found["truncated"][0], np.bool_)[:, None],
        }

    http, grpc, metrics = free_ports(3)
    config = TritonConfig(
        http_address="127.0.0.1",
        http_port=http,
        grpc_address="127.0.0.1",
        grpc_port=grpc,
        metrics_port=metrics,
        log_verbose=0,
    )
    with Triton(config=config) as triton:
        triton.bind(
            model_name="model",
            infer_func=infer,
            inputs=[Tensor(name="text", dtype=bytes, shape=(1,))],
            outputs=[
                Tensor(name="translation", dtype=bytes, shape=(1,)),
                Tensor(name="score", dtype=np.float32, shape=(1,)),
                Tensor(name="truncated", dtype=np.bool_, shape=(1,)),
            ],
            config=ModelConfig(
                max_batch_size=BATCH,
                batcher=DynamicBatcher(max_queue_delay_microseconds=DELAY_MICROSECONDS),
            ),
            strict=True,
        )
        triton.run()
        foreign = [name for name in sys.modules if name in ("tensorflow", "keras")]
        places = {"http": f"127.0.0.1:{http}", "metrics": f"127.0.0.1:{metrics}"}
        print(json.dumps({**places, "foreign": foreign}), flush=True)
        sys.stdin.read()
    model.close()


if __name__ == "__main__":
    main()
