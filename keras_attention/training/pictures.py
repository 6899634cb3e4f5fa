"""What can be looked at in the model of a run: heads, embeddings, weights, graph."""

import tensorflow as tf

from keras_attention.evaluation.attended_sentences import SIDES
from keras_attention.evaluation.attention_maps import attention_weights, draw_heads
from keras_attention.layers import TokenEmbedding
from keras_attention.training.projector import delete_projector, write_projector
from keras_attention.vocabulary import END_ID, START_ID

LONGEST = 40  # pieces of a side that can be told apart in a picture
_BEST = 12  # pieces of a side that are seen at a glance
_CANDIDATES = 200


class Pictures:
    """Shows the model of a run in TensorBoard: at its start and at validations.

    Args:
        board: a `TensorBoardLog`.
        model: the `Transformer` that is trained.
        tokenizer: a `SubwordTokenizer`.
        pair: (source, target), the text whose heads are shown, or None for no heads.
        histograms: bool, show how the weights are distributed, too.
    """

    def __init__(self, board, model, tokenizer, pair=None, histograms=False):
        self._board = board
        self._model = model
        self._tokenizer = tokenizer
        self._pair = pair
        self._histograms = histograms

    def begin(self):
        """Writes what a run shows once, before its first update."""
        delete_projector(self._board.directory)
        ids = tf.TensorSpec((None, None), tf.int32)

        @tf.function(autograph=False)
        def transformer(source_ids, target_ids):
            inputs = {"source_ids": source_ids, "target_ids": target_ids}
            return self._model(inputs, training=False)

        self._board.graph(transformer.get_concrete_function(ids, ids).graph)

    def show(self, step):
        """Writes what changes from validation to validation."""
        self._heads(step)
        self.embeddings(step)
        if self._histograms:
            weights = {v.path: v.value for v in self._model.trainable_variables}
            self._board.histograms(step, weights)

    def embeddings(self, step):
        """Writes the embedding matrices as they are now, in place of earlier ones."""
        layers = [x for x in self._model.layers if isinstance(x, TokenEmbedding)]
        matrices = {x.name: tf.convert_to_tensor(x.embeddings.value) for x in layers}
        directory = self._board.directory
        write_projector(directory, step, matrices, self._tokenizer.pieces)

    def _heads(self, step):
        if self._pair is None:
            return
        source, target = (
            split([text]).to_list()[0][:LONGEST]
            for split, text in zip(_splits(self._tokenizer), self._pair, strict=True)
        )
        sides = {
            "source": [*source, END_ID],
            "target": [START_ID, *target],
            "written": [*target, END_ID],
        }
        maps = attention_weights(self._model, sides["source"], sides["target"])
        pieces = self._tokenizer.pieces
        labels = {side: [pieces[i] for i in ids] for side, ids in sides.items()}
        for kind, blocks in maps.items():
            queries, keys = (labels[side] for side in SIDES[kind])
            for number, heads in enumerate(blocks, start=1):
                title = f"{kind.replace('_', ' ')} attention, block {number}"
                picture = draw_heads(heads, queries, keys, title)
                self._board.picture(f"attention_{kind}/block_{number}", step, picture)


def choose_pair(corpus, tokenizer, training):
    """Returns the pair of a corpus whose heads are easiest to look at, or None.

    Args:
        corpus: a `ParallelCorpus`; its first pairs are looked through.
        tokenizer: a `SubwordTokenizer`.
        training: a `TrainingConfig`; longer sides than it allows are passed over.

    Returns:
        (source, target) as text: of the pairs with two sides, the one nearest to a
        dozen pieces a side; None when there is none.
    """
    pairs = list(
        zip(corpus.sources[:_CANDIDATES], corpus.targets[:_CANDIDATES], strict=True)
    )
    if not pairs:
        return None
    sides = zip(*pairs, strict=True)
    source, target = (
        split(list(side)).row_lengths().numpy()
        for split, side in zip(_splits(tokenizer), sides, strict=True)
    )
    distances = {
        row: abs(int(s) - _BEST) + abs(int(t) - _BEST)
        for row, (s, t) in enumerate(zip(source, target, strict=True))
        if 0 < s <= training.max_source_length and 0 < t <= training.max_target_length
    }
    return pairs[min(distances, key=distances.get)] if distances else None


def _splits(tokenizer):
    return tokenizer.tokenize, tokenizer.tokenize_targets
