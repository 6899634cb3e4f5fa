"""A server that speaks the protocols of TensorFlow Serving; a program for tests.

    python -m tests.serving.server NAME=FOLDER [NAME=FOLDER ...]

The engine is TensorFlow's C API, the messages are those of tensorflow-serving-api, and
Python TensorFlow is not imported. It says its ports as a line of JSON when the first
look at the folders is over, and ends with its standard input. What it is not: the
BatchingSession, the JSON reader, the HTTP server and the load retries of C++.
"""

import argparse
import json
import os
import pathlib
import sys
import threading

from tests.serving import protos


def parsed():
    """The arguments, called as those of `tensorflow_model_server`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="+", help="NAME=FOLDER of its versions")
    parser.add_argument("--batching_parameters_file", type=pathlib.Path)
    parser.add_argument("--enable_per_model_batching_parameters", action="store_true")
    parser.add_argument("--file_system_poll_wait_seconds", type=float, default=1.0)
    parser.add_argument("--rest_api_timeout_in_ms", type=int, default=30_000)
    parser.add_argument("--grpc_threads", type=int, default=32)
    parser.add_argument("--max_message_bytes", type=int, default=2**31 - 1)
    return parser.parse_args()


def main():
    """Serves until standard input ends."""
    arguments = parsed()
    protos.stand_in()  # before anything that imports messages
    from tests.serving import fronts
    from tests.serving.batching import Parameters
    from tests.serving.models import ServedModel, batching_parameters
    from tests.serving.service import Service

    library = protos.engine.Engine()
    path = arguments.batching_parameters_file
    parameters = batching_parameters(
        Parameters.read(path) if path else None,
        arguments.enable_per_model_batching_parameters,
    )
    models = {}
    for each in arguments.models:
        name, _, folder = each.partition("=")
        models[name] = ServedModel(name, pathlib.Path(folder), library, parameters)
        models[name].poll()
    ended = threading.Event()

    def polling():
        while not ended.wait(arguments.file_system_poll_wait_seconds):
            for model in models.values():
                model.poll()

    poller = threading.Thread(target=polling, daemon=True)
    poller.start()
    service = Service(models)
    seconds = arguments.rest_api_timeout_in_ms / 1_000
    grpc_server, grpc_port = fronts.serve_grpc(
        service, arguments.grpc_threads, arguments.max_message_bytes
    )
    rest_server, rest_port = fronts.serve_rest(service, seconds)
    foreign = sorted(name for name in sys.modules if name.startswith("keras"))
    said = {"grpc": grpc_port, "rest": rest_port, "pid": os.getpid()}
    print(json.dumps({**said, "foreign": foreign}), flush=True)
    for line in sys.stdin:  # what a test wants to know
        if line.strip() == "batches":
            sizes = {}
            for name, model in models.items():
                with model.version() as version:
                    sizes[name] = version.batches
            print(json.dumps(sizes), flush=True)
    ended.set()
    poller.join()
    rest_server.shutdown()
    grpc_server.stop(0).wait()


if __name__ == "__main__":
    main()
