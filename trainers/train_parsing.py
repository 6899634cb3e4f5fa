"""Trains a parser in a workdir, or goes on with the run that it holds (6.3).

python -m trainers.train_parsing --workdir runs/p --vocabulary_size 16000 \
    --train_trees wsj.02-21 --valid_trees wsj.22

The same command goes on after a kill, as that of train_translation does. Trees are in
Penn-style brackets; traces and function tags are left out.
"""

import signal

from absl import app

from trainers import _flags, _paths, _trees
from trainers._fields import PRESET_NAMES

_flags.workdir()
_flags.define("preset", PRESET_NAMES, "recipe (default: the workdir's, or parsing)")
_flags.define("initial_workdir", str, "finished run to take the first weights from")
TREES = _trees.tree_flags()
TRANSFORMER = _flags.config_flags("transformer")
TRAINING = _flags.config_flags("training")
DECODING = _flags.config_flags(
    "decoding", "beam_size", "length_penalty_alpha", "max_extra_length"
)


def main():
    """Checks flags and files, then trains."""
    workdir = _paths.writable_directory(_flags.required("workdir"))
    recorded = (workdir / "config.json").exists()
    trees = TREES()
    if trees is None and not recorded:
        raise app.UsageError("no trees: name --train_trees or --synthetic")

    _flags.load_tensorflow()
    from keras_attention.training.run import train

    # Python's own handler would wait for the end of C++ that learns the subwords.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    result = train(
        workdir,
        {"trees": trees} if trees else None,
        preset=_flags.FLAGS.preset or (None if recorded else "parsing"),
        transformer=TRANSFORMER(),
        training=TRAINING(),
        decoding=DECODING(),
        initial_workdir=_flags.FLAGS.initial_workdir,
        stream=_flags.progress_stream(),
    )
    return result.exit_code


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
