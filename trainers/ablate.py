"""Trains and scores the variations of the paper's Table 3 on other text.

python -m trainers.ablate --workdir runs/table3 --rows all --base_preset tiny \
    --train_source train.en --train_target train.de \
    --valid_source val.en --valid_target val.de --vocabulary_size 8000 --max_steps 5000

The fields of a configuration are those of the base; every row keeps the ratio that the
paper's row has to its base. The same command goes on after a kill. The table is
WORKDIR/table.md, also on stdout, and table.csv. Exit code 1: a row failed.
"""

import sys

from trainers import _flags, _paths

BASE_PRESETS = ("base", "big", "tiny")
_flags.workdir()
_flags.define("rows", list, "rows such as base,A_h1,C_n2; big; or all (default: all)")
_flags.define("base_preset", BASE_PRESETS, "what the rows vary (default: base)")
CORPUS = _flags.corpus()
# Rows vary heads and positions; one budget for all, and no averaging (6.2).
TRANSFORMER = _flags.config_flags(
    "transformer", omit=("key_dim", "value_dim", "positions", "max_length")
)
TRAINING = _flags.config_flags(
    "training", omit=("average_checkpoints", "patience", "patience_metric")
)
DECODING = _flags.config_flags(
    "decoding", "beam_size", "length_penalty_alpha", "max_extra_length"
)


def main():
    """Checks flags and files, then works on the table."""
    workdir = _paths.writable_directory(_flags.required("workdir"))
    data = CORPUS()
    names = _flags.FLAGS.rows or ["all"]

    _flags.load_tensorflow()
    from keras_attention.studies.ablation import MARKDOWN, ablate
    from keras_attention.studies.ablation_rows import ALL_ROWS

    rows = [n for name in names for n in (ALL_ROWS if name == "all" else [name])]
    result = ablate(
        workdir,
        data,
        rows,
        base_preset=_flags.FLAGS.base_preset or "base",
        transformer=TRANSFORMER(),
        training=TRAINING(),
        decoding=DECODING(),
        stream=_flags.progress_stream(),
    )
    if result.received is None:
        sys.stdout.write((workdir / MARKDOWN).read_text(encoding="utf-8"))
    failed = [row.row for row in result.rows if row.status == "failed"]
    if failed:
        told = f"ka-ablate: error: rows that failed: {', '.join(failed)}"
        print(told, file=sys.stderr)
    return result.exit_code


def run():
    """Runs the binary; the console script calls it."""
    _flags.run_binary(main)


if __name__ == "__main__":
    run()
