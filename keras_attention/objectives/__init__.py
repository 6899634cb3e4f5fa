"""Loss, metrics, learning-rate schedule and optimizer of the paper (keras only)."""

from keras_attention.objectives.adam import Adam as Adam
from keras_attention.objectives.losses import (
    LabelSmoothedCrossEntropy as LabelSmoothedCrossEntropy,
)
from keras_attention.objectives.metrics import Perplexity as Perplexity
from keras_attention.objectives.metrics import TokenMean as TokenMean
from keras_attention.objectives.optimizer import make_optimizer as make_optimizer
from keras_attention.objectives.schedule import NoamSchedule as NoamSchedule
