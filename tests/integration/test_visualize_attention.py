"""`ka-visualize-attention` as a user runs it, in this process where that is enough."""

import json

import pytest
from absl import app, flags
from absl.testing import flagsaver

from trainers import visualize_attention

flags.FLAGS.mark_as_parsed()


def call(**values):
    with flagsaver.flagsaver(**values):
        return visualize_attention.main()


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    """The files of a run that are needed, of a model that learned nothing."""
    from keras_attention.config import DecodingConfig, TransformerConfig
    from keras_attention.data import SubwordTokenizer
    from keras_attention.models.build import build_transformer

    directory = tmp_path_factory.mktemp("runs") / "a & b"
    lines = ["a small dog runs to me", "ein kleiner Hund", "it runs"]
    SubwordTokenizer.learn_from_lines(lines, 40).save(directory / "tokenizer")
    sizes = {"num_layers": 2, "model_dim": 16, "num_heads": 2, "feed_forward_dim": 16}
    config = TransformerConfig.from_preset("tiny", vocabulary_size=40, **sizes)
    build_transformer(config).save(directory / "model.keras")
    decoding = DecodingConfig(beam_size=2, max_extra_length=2).to_dict()
    (directory / "config.json").write_text(json.dumps({"decoding": decoding}))
    return str(directory)


def test_a_page_a_picture_and_a_report_of_a_file(workdir, tmp_path):
    (tmp_path / "a.en").write_text("a dog\n\nit runs\n")
    (tmp_path / "a.de").write_text("ein Hund\n\nein\n")
    paths = [tmp_path / name for name in ("a.html", "a.png", "a.json")]
    call(
        workdir=workdir,
        input=str(tmp_path / "a.en"),
        target=str(tmp_path / "a.de"),
        output=[str(path) for path in paths],
        sentence=3,
        kind="encoder_decoder",
        heads=["2"],
    )
    page, png, report = (path.read_bytes() for path in paths)
    assert b"<title>Attention of a &amp; b</title>" in page
    assert png.startswith(b"\x89PNG")
    assert json.loads(report)["sentences"] == 3


@pytest.mark.slow
def test_one_sentence_and_its_translation(workdir, tmp_path):
    path = tmp_path / "a.svg"
    call(
        workdir=workdir,
        text="a dog",
        target_text="ein Hund",
        output=[str(path)],
        kind="encoder_decoder",
    )
    svg = path.read_text()
    assert ">\u2581H" in svg or ">\u2581Hund<" in svg
    assert "[START]" not in svg, "a position is named by what is written"


def test_as_many_targets_as_sources(workdir, tmp_path):
    (tmp_path / "a.de").write_text("ein Hund\nein Hund\n")
    flags_given = {
        "target": str(tmp_path / "a.de"),
        "output": [str(tmp_path / "a.txt")],
    }
    with pytest.raises(ValueError, match="lines"):
        call(workdir=workdir, text="a dog", **flags_given)
    assert not (tmp_path / "a.txt").exists()


def test_the_help_names_every_flag(run_binary):
    said = run_binary("visualize_attention", "--help").stdout.decode()
    texts, picture = "input text target target_text", "sentence kind layer heads word"
    for name in ("workdir", "output", "beam_size", *texts.split(), *picture.split()):
        assert f"--{name}:" in said


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"input": "in.en"}, "--input has no meaning beside --text"),
        ({"target_text": "x", "text": None}, "--target_text has a meaning with --text"),
        ({"output": None}, "--output is required"),
        ({"output": ["a.pdf"]}, r"--output: a\.pdf must end in \.html"),
        ({"layer": 2}, "--layer has no meaning without a picture"),
        ({"output": ["a.png"], "heads": ["1", "x"]}, "--heads must be numbers.* 1,x"),
    ],
)
def test_flags_that_do_not_go_together(workdir, tmp_path, monkeypatch, values, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(app.UsageError, match=message):
        call(workdir=workdir, **{"text": "a dog", "output": ["a.txt"], **values})
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_as_a_process_it_reads_stdin_and_fails_in_one_line(
    workdir, tmp_path, run_binary
):
    path = tmp_path / "a.html"
    flags_given = "--workdir", workdir, "--output", path
    said = run_binary("visualize_attention", *flags_given, stdin=b"a dog\n\xff\n")
    assert said.returncode == 0, said.stderr
    assert b"2 sentences, 2 on the page" in said.stderr
    assert b"it runs" not in path.read_bytes() and b"a dog" in path.read_bytes()
    said = run_binary("visualize_attention", *flags_given, stdin=b"")
    assert said.returncode == 2
    assert said.stderr.count(b"\n") == 1 and b"at least one sentence" in said.stderr
