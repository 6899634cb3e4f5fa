"""The flags that name the trees of a run."""

from absl import app, flags

from trainers import _flags

flags.disclaim_key_flags()  # they belong to the binary

FILES = ("train_trees", "valid_trees", "extra_trees")


def tree_flags():
    """Defines them.

    Returns:
        A function that gives the keyword arguments of `data.tree_corpora.load_trees`,
        or None if no flag is given, and raises when a file is missing.
    """
    define = _flags.define
    define("train_trees", list, "files of trees, plain or .gz, comma-separated")
    define("valid_trees", list, "files of trees to validate with")
    define("extra_trees", list, "files of trees of less worth to learn from besides")
    define("extra_weight", float, "what each of the extra trees counts (default: 1)")
    define("synthetic", bool, "the trees of the embedded corpus instead of files")
    define("tags", bool, "predict tags; --notags: XX for every word (default: true)")
    names = (*FILES, "extra_weight", "synthetic", "tags")

    def arguments():
        values = {name: _flags.FLAGS[name].value for name in names}
        given = {name: value for name, value in values.items() if value is not None}
        if not given:
            return None
        _check(given)
        return {
            name.removesuffix("_trees"): _flags.files(name) if name in FILES else value
            for name, value in given.items()
        }

    return arguments


def _check(given):
    if given.get("synthetic"):
        for name in (*FILES, "extra_weight"):
            if name in given:
                raise app.UsageError(f"--{name} has no meaning beside --synthetic")
    elif not given.get("train_trees"):
        raise app.UsageError("no trees: name --train_trees or --synthetic")
    elif "extra_weight" in given and not given.get("extra_trees"):
        raise app.UsageError("--extra_weight has no meaning without --extra_trees")
