"""Raw text to batches: corpora, subword models, token-budget buckets, `tf.data`."""

from keras_attention.data.batching import EncodedCorpus, TokenBatches, encode_pairs
from keras_attention.data.corpora import (
    ParallelCorpus,
    pairs_from_tfds,
    read_lines,
    read_pairs,
)
from keras_attention.data.pipeline import make_dataset
from keras_attention.data.tokenizer import SubwordTokenizer

__all__ = [
    "EncodedCorpus",
    "ParallelCorpus",
    "SubwordTokenizer",
    "TokenBatches",
    "encode_pairs",
    "make_dataset",
    "pairs_from_tfds",
    "read_lines",
    "read_pairs",
]
