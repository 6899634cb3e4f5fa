"""Serves the page of a model that answers "slow" once a file exists; run as a program.

python -m tests.integration.slow_page FILE
"""

import pathlib
import sys
import time

from keras_attention.export import demo
from keras_attention.export.client_answers import ServedHypotheses
from keras_attention.export.demo_model import DemoAnswer


class SlowModel:
    """Stands for a model; see above.

    Args:
        release: path of the file.
    """

    version = pathlib.Path("model/1")
    manifest: dict = {}
    largest_beam = 4

    def __init__(self, release):
        self._release = release

    def setting(self, name):
        return {"beam_size": 2, "length_penalty_alpha": 0.6}[name]

    def ask(self, text, *_):
        while text == "slow" and not self._release.exists():
            time.sleep(0.02)
        return DemoAnswer(ServedHypotheses((text,), (0.0,), (1,), False, False), 0.5)


if __name__ == "__main__":
    with demo.listening(0) as listener:
        server = demo.make_server(SlowModel(pathlib.Path(sys.argv[1])))
        print("http://{}:{}".format(*listener.getsockname()), flush=True)
        server.run(sockets=[listener])
