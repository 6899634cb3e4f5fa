"""Raw text and trees to batches: corpora, subwords, token buckets, `tf.data`."""

from keras_attention.data.batching import TokenBatches
from keras_attention.data.corpora import ParallelCorpus, pairs_from_tfds, read_pairs
from keras_attention.data.encoded import EncodedCorpus
from keras_attention.data.encoding import encode_pairs
from keras_attention.data.linearization import delinearize, linearize
from keras_attention.data.lines import read_lines
from keras_attention.data.normalization import normalize_tree
from keras_attention.data.parallel_files import ParallelFiles
from keras_attention.data.pipeline import make_dataset
from keras_attention.data.token_files import encode_files
from keras_attention.data.tokenizer import SubwordTokenizer
from keras_attention.data.tree_corpora import TreeCorpus, TreeFiles, load_trees
from keras_attention.data.trees import Tree, read_trees

__all__ = [
    "EncodedCorpus",
    "ParallelCorpus",
    "ParallelFiles",
    "SubwordTokenizer",
    "TokenBatches",
    "Tree",
    "TreeCorpus",
    "TreeFiles",
    "delinearize",
    "encode_files",
    "encode_pairs",
    "linearize",
    "load_trees",
    "make_dataset",
    "normalize_tree",
    "pairs_from_tfds",
    "read_lines",
    "read_pairs",
    "read_trees",
]
