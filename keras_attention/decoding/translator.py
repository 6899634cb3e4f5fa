"""Texts in, translations out: what a trained model and its tokenizer do together."""

import numpy as np
import tensorflow as tf

from keras_attention.config import DecodingConfig
from keras_attention.decoding.details import add_details
from keras_attention.decoding.forced import ForcedDecoder, check_fits
from keras_attention.decoding.formats import one_line
from keras_attention.decoding.lines import WINDOW, translated
from keras_attention.decoding.loading import load_ensemble, load_parts
from keras_attention.decoding.searches import Searches
from keras_attention.decoding.texts import (
    append_end,
    batches,
    check_beside,
    check_texts,
    dense,
    most_rows,
    shorten,
    warn_of_cuts,
    warn_of_nothing,
)
from keras_attention.decoding.translation import (
    Hypothesis,
    Translation,
    read_hypotheses,
)
from keras_attention.vocabulary import PAD_ID

NOTHING = (Hypothesis("", 0.0, 0),)  # what a source without pieces gives


class Translator:
    """Translates texts with a model, its tokenizer and a way to search.

    A translation does not depend on the texts beside it. The model's variables are
    read at every call, so one translator can follow a model that is being trained;
    its graph is traced once for each beam size, number of hypotheses and so on.

    Args:
        model: a `Transformer`, or an `Ensemble` of some.
        tokenizer: the `SubwordTokenizer` that the model was trained with.
        decoding_config: `DecodingConfig`; None = its defaults.

    Raises:
        ValueError: model and tokenizer differ in the size of their vocabularies.

    Example:

    >>> from keras_attention.config import TransformerConfig
    >>> from keras_attention.data import SubwordTokenizer
    >>> from keras_attention.models.build import build_transformer
    >>> tokenizer = SubwordTokenizer.learn_from_lines(["a dog", "ein Hund"], 20)
    >>> config = TransformerConfig.from_preset("tiny", vocabulary_size=20, num_layers=1)
    >>> translator = Translator(build_transformer(config), tokenizer)
    >>> len(translator(["a dog", ""]))  # the model is untrained, but it answers
    2

    Reference:
        Section 6.1.
    """

    def __init__(self, model, tokenizer, decoding_config=None):
        vocabulary_size = model.transformer_config.vocabulary_size
        if tokenizer.vocabulary_size != vocabulary_size:
            raise ValueError(
                "Model and tokenizer must have one vocabulary. Received: a model of "
                f"{vocabulary_size} pieces and a tokenizer of "
                f"{tokenizer.vocabulary_size}. Take the tokenizer of the model's run."
            )
        self.model = model
        self.tokenizer = tokenizer
        self.decoding_config = decoding_config or DecodingConfig()
        self._searches = Searches(model, vocabulary_size)
        self._forced = ForcedDecoder(model, vocabulary_size)

    @classmethod
    def load(
        cls,
        workdir,
        ensemble_workdirs=(),
        ensemble_average="log_probabilities",
        **overrides,
    ):
        """Returns the translator of a finished run, or of several.

        Args:
            workdir: a directory with `config.json`, `tokenizer/` and `model.keras`.
            ensemble_workdirs: those of other runs, whose models decide together with
                the first; all were trained with the same tokenizer.
            ensemble_average: of what; see `Ensemble`.
            **overrides: fields of `DecodingConfig` that replace those of the run.

        Raises:
            ValueError: one of them is missing or is not what it should be.
        """
        if ensemble_workdirs:
            parts = load_ensemble(workdir, ensemble_workdirs, ensemble_average)
        else:
            parts = load_parts(workdir)
        model, tokenizer, config = parts
        return cls(model, tokenizer, config.replace(**overrides))

    def __call__(self, texts):
        """Returns the best translation of each text, as a list of str."""
        return [translation.text for translation in self.translate(texts)]

    def translate(
        self, texts, first_line=1, before_batch=None, prefixes=None, **overrides
    ):
        """Returns what was found for each text, in the order of the texts.

        Args:
            texts: list of str or bytes (any bytes); one text is one source, so line
                breaks in it count as spaces.
            first_line: number of the first text in warnings, for a caller that
                translates a file part by part.
            before_batch: called before each batch is searched; what it raises ends
                the call, for a caller that may have to stop soon.
            prefixes: list of str or bytes, how each translation begins, "" for any
                way; its pieces are forced, and their probability counts. The limit is
                then that of the longer of source and prefix.
            **overrides: fields of `DecodingConfig` for this call, such as
                `num_hypotheses`, `beam_size`, `length_penalty_alpha` or
                `return_attention_weights`.

        Returns:
            List of `Translation`.

        Raises:
            ValueError: `texts` is no list of texts, an override cannot work, or a
                prefix leaves no room below a limit.
        """
        config = self.decoding_config.replace(**overrides)
        texts = check_texts("texts", texts)
        if prefixes is not None:
            prefixes = check_texts("prefixes", prefixes)
            check_beside("texts", texts, "prefixes", prefixes)
        if not texts:
            return []
        return self._translate(texts, prefixes, config, first_line, before_batch)

    def translate_lines(self, lines, window=WINDOW, **overrides):
        """Yields a translation, a str without line breaks, for every line.

        Memory is bounded by `window`; inside it lines are sorted by length.

        Args:
            lines: iterable of bytes or str, such as a file opened with "rb". A line
                feed at the end, and a carriage return before it, are dropped.
            window: lines that are read before the first of them is answered.
            **overrides: as in `translate`.

        Raises:
            ValueError: a line is no text, or an override cannot work.
        """
        for translation in translated(self, lines, window, **overrides):
            yield one_line(translation.text)

    def score(self, sources, targets, return_token_log_probs=False, first_line=1):
        """Returns the log-probability of each target, by forced decoding.

        It is the sum over the target's pieces and END, without length penalty: what
        the search calls the score, times `length_penalty(length, alpha)`. A source
        that is too long is cut as in `translate`; an empty one is scored as well.

        Args:
            sources, targets: lists of str or bytes, one target a source.
            return_token_log_probs: return those of each piece, END the last, instead
                of their sums.
            first_line: number of the first source in warnings.

        Returns:
            List of float, natural logarithms, or list of lists of float.

        Raises:
            ValueError: lists of different lengths, something that is no text, or a
                target longer than a learned position table.
        """
        sources = check_texts("sources", sources)
        targets = check_texts("targets", targets)
        check_beside("sources", sources, "targets", targets)
        if not sources:
            return []
        source_ids, source_lengths = self._encode(sources)
        warn_of_cuts(source_lengths.numpy(), self.most_pieces(), first_line)
        label_ids = self.tokenizer.tokenize_targets(targets)
        lengths, table = label_ids.row_lengths().numpy(), self.model.max_decoding_length
        check_fits(lengths, table, first_line - 1)
        log_probs = self._forced.log_probs(
            source_ids, append_end(label_ids), self.decoding_config.batch_tokens
        )
        if return_token_log_probs:
            return [values.tolist() for values in log_probs]
        return [float(values.sum()) for values in log_probs]

    def encode(self, texts, targets=False):
        """Turns texts into what `search` takes; usable in a graph.

        Args:
            texts: tf.string tensor (B,), or a list of str or bytes.
            targets: bool, whether they are of the target language.

        Returns:
            source_ids: (B, S) int32, pieces and END, then PAD.
            truncated: (B,) bool, whether pieces were cut off.
        """
        source_ids, lengths = self._encode(texts, targets=targets)
        return source_ids.to_tensor(PAD_ID), lengths > self.most_pieces()

    def most_pieces(self, config=None):
        """Returns how many pieces of a source the model reads, END left out."""
        most = (config or self.decoding_config).max_source_length
        table = self.model.max_decoding_length
        return most if table is None else min(most, table - 1)

    def search(self, source_ids, config=None, **fed):
        """Searches the translations of encoded sources; usable in a graph.

        Args:
            source_ids: (B, S) int32, pieces and END, then PAD. A row without pieces
                is not searched: length 0, score 0.
            config: `DecodingConfig`; None = the translator's own.
            **fed: `alpha`, `extra` and others in place of what the configuration
                says, so that they can be fed to a graph; see `Searches.search`.

        Returns:
            `BeamSearchOutput`.
        """
        return self._searches.search(source_ids, config or self.decoding_config, **fed)

    def _translate(self, texts, prefixes, config, first_line, before_batch):
        source_ids, lengths = self._encode(texts, config)
        prefix_ids = None
        if prefixes is not None:
            prefix_ids = self._encode_prefixes(prefixes, config, first_line - 1)
        lengths = lengths.numpy()
        truncated = warn_of_cuts(lengths, self.most_pieces(config), first_line)
        found = [NOTHING] * len(texts)
        cells = source_ids.row_lengths().numpy()
        cells = np.where(cells > 1, cells, 0)  # END alone is not searched
        warn_of_nothing(cells, first_line)
        for rows in batches(cells, config.batch_tokens, most_rows(config)):
            if before_batch is not None:
                before_batch()
            prefix = None if prefix_ids is None else dense(prefix_ids, rows)
            output = self._searches(dense(source_ids, rows), config, prefix)
            for row, result in zip(
                rows, read_hypotheses(self.tokenizer, output), strict=True
            ):
                found[row] = result
        found = add_details(found, source_ids, texts, config, self)
        read = [()] * len(texts)
        if config.return_attention_weights:
            read = [tuple(ids) for ids in source_ids.to_list()]
        return [
            Translation(hypotheses, bool(cut), int(length), ids)
            for hypotheses, cut, length, ids in zip(
                found, truncated, lengths, read, strict=True
            )
        ]

    def _encode_prefixes(self, prefixes, config, first):
        """Returns ragged prefix ids, without END."""
        ids = self.tokenizer.tokenize_targets(prefixes)
        lengths = ids.row_lengths().numpy()
        limits = (config.max_length, self.model.max_decoding_length)
        limit = min((x for x in limits if x is not None), default=None)
        if limit is not None and lengths.max() >= limit:
            row = int(lengths.argmax())
            raise ValueError(
                f"A prefix must leave room for a piece below the limit of {limit}. "
                f"Received: {lengths[row]} pieces in prefixes[{first + row}]. "
                "Shorten it."
            )
        return ids

    def _encode(self, texts, config=None, targets=False):
        """Returns ragged ids with END, and the lengths before any cut."""
        tokenizer = self.tokenizer
        split = tokenizer.tokenize_targets if targets else tokenizer.tokenize
        most = self.most_pieces(config)
        texts, cut = shorten(texts, most)
        pieces = split(texts)
        lengths = tf.cast(pieces.row_lengths(), tf.int32)
        lengths = tf.where(cut, tf.maximum(lengths, most + 1), lengths)
        return append_end(pieces[:, :most]), lengths
