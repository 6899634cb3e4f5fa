"""Trains a model in a workdir, or goes on with the run that it holds.

python -m trainers.train_translation --workdir runs/a --preset tiny \
    --train_source train.en --train_target train.de \
    --valid_source val.en --valid_target val.de --vocabulary_size 8000

The same command goes on after a kill. SIGTERM and Ctrl-C save the run first; the exit
codes are then 143 and 130. Before the first update there is nothing to save, and both
end the process at once.
"""

import signal

from trainers import _flags, _paths
from trainers._fields import PRESET_NAMES

_flags.workdir()
_flags.define("preset", PRESET_NAMES, "recipe (default: the workdir's, or base)")
_flags.define("initial_workdir", str, "finished run to take the first weights from")
CORPUS = _flags.corpus()
TRANSFORMER = _flags.config_flags("transformer")
TRAINING = _flags.config_flags("training")
DECODING = _flags.config_flags(
    "decoding", "beam_size", "length_penalty_alpha", "max_extra_length"
)


def main():
    """Checks flags and files, then trains."""
    workdir = _paths.writable_directory(_flags.required("workdir"))
    recorded = (workdir / "config.json").exists()
    data = CORPUS() if _named_text() or not recorded else None

    _flags.load_tensorflow()
    from keras_attention.training.run import train

    # Python's own handler would wait for the end of C++ that learns the subwords.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    result = train(
        workdir,
        data,
        preset=_flags.FLAGS.preset,
        transformer=TRANSFORMER(),
        training=TRAINING(),
        decoding=DECODING(),
        initial_workdir=_flags.FLAGS.initial_workdir,
        stream=_flags.progress_stream(),
    )
    return result.exit_code


def _named_text():
    names = (*_flags.CORPUS_FILES, *_flags.TFDS, "synthetic")
    return any(_flags.FLAGS[name].value for name in names)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
