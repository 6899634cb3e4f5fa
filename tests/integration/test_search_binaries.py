"""`translate`, `score`, `export_ctranslate2`: formats, prefixes, ensembles, risks."""

import copy
import gzip
import io
import json
import pathlib
import sys
import types

import pytest
from absl import app, flags
from absl.testing import flagsaver

from keras_attention import (
    SubwordTokenizer,
    TransformerConfig,
    Translator,
    build_transformer,
)
from keras_attention.config import DecodingConfig
from keras_attention.evaluation import minimum_bayes_risk
from keras_attention.evaluation.translation import evaluate_translation
from trainers import _streams, export_ctranslate2, score, translate

flags.FLAGS.mark_as_parsed()
SOURCES = ["the dog runs .", "", "a cat sees the child .", "the cat sleeps ."]
TARGETS = ["der Hund läuft .", "x", "", "die Katze schläft ."]


def call(binary, **values):
    """Runs the `main` of a binary with flags, all others unset, in this process."""
    with flagsaver.flagsaver(**values):
        return binary.main()


def write_run(directory, tokenizer, seed):
    """Writes what a finished run leaves; nothing is trained."""
    import keras

    keras.utils.set_random_seed(seed)
    config = TransformerConfig(
        tokenizer.vocabulary_size,
        num_layers=1,
        model_dim=8,
        num_heads=2,
        feed_forward_dim=8,
    )
    directory.mkdir()
    tokenizer.save(directory / "tokenizer")
    build_transformer(config).save(directory / "model.keras")
    decoding = DecodingConfig(beam_size=3, max_extra_length=2).to_dict()
    (directory / "config.json").write_text(json.dumps({"decoding": decoding}))
    return directory


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs with one tokenizer, and one with another."""
    home = tmp_path_factory.mktemp("runs")
    tokenizer = SubwordTokenizer.learn_from_lines([*SOURCES, *TARGETS], 60)
    other = SubwordTokenizer.learn_from_lines([*SOURCES, *TARGETS], 59)
    return [
        write_run(home / "a", tokenizer, 1),
        write_run(home / "b", tokenizer, 2),
        write_run(home / "c", other, 3),
    ]


@pytest.fixture(scope="module")
def workdir(runs):
    return str(runs[0])


@pytest.fixture(scope="module")
def loaded():
    """Translators by their runs, so that a graph is traced once for all tests."""
    return {}


@pytest.fixture(autouse=True)
def load_once(loaded, monkeypatch):
    load = Translator.load

    def load_or_share(
        workdir,
        ensemble_workdirs=(),
        ensemble_average="log_probabilities",
        **overrides,
    ):
        key = (str(workdir), *map(str, ensemble_workdirs), ensemble_average)
        if key not in loaded:
            loaded[key] = load(workdir, ensemble_workdirs, ensemble_average)
        translator = copy.copy(loaded[key])
        translator.decoding_config = translator.decoding_config.replace(**overrides)
        return translator

    monkeypatch.setattr(Translator, "load", load_or_share)


@pytest.fixture
def translator(workdir, load_once):
    return Translator.load(workdir)


@pytest.fixture
def files(tmp_path):
    """Writes lines to files and gives their paths."""

    def write(name, lines):
        path = tmp_path / name
        text = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return str(path)

    return write


@pytest.fixture
def translated(workdir, files, tmp_path):
    """Translates SOURCES and gives the lines of the output."""

    def run(**values):
        output = tmp_path / "out"
        values = {"input": files("in", SOURCES), "output": str(output), **values}
        call(translate, **{"workdir": workdir, **values})
        text = output.read_bytes().decode()  # strictly
        assert text.endswith("\n")
        return text.split("\n")[:-1]

    return run


def test_nbest_has_every_hypothesis_of_every_line(translated, translator):
    expected = [
        f"{number} ||| {each.text} ||| {each.score:.6f}"
        for number, found in enumerate(translator.translate(SOURCES, num_hypotheses=3))
        for each in found.hypotheses
    ]
    assert translated(format="nbest", num_hypotheses=3) == expected
    numbers = [int(line.split(" ||| ")[0]) for line in expected]
    assert sorted(set(numbers)) == [0, 1, 2, 3] and numbers.count(1) == 1
    assert len(expected) == 10


def test_text_is_the_default_and_the_best(translated, translator):
    expected = translator(SOURCES)
    assert translated() == translated(format="text") == expected
    assert [x.split(" ||| ")[1] for x in translated(format="nbest")] == expected


def test_json_lines_hold_all_that_was_found(translated, translator):
    asked = {
        "num_hypotheses": 2,
        "return_attention_weights": True,
        "return_token_log_probs": True,
        "length_penalty_alpha": 0.0,  # then scores are sums of log-probabilities
    }
    lines = [json.loads(line) for line in translated(format="jsonl", **asked)]
    pieces = translator.tokenizer.pieces
    for line, found in zip(lines, translator.translate(SOURCES, **asked), strict=True):
        assert set(line) == {
            *("text", "score", "length", "truncated", "source_length", "hypotheses"),
            "source_pieces",
        }
        assert line["source_pieces"] == [pieces[piece] for piece in found.source_ids]
        assert (line["text"], line["length"]) == (found.text, found.length)
        assert (line["truncated"], line["source_length"]) == (
            found.truncated,
            found.source_length,
        )
        for told, each in zip(line["hypotheses"], found.hypotheses, strict=True):
            assert told["pieces"] == [pieces[piece] for piece in each.ids]
            assert told["score"] == pytest.approx(each.score, abs=1e-6)
            values = each.token_log_probs or ()
            assert told["token_log_probabilities"] == pytest.approx(values, abs=1e-6)
            assert told["score"] == pytest.approx(sum(values), abs=1e-4)
            assert len(told["attention"]) == each.length
            for row, weights in (
                zip(told["attention"], each.attention_weights, strict=True)
                if each.length
                else ()
            ):
                assert row == pytest.approx(weights.tolist(), abs=6e-5)
                assert len(row) == found.source_length + 1 == len(found.source_ids)
    assert lines[1]["hypotheses"][0]["attention"] == []


def test_json_lines_hold_no_more_than_was_asked_for(translated):
    line = json.loads(translated(format="jsonl")[0])
    assert set(line["hypotheses"][0]) == {"text", "score", "length", "pieces"}


def test_prefixes_begin_the_translations(translated, translator, files):
    prefixes = ["der Hund", "", "die", ""]
    lines = translated(prefix=files("prefix.gz", prefixes), format="jsonl")
    found = translator.translate(SOURCES, prefixes=prefixes)
    assert [json.loads(line)["text"] for line in lines] == [x.text for x in found]
    assert json.loads(lines[0])["text"].startswith("der Hund")


def test_unequal_numbers_of_lines_are_named(
    translated, workdir, files, tmp_path, monkeypatch
):
    (tmp_path / "out").write_text("precious\n")
    three = files("three", SOURCES[:3])
    with pytest.raises(ValueError, match=r"/in with 4 and .*/three with 3 lines"):
        translated(prefix=three)
    with pytest.raises(ValueError, match=r"/three with 3 and .*/five with 5 lines"):
        translated(input=three, prefix=files("five", ["der"] * 5))
    with pytest.raises(ValueError, match=r"/three with 3 and .*/in with 4 lines"):
        call(
            score,
            workdir=workdir,
            source=[three],
            target=[str(tmp_path / "in")],
            output=str(tmp_path / "out"),
        )
    assert (tmp_path / "out").read_text() == "precious\n"
    stdin = types.SimpleNamespace(buffer=io.BytesIO(b"one\n"), isatty=lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(ValueError, match=r"stdin with 1 and .*/three with 3 lines"):
        translated(input=None, prefix=three)


@pytest.mark.parametrize("last", ["", "\n"])
def test_every_command_ends_a_line_at_line_feeds_alone(
    workdir, translated, files, tmp_path, capsys, last
):
    odd = tmp_path / "odd"
    text = "the\r\ndog\u2028runs\ncat\x0bsees\n\na\x85child\rsleeps"
    odd.write_bytes((text + last).encode())
    clean = files("clean", ["the", "dog runs", "cat sees", "", "a child sleeps"])
    numbers = files("numbers", ["der", "die", "", "das", "Hund"])
    lines = translated(input=str(odd))
    assert len(lines) == 5 and lines == translated(input=clean)
    prefixed = translated(input=numbers, prefix=str(odd))
    assert prefixed == translated(input=numbers, prefix=clean)
    scores = {}
    for sides in ((str(odd), numbers), (clean, numbers), (numbers, str(odd))):
        call(score, workdir=workdir, source=sides[:1], target=sides[1:])
        scores[sides] = capsys.readouterr().out.split("\n")
    assert {len(lines) for lines in scores.values()} == {6}
    assert scores[str(odd), numbers] == scores[clean, numbers]
    for sides in ((odd, numbers), (numbers, odd), (odd, odd)):
        report = evaluate_translation(workdir, sides[:1], sides[1:])
        assert report["sentences"] == 5
    assert len(_streams.compared(str(odd))) == _streams.count(str(odd)) == 5


def test_nothing_in_nothing_out(workdir, files, tmp_path, capsys):
    nothing, output = files("nothing", []), tmp_path / "out"
    for form in ("text", "nbest", "jsonl"):
        values = {"input": nothing, "output": str(output), "format": form}
        call(translate, workdir=workdir, **values)
        assert output.read_bytes() == b""
    call(score, workdir=workdir, source=[nothing], target=[nothing])
    assert capsys.readouterr().out == ""


def test_minimum_bayes_risk_takes_one_of_the_samples(translated, translator):
    values = {"minimum_bayes_risk": 6, "sampling_seed": 7}
    found = translator.translate(
        SOURCES, sampling=True, num_hypotheses=6, sampling_seed=7
    )
    samples = [[each.text for each in one.hypotheses] for one in found]
    chosen = [texts[minimum_bayes_risk(texts)] for texts in samples]
    assert any(text != texts[0] for text, texts in zip(chosen, samples, strict=True))
    lines = [json.loads(line) for line in translated(format="jsonl", **values)]
    assert [line["text"] for line in lines] == chosen
    assert {len(line["hypotheses"]) for line in lines} == {1}


def test_samples_are_more_than_beams(translated):
    lines = translated(format="nbest", sampling=True, num_hypotheses=6)
    assert len(lines) == 19


def test_an_ensemble_decides_together(translated, runs, translator):
    joint = Translator.load(runs[0], [runs[1]], "probabilities")
    assert len(joint.model.models) == 2
    assert joint.model.average == "probabilities"
    expected = [f"{x.score:.6f}" for x in joint.translate(SOURCES)]
    both = {"ensemble_workdirs": [str(runs[1])], "ensemble_average": "probabilities"}
    lines = translated(format="nbest", **both)
    assert [line.split(" ||| ")[2] for line in lines] == expected
    alone = [f"{x.score:.6f}" for x in translator.translate(SOURCES)]
    assert expected != alone


def test_an_ensemble_needs_one_tokenizer(translated, runs):
    with pytest.raises(ValueError, match="need one tokenizer.*/a with .*/c with"):
        translated(ensemble_workdirs=[str(runs[1]), str(runs[2])])
    with pytest.raises(FileNotFoundError, match="--ensemble_workdirs: no such direct"):
        translated(ensemble_workdirs=["/nowhere"])
    with pytest.raises(app.UsageError, match="no meaning without --ensemble_workdirs"):
        translated(ensemble_average="probabilities")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_hypotheses": 2}, "num_hypotheses .* with --format text"),
        ({"return_attention_weights": True}, "attention_weights .* with --format text"),
        (
            {"return_token_log_probs": True, "format": "nbest"},
            "token_log_probs .* with --format nbest",
        ),
        (
            {"attention_layer": 0, "format": "jsonl"},
            "attention_layer has no meaning without --return_attention",
        ),
        ({"temperature": 0.5}, "temperature has no meaning without --sampling"),
        ({"sampling_seed": 0}, "sampling_seed has no meaning without --sampling"),
        ({"sampling": True, "beam_size": 2}, "beam_size .* are sampled"),
        ({"minimum_bayes_risk": 1}, "2 samples or more; received 1"),
        ({"minimum_bayes_risk": 4, "beam_size": 2}, "beam_size .* are sampled"),
        (
            {"minimum_bayes_risk": 4, "num_hypotheses": 2, "format": "nbest"},
            "num_hypotheses .* --minimum_bayes_risk, which leaves one",
        ),
        ({"minimum_bayes_risk": 4, "sampling": False}, "nosampling has no meaning"),
    ],
)
def test_flags_without_an_effect_are_refused(translated, values, message):
    with pytest.raises(app.UsageError, match=message):
        translated(**values)


def test_flags_of_replaced_unknowns_and_of_no_effect_are_let_through(translated):
    assert len(translated(replace_unknown=True, attention_layer=0)) == 4
    assert len(translated(return_attention_weights=False)) == 4


def test_damaged_gzip_is_named_whoever_reads(translated, workdir, files, tmp_path):
    whole = files("whole.gz", TARGETS * 300)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(pathlib.Path(whole).read_bytes()[:-9])
    prefixes = files("prefix.gz", [""] * len(TARGETS * 300))
    with pytest.raises(OSError, match="--input: .*cut.gz is no whole gzip file"):
        translated(input=str(cut), prefix=prefixes, beam_size=1, max_length=1)
    with pytest.raises(OSError, match="--target: .*cut.gz is no whole gzip file"):
        call(score, workdir=workdir, source=[whole], target=[str(cut)])
    with pytest.raises(FileNotFoundError, match="--prefix: no such file"):
        translated(prefix="/nowhere")
    with pytest.raises(ValueError, match="is the input itself"):
        translated(prefix=prefixes, output=prefixes)


def test_scores_are_those_of_the_translator(workdir, translator, files, capsys):
    values = {"source": [files("a.gz", SOURCES)], "target": [files("b", TARGETS)]}
    call(score, workdir=workdir, **values)
    printed = capsys.readouterr().out.splitlines()
    expected = translator.score(SOURCES, TARGETS)
    assert [float(line) for line in printed] == pytest.approx(expected, abs=1e-5)
    call(score, workdir=workdir, format="jsonl", **values)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    tokens = translator.score(SOURCES, TARGETS, return_token_log_probs=True)
    for line, text, log_probs in zip(lines, TARGETS, tokens, strict=True):
        assert line["token_log_probabilities"] == pytest.approx(log_probs, abs=1e-6)
        assert line["log_probability"] == pytest.approx(sum(log_probs), abs=1e-5)
        assert line["tokens"] == len(line["pieces"]) == len(log_probs)
        assert line["pieces"][-1] == "[END]"
        assert "".join(line["pieces"][:-1]).replace("▁", " ").strip() == text
    assert [f"{line['log_probability']:.6f}" for line in lines] == printed


def test_scores_of_several_files_and_of_an_ensemble(
    workdir, runs, files, tmp_path, capsys
):
    halves = {
        "source": [files("1.en", SOURCES[:1]), files("2.en", SOURCES[1:])],
        "target": [files("1.de", TARGETS[:1]), files("2.de", TARGETS[1:])],
    }
    output = tmp_path / "scores"
    both = {"ensemble_workdirs": [str(runs[1])], "ensemble_average": "probabilities"}
    call(score, workdir=workdir, output=str(output), **both, **halves)
    joint = Translator.load(workdir, [runs[1]], "probabilities")
    expected = joint.score(SOURCES, TARGETS)
    found = [float(line) for line in output.read_text().splitlines()]
    assert found == pytest.approx(expected, abs=1e-5)
    assert capsys.readouterr().out == ""
    with pytest.raises(app.UsageError, match="as many files; received 2 and 1"):
        call(score, workdir=workdir, source=halves["source"], target=["/dev/null"])
    with pytest.raises(ValueError, match="is the input itself"):
        call(score, workdir=workdir, output=halves["target"][1], **halves)


def test_export_ctranslate2(workdir, tmp_path, capsys):
    pytest.importorskip("ctranslate2")
    home = tmp_path / "new"
    wanted = {
        "engine": {},
        "short": {"max_source_length": 8, "max_extra_length": 2},
        "int8": {"quantization": "int8"},
    }
    for name, values in wanted.items():
        call(export_ctranslate2, workdir=workdir, output_dir=str(home / name), **values)
        assert capsys.readouterr().out == f"{home / name}\n"
        assert (home / name / "tokenizer").is_dir()
    sizes = {name: (home / name / "model.bin").stat().st_size for name in wanted}
    assert sizes["short"] < sizes["engine"] and sizes["int8"] < sizes["engine"]
    folder = home / "engine"
    with pytest.raises(FileExistsError, match="--output_dir: .*engine exists; name"):
        call(export_ctranslate2, workdir=workdir, output_dir=str(folder))
    with pytest.raises(OSError, match="--output_dir: cannot make"):
        call(
            export_ctranslate2,
            workdir=workdir,
            output_dir=str(folder / "model.bin" / "x" / "engine"),
        )


def test_the_choices_of_flags_are_those_of_the_library():
    from keras_attention.decoding import ensemble, formats
    from keras_attention.export import ctranslate2
    from trainers import _ensembles

    assert translate.FORMATS == formats.FORMATS
    assert score.FORMATS == formats.SCORE_FORMATS
    assert _ensembles.AVERAGES == ensemble.AVERAGES
    assert export_ctranslate2.QUANTIZATIONS == ctranslate2.QUANTIZATIONS
