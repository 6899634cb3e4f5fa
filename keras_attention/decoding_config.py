"""`DecodingConfig`: how translations are searched; `config` shows it to the others."""

import dataclasses

from keras_attention.checks import check_boolean, check_integer, check_number
from keras_attention.config_base import Config


@dataclasses.dataclass(frozen=True)
class DecodingConfig(Config):
    """How translations are searched (paper, section 6.1).

    All that the paper does not have is off by default.

    Args:
        beam_size: open hypotheses a sentence; 1 is greedy search.
        length_penalty_alpha: alpha of ((5 + length) / 6)^alpha; 0 = no penalty.
        max_extra_length: the limit is the source's pieces plus this, END counted.
        max_length: a limit for all sentences besides; None (the paper) = none.
        num_hypotheses: best hypotheses returned a sentence, at most `beam_size`;
            with `sampling`, how many are drawn.
        coverage_penalty: beta of beta * sum_i log(min(sum_j p_ij, 1)), added to the
            score; p_ij is how much target piece j attends to source piece i, the mean
            over the heads of the last block (Wu et al. 2016; not in the paper).
        no_repeat_ngram_size: n; no n pieces occur twice in a translation (not in the
            paper). 0 = they may.
        suppress_ids: pieces that are never chosen (not in the paper).
        sampling: draw translations at random instead (not in the paper).
        temperature: of sampling; the logits are divided by it.
        top_k: sample among the most probable k pieces; 0 = all.
        top_p: sample among the fewest pieces whose probabilities reach this; 1 = all.
        sampling_seed: of sampling. A sentence gets the same draws in every batch.
        return_attention_weights: tell what each target piece attends to.
        attention_layer: decoder block of these weights; -1 is the last.
        return_token_log_probs: tell the log-probability of each piece.
        replace_unknown: put the source's word that it attends to most in place of a
            piece that stands for the unknown (not in the paper).
        jit_compile_search: compile the search with XLA, once a shape; for accelerators.
        max_source_length: pieces of a source; longer ones are cut and flagged.
        batch_tokens: source cells of one batch of the search, beams not counted.

    Example:

    >>> DecodingConfig.from_preset("base").beam_size
    4
    """

    _part = "decoding"

    beam_size: int = 4
    length_penalty_alpha: float = 0.6
    max_extra_length: int = 50
    max_length: int | None = None
    num_hypotheses: int = 1
    coverage_penalty: float = 0.0
    no_repeat_ngram_size: int = 0
    suppress_ids: tuple[int, ...] = ()
    sampling: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    sampling_seed: int = 1
    return_attention_weights: bool = False
    attention_layer: int = -1
    return_token_log_probs: bool = False
    replace_unknown: bool = False
    jit_compile_search: bool = False
    max_source_length: int = 1_024
    batch_tokens: int = 4_096

    def __post_init__(self):
        self._check(check_integer, "beam_size", "num_hypotheses", "max_source_length")
        self._check(check_integer, "batch_tokens")
        self._check(check_integer, "max_length", optional=True)
        self._check(check_integer, "max_extra_length", minimum=0)
        self._check(check_integer, "no_repeat_ngram_size", "top_k", minimum=0)
        self._check(check_integer, "attention_layer", "sampling_seed", minimum=-(2**31))
        self._check(check_number, "length_penalty_alpha", "coverage_penalty")
        self._check(check_number, "temperature", "top_p", open_low=True)
        flags = ("return_attention_weights", "return_token_log_probs")
        self._check(check_boolean, *flags, "sampling", "replace_unknown")
        self._check(check_boolean, "jit_compile_search")
        object.__setattr__(self, "suppress_ids", tuple(self.suppress_ids))
        for piece in self.suppress_ids:
            check_integer("suppress_ids", piece, minimum=0)
        if self.top_p > 1:
            raise ValueError(
                f"`top_p` is a probability, at most 1. Received: top_p={self.top_p}. "
                "Pass 1 for all pieces."
            )
        if self.num_hypotheses > self.beam_size and not self.sampling:
            raise ValueError(
                "`num_hypotheses` can be at most `beam_size`. Received: num_hypotheses="
                f"{self.num_hypotheses}, beam_size={self.beam_size}. Widen the beam."
            )
        if self.sampling and self.coverage_penalty:
            raise ValueError(
                "A coverage penalty ranks what a beam search finds. Received: "
                f"sampling=True, coverage_penalty={self.coverage_penalty}. Leave one "
                "of them out."
            )
        if self.sampling and self.jit_compile_search:
            raise ValueError(
                "XLA compiles the beam search only. Received: sampling=True, "
                "jit_compile_search=True. Leave one of them out."
            )
