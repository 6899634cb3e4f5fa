"""The flags that the binaries share, and how a binary starts and how it fails.

Only absl is imported here, so `--help`, an unknown flag and a missing file answer at
once. The flags of a configuration carry the names of its fields and default to None,
"what the preset says"; the defaults in the help are those of the dataclasses, which a
test compares with this table. A binary reads:

    from trainers import _flags

    WORKDIR = _flags.workdir()
    TRAINING = _flags.config_flags("training")

    def main():
        directory = _flags.existing_workdir()    # or _paths.writable_directory(...)
        values = TRAINING()                      # {field: value} of the flags given
        _flags.load_tensorflow()                 # only now
        from keras_attention... import ...

    def run():
        _flags.run_binary(main)
"""

import io
import logging as python_logging
import os
import pathlib
import signal
import sys
import zipfile

from absl import app, flags, logging

from trainers._fields import CONFIG_FIELDS
from trainers._paths import existing_run, readable

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # a flag belongs to the binary that asks for it

CORPUS_FILES = ("train_source", "train_target", "valid_source", "valid_target")
# What a translation tells beside its text.
RESULTS = (
    "num_hypotheses",
    "return_attention_weights",
    "attention_layer",
    "return_token_log_probs",
)
# What the graph of an export has no part in.
NOT_EXPORTED = (
    "num_hypotheses",
    "return_attention_weights",
    "return_token_log_probs",
    "batch_tokens",
    "replace_unknown",
    "jit_compile_search",
    "sampling",
    "temperature",
    "top_k",
    "top_p",
    "sampling_seed",
)
TFDS = ("tfds", "tfds_data_dir", "source_language", "target_language")
_DEFINE = {
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
    str: flags.DEFINE_string,
}


def define(name, kind, help_text):
    """Defines a flag without a default unless an earlier binary already did.

    Args:
        name: of the flag.
        kind: int, float, str, bool, list (comma-separated), [int] (the flag may be
            repeated) or a tuple of choices.
        help_text: one line.
    """
    if name in FLAGS:
        flags.declare_key_flag(name)
    elif isinstance(kind, tuple):
        flags.DEFINE_enum(name, None, kind, help_text)
    elif kind is bool:
        flags.DEFINE_bool(name, None, help_text)
    elif kind == [int]:
        flags.DEFINE_multi_integer(name, None, help_text)
    elif kind is list:
        flags.DEFINE_list(name, None, help_text)
    else:
        _DEFINE[kind](name, None, help_text)


def config_flags(part, *only, omit=()):
    """Defines the flags of one configuration.

    Args:
        part: "transformer", "training" or "decoding".
        *only: fields to define; none means all of them.
        omit: fields to leave out.

    Returns:
        A function that gives `{field: value}` of the flags given on the command line.
    """
    fields = [name for name in only or CONFIG_FIELDS[part] if name not in omit]
    for name in fields:
        kind, default, what = CONFIG_FIELDS[part][name]
        define(name, kind, f"{what} (default: {_spelled(default)}, or the preset's)")
    return lambda: {n: FLAGS[n].value for n in fields if FLAGS[n].value is not None}


def _spelled(default):
    return "none" if default in (None, ()) else str(default).lower()


def workdir():
    """Defines --workdir, the directory that holds everything of a run."""
    define("workdir", str, "directory of the run; every later binary needs only it")


def corpus():
    """Defines the flags that name a run's text.

    Returns:
        A function that gives the keyword arguments of `training.sources.load_corpora`
        and raises when a file is missing.
    """
    for name in CORPUS_FILES:
        define(name, list, f"{name.replace('_', ' ')}: text files, comma-separated")
    define("tfds", str, "a TensorFlow data set of translations instead of files")
    define("tfds_data_dir", str, "where that data set lies (default: that of TFDS)")
    define("source_language", str, "feature of the TFDS data set to translate from")
    define("target_language", str, "feature of the TFDS data set to translate to")
    define("synthetic", bool, "the embedded English-German corpus instead of files")

    def arguments():
        _paired("train")
        _paired("valid")
        names = (*CORPUS_FILES, *TFDS, "synthetic")
        given = {name: FLAGS[name].value for name in names if FLAGS[name].value}
        _refuse_ignored(given)
        if not any(name in given for name in ("train_source", "tfds", "synthetic")):
            raise app.UsageError(
                "no text: name --train_source and --train_target, --tfds or --synthetic"
            )
        return {n: files(n) if n in CORPUS_FILES else v for n, v in given.items()}

    return arguments


def _refuse_ignored(given):
    """Raises when a flag is given that the kind of text would not read."""
    kinds = [name for name in ("tfds", "synthetic") if name in given]
    for name in ("valid_source", "valid_target") if kinds else ():
        if name in given:
            raise app.UsageError(f"--{name} has no meaning beside --{kinds[0]}")
    for name in TFDS:
        if name in given and "tfds" not in given:
            raise app.UsageError(f"--{name} has no meaning without --tfds")


def _paired(split):
    """Checks that both sides of a split name as many files."""
    source, target = (f"{split}_{side}" for side in ("source", "target"))
    counts = [len(FLAGS[name].value or ()) for name in (source, target)]
    if counts[0] != counts[1]:
        raise app.UsageError(
            f"--{source} and --{target} must name as many files; received "
            f"{counts[0]} and {counts[1]}"
        )


def required(name):
    """Returns the value of a flag that this binary cannot do without."""
    value = FLAGS[name].value
    if value is None or value in ("", []):
        raise app.UsageError(f"--{name} is required")
    return value


def files(name):
    """Returns the paths of a list flag; each is a readable file."""
    return [str(readable(path, f"--{name}")) for path in required(name)]


def existing_workdir(*needed):
    """Returns --workdir, which must hold a run and the files named in `needed`."""
    return existing_run(required("workdir"), "--workdir", *needed)


class _Nowhere(io.TextIOBase):
    """A stream that keeps nothing and has nothing to close."""

    def write(self, text):
        return len(text)


def progress_stream():
    """Returns where lines of progress go: nowhere with `--verbosity` below 0 (info)."""
    if FLAGS.verbosity < logging.INFO:
        return _Nowhere()
    return sys.stderr


def load_tensorflow():
    """Imports TensorFlow and finds the devices, without what it says of itself.

    Its libraries greet on stderr before any setting can tell them not to, and an error
    of ours would be one line among ten.
    """
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        from keras_attention.training.strategy import find_devices

        find_devices()
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def _parse(argv, module):
    if any(word.lstrip("-") in ("help", "h", "helpshort") for word in argv[1:]):
        # absl looks into `__main__`, which is not the binary in a console script.
        print(f"{module.__doc__}\n{FLAGS.module_help(module)}", flush=True)
        sys.exit(0)
    try:
        rest = FLAGS(argv)
    except flags.Error as error:
        _fail(error)
    if len(rest) > 1:
        _fail(f"unexpected argument: {rest[1]}; every value belongs to a --flag")
    return rest


def _fail(error, code=2):
    """Ends the process with the error as one line."""
    name = pathlib.Path(sys.argv[0]).stem.replace("_", "-").removeprefix("ka-")
    print(f"ka-{name}: error: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(code)


def _end_without_reader():
    """Ends the process when the reader of its output has gone, as with `| head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def _occupy_closed_descriptors():
    """Opens /dev/null as what of stdin, stdout and stderr is closed.

    The next file would get its number, and what libraries print would go there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number


def run_binary(main):
    """Parses the flags and calls `main()`; what it returns is the exit code.

    What a user can mend (a wrong flag or value: exit code 2; a file that cannot be
    read or written, a loss that is no number: exit code 1) is told as one line. Any
    other error is a fault of the program and keeps its traceback.
    """
    _occupy_closed_descriptors()
    # Errors of C++ are raised in Python; the others of that level tell of no GPU.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    FLAGS.set_default("verbosity", logging.INFO)
    # With --verbosity 1 it would tell every font that it looks at.
    python_logging.getLogger("matplotlib").setLevel(python_logging.WARNING)

    def guarded(_):
        try:
            code = main()
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
        except BrokenPipeError:
            _end_without_reader()
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGINT)
        except (app.UsageError, ValueError) as error:
            _fail(error)
        except (OSError, zipfile.BadZipFile, FloatingPointError) as error:
            # A lost worker of many has a code of its own, which schedulers know.
            _fail(error, code=getattr(error, "exit_code", 1))

    module = sys.modules[main.__module__]
    try:
        app.run(guarded, flags_parser=lambda argv: _parse(argv, module))
    except BrokenPipeError:  # while the help was printed
        _end_without_reader()
