"""The flags that let models of other runs decide together with that of --workdir."""

from absl import app, flags

from trainers import _flags, _paths

flags.disclaim_key_flags()  # they belong to the binary

AVERAGES = ("log_probabilities", "probabilities")


def ensemble_flags():
    """Defines them.

    Returns:
        A function that gives the keyword arguments of `Translator.load` that they
        stand for, and raises when a run is missing.
    """
    workdirs, average = "ensemble_workdirs", "ensemble_average"
    _flags.define(workdirs, list, "other runs with the same tokenizer, comma-separated")
    _flags.define(average, AVERAGES, f"mean of what (default: {AVERAGES[0]})")

    def arguments():
        given = _flags.FLAGS[workdirs].value, _flags.FLAGS[average].value
        if given[1] and not given[0]:
            raise app.UsageError(f"--{average} has no meaning without --{workdirs}")
        for path in given[0] or ():
            _paths.existing_run(path, f"--{workdirs}", "model.keras", "tokenizer")
        names = (workdirs, average)
        return {n: value for n, value in zip(names, given, strict=True) if value}

    return arguments
