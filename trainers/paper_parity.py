"""Prints, statement by statement, what the paper says and what a model does.

python -m trainers.paper_parity > docs/paper.md
python -m trainers.paper_parity --preset big
python -m trainers.paper_parity --workdir runs/a --check

Markdown on stdout: section, statement, value, code, test, the options that depart from
it, and how this configuration does. `--check` exits with 1 if it does anywhere.
"""

import sys

from trainers import _flags
from trainers._fields import PRESET_NAMES

_flags.workdir()
_flags.define("preset", PRESET_NAMES, "instead of a workdir (default: base)")
_flags.define("check", bool, "exit with 1 where the configuration departs")


def main():
    """Prints the report of the defaults, of a preset or of a run."""
    named = _flags.FLAGS.preset
    if _flags.FLAGS.workdir is not None:
        if named:
            raise _flags.app.UsageError("give --workdir or --preset, not both")
        _flags.existing_workdir()

    _flags.load_tensorflow()
    from keras_attention.studies.parity_report import parity_report, parity_rows

    configurations, model, title = _subject(_flags.FLAGS.workdir, named)
    sys.stdout.write(parity_report(configurations, model, title))
    if _flags.FLAGS.check:
        return int(any(row[-1] for row in parity_rows(configurations, model)))
    return 0


def _subject(workdir, preset):
    """Returns configurations, the model of the paper they follow, and a title."""
    from keras_attention.studies.parity import Configurations, preset_configurations
    from keras_attention.training.workdir import read_config

    if workdir is None:
        name = preset or "base"
        title = f"the preset {name}" if preset else "the default configuration"
        return preset_configurations(name), name, title
    config = read_config(workdir)
    parts = (config[part] for part in ("transformer", "training", "decoding"))
    return Configurations(*parts), config.get("preset") or "base", str(workdir)


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
