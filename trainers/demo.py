"""Serves a page on this machine to try an exported version: http://127.0.0.1:7860.

python -m trainers.demo --version_dir saved_models/a
"""

from trainers import _flags, _paths

_flags.define("version_dir", str, "saved_models/NAME/VERSION, or NAME: its newest")
_flags.define("port", int, "of the page; 0 takes a free one (default: 7860)")


def main():
    """Loads the version and serves its page until the process is told to end."""
    version = _paths.existing_directory(_flags.required("version_dir"), "--version_dir")
    port = _flags.FLAGS.port

    _flags.load_tensorflow()
    from keras_attention.export.demo import PORT, serve_demo

    def announce(address):
        print(address, flush=True)

    serve_demo(version, PORT if port is None else port, announce)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
