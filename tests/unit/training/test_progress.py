import fcntl
import io
import json
import logging
import os
import pty
import struct
import termios
import time
import types

import pytest

from keras_attention.training.progress import (
    MetricsLog,
    Progress,
    duration,
    read_metrics,
    shown,
)


def log(path, step=0):
    metrics = MetricsLog(path)
    metrics.open_at(step)
    return metrics


def records(*steps, kind="train"):
    return [{"kind": kind, "step": step, "nll": 1.5} for step in steps]


def write(path, step, new):
    metrics = log(path, step)
    for record in new:
        metrics.write(record)
    metrics.sync()
    metrics.close()


def test_a_record_can_be_read_at_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    metrics = log(path)
    metrics.write(records(2)[0])
    assert read_metrics(path) == records(2)
    metrics.close()


def test_going_on_drops_what_is_past_the_checkpoint(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write(path, 0, records(2, 4, 6, 8))
    write(path, 5, records(6, 8))
    steps = [record["step"] for record in read_metrics(path)]
    assert steps == [2, 4, 6, 8]


def test_a_validation_that_is_made_up_is_not_told_twice(tmp_path):
    path = tmp_path / "metrics.jsonl"
    checks = records(2, kind="validation"), records(4, kind="validation")
    write(path, 0, [*checks[0], *records(4), *checks[1]])
    metrics = MetricsLog(path)
    metrics.open_at(4, validated=False)
    metrics.close()
    assert read_metrics(path) == [*checks[0], *records(4)]


def test_going_on_drops_the_end_of_the_part_before(tmp_path):
    path = tmp_path / "metrics.jsonl"
    ends = records(4, kind="final") + records(4, kind="end")
    write(path, 0, records(2, 4) + ends)
    write(path, 4, records(6))
    assert [r["kind"] for r in read_metrics(path)] == ["train"] * 3


def test_a_new_run_starts_the_file_anew(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write(path, 0, records(0, 2))
    write(path, 0, records(0))
    assert read_metrics(path) == records(0)


def test_a_line_cut_short_by_a_kill_is_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps(record) for record in records(2, 4)]
    path.write_text(lines[0] + "\n" + lines[1][:-3])
    assert read_metrics(path) == records(2)


def test_a_damaged_line_inside_is_an_error(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "tr\n{}\n')
    with pytest.raises(ValueError, match="one JSON object a line. Received in line 1"):
        read_metrics(path)


@pytest.mark.parametrize(
    ("line", "received"),
    [
        ("3", "a number and no object"),
        ('{"step": 1}', "no kind"),
        ('{"kind": "train", "step": "1"}', "no step that is a whole number"),
        ('{"kind": "train", "step": true}', "no step that is a whole number"),
        ("[" * 99_999, "too deep"),
        ('{"kind": "train", "step": 1, "x": "\\ud800"}', "half a character"),
    ],
)
def test_a_line_that_is_no_record_is_an_error(tmp_path, line, received):
    path = tmp_path / "metrics.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(ValueError, match=f"one JSON object a line.*{received}"):
        read_metrics(path)


def test_a_perplexity_may_have_overflowed(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 1, "perplexity": Infinity}\n')
    assert read_metrics(path)[0]["perplexity"] == float("inf")


def test_closing_what_was_not_opened(tmp_path):
    MetricsLog(tmp_path / "metrics.jsonl").close()
    assert not any(tmp_path.iterdir()), "closing must not make a file"


RECORD = {
    "step": 50,
    "nll": 2.0,
    "perplexity": 7.389,
    "learning_rate": 0.001,
    "source_tokens_per_second": 900.4,
    "target_tokens_per_second": 1000.2,
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_lines():
    stream = io.StringIO()
    progress = Progress(150, stream=stream)
    progress.train(RECORD, seconds=10.0, step_seconds=0.5)
    (line,) = stream.getvalue().splitlines()
    assert "step 50/150  nll 2  perplexity 7.389" in line
    assert "900+1000 tokens/s  0:00:50 left" in line


def test_a_terminal_gets_one_line_that_renews_itself():
    stream = Terminal()
    progress = Progress(150, stream=stream)
    progress.train(RECORD, 10.0, 0.5)
    progress.train({**RECORD, "nll": 12.25}, 10.0, 0.5)
    progress.train({**RECORD, "nll": 2.0}, 10.0, 0.5)
    assert "\n" not in stream.getvalue()
    first, second, third = stream.getvalue().split("\r")[1:]
    assert first == "step 50/150  nll 2  lr 0.001  900+1000 tokens/s  0:00:50 left"
    assert len(third) == len(second)  # nothing of the longer line stays
    progress.say("done")
    assert stream.getvalue().endswith("\n")


def test_the_line_of_a_terminal_ends_when_it_is_closed():
    stream = Terminal()
    progress = Progress(150, stream=stream)
    progress.close()
    assert stream.getvalue() == ""
    progress.train(RECORD, 10.0, 0.5)
    progress.close()
    progress.close()
    assert stream.getvalue().endswith("left\n")


def test_the_line_is_renewed_by_time_and_only_on_a_terminal(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(
        "keras_attention.training.progress.time",
        types.SimpleNamespace(monotonic=lambda: now[0], strftime=time.strftime),
    )
    progress = Progress(150, stream=Terminal())
    assert progress.is_due()
    progress.train(RECORD, 10.0, 0.5)
    now[0] += 0.9
    assert not progress.is_due()
    now[0] += 0.2
    assert progress.is_due()
    assert not Progress(150, stream=io.StringIO()).is_due()


def test_a_real_terminal_is_never_given_a_line_that_wraps():
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with open(follower, "w") as stream:
        progress = Progress(150, stream=stream)
        progress.train(RECORD, 10.0, 0.5)
        progress.train(RECORD, 10.0, 0.5)
        progress.close()
        shown = ""
        while not shown.endswith("\n"):  # a busy system hands it over in parts
            shown += os.read(leader, 10_000).decode()
    os.close(leader)
    assert shown.startswith("\rstep 50/150  nll 2 ")
    assert [len(part) for part in shown[:-2].split("\r")[1:]] == [39, 39]
    assert "\x1b" not in shown


def test_a_log_gets_no_control_characters():
    stream = io.StringIO()
    progress = Progress(150, stream=stream)
    progress.train(RECORD, 10.0, 0.5)
    progress.say("saved")
    progress.close()
    assert stream.getvalue().count("\n") == 2
    assert stream.getvalue().replace("\n", "").isprintable()


@pytest.mark.parametrize("level, lines", [(logging.DEBUG, 1), (logging.INFO, 0)])
def test_details_are_told_when_asked_for(caplog, level, lines):
    stream = io.StringIO()
    with caplog.at_level(level, logger="keras_attention"):
        Progress(150, stream=stream).debug("a detail")
    assert stream.getvalue().count("a detail") == lines


def test_time_left_ends_at_the_nearer_limit():
    assert Progress(100).seconds_left(40, 0.0, 2.0) == 120.0
    assert Progress(100, max_minutes=2).seconds_left(40, 30.0, 2.0) == 90.0
    assert Progress(100, max_minutes=2).seconds_left(40, 130.0, 2.0) == 0.0
    assert Progress(100).seconds_left(140, 0.0, 2.0) == 0.0


def test_figures_and_durations():
    assert shown({"nll": 0.123456, "bleu": None, "other": 3}) == "nll 0.1235"
    assert [duration(s) for s in (0.4, 61, 36_000)] == [
        "0:00:00",
        "0:01:01",
        "10:00:00",
    ]
