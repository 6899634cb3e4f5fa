"""Averages the last checkpoints of a run into its model.keras (paper, section 6.1).

python -m trainers.average_checkpoints --workdir runs/a --average_checkpoints 5

With --best the one checkpoint with the best validation BLEU becomes the model instead.
The run may go on meanwhile.
"""

from absl import app, logging

from trainers import _flags

_flags.workdir()
TRAINING = _flags.config_flags("training", "average_checkpoints")
_flags.define("best", bool, "take the checkpoint with the best validation BLEU")


def main():
    """Averages model weights only; the checkpoints stay as they are."""
    workdir = _flags.existing_workdir("checkpoints")
    count = TRAINING().get("average_checkpoints")
    if _flags.FLAGS.best and count is not None:
        raise app.UsageError("--average_checkpoints has no meaning beside --best")

    _flags.load_tensorflow()
    from keras_attention.training.averaging import average_workdir

    path, _ = average_workdir(workdir, count=count, best=bool(_flags.FLAGS.best))
    logging.info("%s", path)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
