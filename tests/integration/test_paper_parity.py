"""The parity report from the command line, of the defaults, a preset and a run."""

import pytest

from keras_attention.config import DecodingConfig, TrainingConfig, TransformerConfig
from keras_attention.training.workdir import write_config


def test_a_workdir_or_a_preset(run_binary, tmp_path):
    done = run_binary("paper_parity", f"--workdir={tmp_path}", "--preset=big")
    assert done.returncode == 2 and b"not both" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_the_defaults_a_preset_and_a_run(run_binary, repository, tmp_path):
    done = run_binary("paper_parity", "--check")
    assert done.returncode == 0
    assert done.stdout == (repository / "docs" / "paper.md").read_bytes()
    write_config(
        tmp_path,
        {
            "preset": "big",
            "transformer": TransformerConfig(100, model_dim=1024, use_bias=True),
            "training": TrainingConfig.from_preset("big"),
            "decoding": DecodingConfig(),
            "data": {},
        },
    )
    done = run_binary("paper_parity", f"--workdir={tmp_path}")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "compared with its big model" in text and "use_bias=True" in text
    assert "num_heads=8 (paper: 16)" in text and "(paper: 512)" not in text
    done = run_binary("paper_parity", f"--workdir={tmp_path}", "--check")
    assert (done.returncode, done.stdout.decode()) == (1, text)
