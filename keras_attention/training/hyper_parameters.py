"""The hyper-parameters of a run for TensorBoard's HParams tab, one row a run."""

import dataclasses
import typing

from tensorboard.plugins.hparams import api_pb2, summary

from keras_attention.config import TrainingConfig, TransformerConfig

_PARTS = {"transformer": TransformerConfig, "training": TrainingConfig}
# How a run looks at itself does not make another model of it.
_LEFT_OUT = (
    "checkpoint_minutes",
    "checkpoint_steps",
    "histograms",
    "log_steps",
    "profile_steps",
    "validation_sentences",
    "validation_steps",
)
_DATA_TYPES = {
    bool: api_pb2.DATA_TYPE_BOOL,
    float: api_pb2.DATA_TYPE_FLOAT64,
    int: api_pb2.DATA_TYPE_FLOAT64,
    str: api_pb2.DATA_TYPE_STRING,
}
# tag -> name of the column
METRICS = {
    "final/bleu": "BLEU of the average",
    "final/chrf": "chrF of the average",
    "final/nll": "nll of the average",
    "validation/bleu": "BLEU",
    "validation/nll": "nll",
    "train/nll": "nll in training",
}


def hyper_parameters(config):
    """Returns the hyper-parameters of a run by name; those that are None are absent.

    Args:
        config: configuration of the run.
    """
    values = {"preset": config["preset"]}
    for part in _PARTS:
        values.update(config[part].to_dict())
    return {
        name: value
        for name, value in values.items()
        if value is not None and name not in _LEFT_OUT
    }


def table_of_runs(tags=METRICS):
    """Returns the `Summary` that names the columns of the table.

    TensorBoard takes them from whichever run it reads first, so all fields are
    columns, those that are None in this run too.

    Args:
        tags: of the figures of a run -> names of their columns.
    """
    kinds = {"preset": str}
    for cls in _PARTS.values():
        kinds.update({field.name: field.type for field in dataclasses.fields(cls)})
    columns = [
        api_pb2.HParamInfo(name=name, type=_data_type(kind))
        for name, kind in kinds.items()
        if name not in _LEFT_OUT
    ]
    metrics = [
        api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag), display_name=name)
        for tag, name in tags.items()
    ]
    return summary.experiment_pb(columns, metrics)


def session_start(config):
    """Returns the `Summary` with the hyper-parameters of a run.

    Args:
        config: configuration of the run.
    """
    return summary.session_start_pb(hyper_parameters(config))


def session_end(succeeded):
    """Returns the `Summary` that says how a run ended.

    Args:
        succeeded: bool.
    """
    status = api_pb2.STATUS_SUCCESS if succeeded else api_pb2.STATUS_FAILURE
    return summary.session_end_pb(status)


def _data_type(kind):
    # Of `int` as of `int | None`.
    options = typing.get_args(kind) or (kind,)
    return _DATA_TYPES[options[0]]
