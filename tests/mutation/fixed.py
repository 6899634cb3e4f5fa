"""Mistakes that people have made in this kind of code, in ours."""

import pathlib

from tests.mutation.mutants import Mutant

# (file, text that occurs once, what stands in its place)
FIXED = (
    # masks and attention
    ("ops/masks.py", "ops.less_equal(columns, rows)", "ops.less(columns, rows)"),
    ("ops/masks.py", "ops.not_equal(ids, PAD_ID)", "ops.not_equal(ids, -1)"),
    ("ops/attention.py", "(query.shape[-1] ** -0.5, query", "(1.0, query"),
    ("ops/attention.py", '* ops.cast(anything, "float32")', "* 1.0"),
    ("layers/decoder_block.py", "value_mask=memory_mask,", "value_mask=None,"),
    ("layers/decoder_block.py", "use_causal_mask=True,", "use_causal_mask=False,"),
    ("layers/token_embedding.py", "self.model_dim**0.5, self", "1.0, self"),
    ("layers/block.py", '("self_attention", attention_window)', '("self_attention")'),
    # positions and decoding
    ("models/decoding.py", "start_index=step", "start_index=step + 1"),
    ("models/decoding.py", "step % self._reach", "step % (self._reach + 1)"),
    ("models/decoding.py", "else window + 1", "else window"),
    ("ops/masks.py", "ops.abs(rows - columns)", "(rows - columns)"),
    ("ops/chunked_attention.py", "outputs * decay", "outputs"),
    ("ops/chunked_attention.py", '"float32") - inner', '"float32")'),
    ("decoding/beam_steps.py", "(5.0 + ", "(6.0 + "),
    # schedule, averages
    ("objectives/schedule.py", '"float32") + 1.0', '"float32") + 0.0'),
    ("training/averaging.py", "(total[k] / count)", "(total[k])"),
)
# (file, what stands there) of a drawn mistake -> why no test can see it
EQUIVALENT: dict[tuple[str, str], str] = {}


def fixed_mutants(root):
    """Returns the list as `Mutant`s.

    Raises:
        ValueError: a text that is not in its file once: the list is stale.
    """
    found = []
    for name, before, after in FIXED:
        path = pathlib.Path("keras_attention", name)
        content = pathlib.Path(root, path).read_bytes()
        if content.count(before.encode()) != 1:
            raise ValueError(
                f"{path}: expected {before!r} once. Received: "
                f"{content.count(before.encode())} times. Bring the list up to date."
            )
        start = content.index(before.encode())
        line = content[:start].count(b"\n") + 1
        end = start + len(before.encode())
        found.append(Mutant(path.as_posix(), line, start, end, before, after))
    return found
