import pytest
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.training.hyper_parameters import (
    METRICS,
    hyper_parameters,
    session_end,
    session_start,
    table_of_runs,
)


@pytest.fixture
def config():
    return {
        "preset": "tiny",
        "transformer": TransformerConfig(vocabulary_size=50, use_bias=True),
        "training": TrainingConfig(warmup_steps=7, log_steps=3),
        "decoding": DecodingConfig(),
    }


def content(summary):
    (value,) = summary.value
    return plugin_data_pb2.HParamsPluginData.FromString(
        value.metadata.plugin_data.content
    )


def test_a_session_tells_the_values_of_the_run(config):
    values = content(session_start(config)).session_start_info.hparams
    assert values["preset"].string_value == "tiny"
    assert values["use_bias"].bool_value is True
    assert values["warmup_steps"].number_value == 7
    assert "max_minutes" not in values  # None
    assert "log_steps" not in values and "beam_size" not in values
    assert set(values) == set(hyper_parameters(config))


def test_the_columns_hold_every_value_with_its_type(config):
    experiment = content(table_of_runs()).experiment
    types = {info.name: info.type for info in experiment.hparam_infos}
    assert set(hyper_parameters(config)) < set(types)
    assert types["max_minutes"] == types["warmup_steps"] == api_pb2.DATA_TYPE_FLOAT64
    assert types["use_bias"] == api_pb2.DATA_TYPE_BOOL
    assert types["activation"] == api_pb2.DATA_TYPE_STRING
    assert [m.name.tag for m in experiment.metric_infos] == list(METRICS)


@pytest.mark.parametrize("succeeded", [True, False])
def test_a_session_ends_well_or_not(succeeded):
    status = content(session_end(succeeded)).session_end_info.status
    name = "STATUS_SUCCESS" if succeeded else "STATUS_FAILURE"
    assert status == getattr(api_pb2, name)
