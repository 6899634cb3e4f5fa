"""Raw text to batches: corpora, subword models, token-budget buckets, `tf.data`."""

from keras_attention.data.batching import TokenBatches
from keras_attention.data.corpora import ParallelCorpus, pairs_from_tfds, read_pairs
from keras_attention.data.encoded import EncodedCorpus
from keras_attention.data.encoding import encode_pairs
from keras_attention.data.lines import read_lines
from keras_attention.data.parallel_files import ParallelFiles
from keras_attention.data.pipeline import make_dataset
from keras_attention.data.token_files import encode_files
from keras_attention.data.tokenizer import SubwordTokenizer

__all__ = [
    "EncodedCorpus",
    "ParallelCorpus",
    "ParallelFiles",
    "SubwordTokenizer",
    "TokenBatches",
    "encode_files",
    "encode_pairs",
    "make_dataset",
    "pairs_from_tfds",
    "read_lines",
    "read_pairs",
]
