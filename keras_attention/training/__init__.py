"""Runs in a workdir: updates, checkpoints, logs, resumption, averaging."""

from keras_attention.training.averaging import average_workdir as average_workdir
from keras_attention.training.run import RunResult as RunResult
from keras_attention.training.run import train as train
from keras_attention.training.sources import Corpora as Corpora
from keras_attention.training.sources import load_corpora as load_corpora
