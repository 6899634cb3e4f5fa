"""Exports one version after the other until it is killed; run by a test.

    python -m tests.integration.killed_exports DIRECTORY

For each line of standard input a child is born that exports for ever; its process id
is printed when it begins. It has imported TensorFlow, and run nothing of it. The module
that is exported is a small one and no engine loads it, so that a kill hits the writing
and publishing of files.
"""

import os
import sys

import tensorflow as tf

import keras_attention as ka
from keras_attention.export import saved_model


class Weights(tf.Module):
    """Stands for a translator's graph: some weights and one signature."""

    def __init__(self, translator, max_beam_size):
        super().__init__()
        self.weight = tf.Variable(tf.random.normal((2**20,)))
        self.signatures_ = {
            "serving_default": tf.function(
                lambda text: {
                    "score": tf.fill(tf.shape(text), tf.reduce_sum(self.weight))
                }
            ).get_concrete_function(text=tf.TensorSpec([None], tf.string, name="text"))
        }

    @property
    def signatures(self):
        """The concrete functions by their names."""
        return self.signatures_


def export_for_ever(directory):
    """Exports until somebody ends the process."""
    saved_model.TranslationModule = Weights
    saved_model.verify_saved_model = lambda *_: None
    tokenizer = ka.SubwordTokenizer.learn_from_lines(["to be or not to be"], 16)
    config = ka.TransformerConfig(16, num_layers=1, model_dim=8, num_heads=2)
    translator = ka.Translator(ka.build_transformer(config), tokenizer)
    print(os.getpid(), flush=True)
    while True:
        ka.export_saved_model(translator, directory)


def main():
    """Has a child export for every line of standard input."""
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            export_for_ever(sys.argv[1])
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
