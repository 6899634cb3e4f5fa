"""Averages the last checkpoints of a run into its model.keras (paper, section 6.1).

python -m trainers.average_checkpoints --workdir runs/a --average_checkpoints 5
"""

from absl import logging

from trainers import _flags

_flags.workdir()
TRAINING = _flags.config_flags("training", "average_checkpoints")


def main():
    """Averages model weights only; the checkpoints stay as they are."""
    workdir = _flags.existing_workdir("checkpoints")

    _flags.load_tensorflow()
    from keras_attention.training.averaging import average_workdir

    path, _ = average_workdir(workdir, count=TRAINING().get("average_checkpoints"))
    logging.info("%s", path)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
