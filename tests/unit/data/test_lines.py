"""Only LF ends a line, wherever the blocks of a file end."""

import gzip
import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keras_attention.data import lines as module
from keras_attention.data.lines import iterate_lines, read_lines, scan_file
from trainers import _streams


def write(path, content):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(content)
    return path


ODD = "un\r\ndeux\u2028bis\ntrois\x0bter\n\nquatre\x85fin\rsuite\n".encode()


@pytest.mark.parametrize("name", ["odd.txt", "odd.txt.gz"])
@pytest.mark.parametrize("content", [ODD, ODD[:-1]])
def test_only_line_feeds_end_lines(tmp_path, name, content):
    lines = read_lines(write(tmp_path / name, content))
    assert len(lines) == 5
    assert lines[0] == "un"
    assert lines[4].split()[-2:] == ["fin", "suite"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))))
def test_lines_come_back(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "x"
    write(path, "".join(f"{line}\n" for line in lines).encode())
    expected = [line.removeprefix("\ufeff") for line in lines[:1]] + lines[1:]
    assert read_lines(path) == expected


@given(st.binary())
def test_any_bytes_have_as_many_lines_as_wc_counts(tmp_path_factory, content):
    lines = read_lines(write(tmp_path_factory.mktemp("bytes") / "x", content))
    last = bool(content) and not content.endswith(b"\n")
    if content not in (b"\xef\xbb\xbf",):  # a byte order mark alone is no line
        assert len(lines) == content.count(b"\n") + last


def test_missing_unreadable_and_damaged_files_are_named(tmp_path):
    whole = gzip.compress(b"a line\n" * 100)
    truncated = tmp_path / "cut.gz"
    truncated.write_bytes(whole[:-12])
    plain = tmp_path / "plain.gz"
    plain.write_bytes(b"not gzip")
    corrupt = tmp_path / "corrupt.gz"
    corrupt.write_bytes(whole[:12] + b"\xff\x00\xff" + whole[15:])
    for path in (tmp_path / "none", tmp_path, truncated, plain, corrupt):
        with pytest.raises(ValueError, match="Cannot read the text file") as error:
            read_lines(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


@given(
    st.lists(
        st.sampled_from(
            [b"\n", b"\r", b"a", b"\xe2", b"\x82", b"\xef\xbb\xbf", b"\xf0"]
        )
    ).map(b"".join),
    st.integers(1, 5),
)
@example(b"\xef\xbb\xbf", 2)
@example(b"\xef\xbb\xbf\n", 1)
@example(b"a\r\r\nb\r", 2)
def test_blocks_do_not_show(tmp_path_factory, content, size):
    path = write(tmp_path_factory.mktemp("blocks") / "x", content)
    text = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    whole = text.split("\n")
    if whole[-1] == "":
        whole.pop()
    whole = [line.removesuffix("\r").replace("\r", " ") for line in whole]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", size)
        assert list(iterate_lines(path)) == whole
        assert scan_file(path) == (len(whole), hashlib.sha256(content).hexdigest())


def test_packed_and_plain_text_have_the_same_facts(tmp_path):
    plain, packed = (write(tmp_path / name, ODD) for name in ("x", "x.gz"))
    assert scan_file(plain) == scan_file(packed)


def test_lines_are_read_when_they_are_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 4)
    cut = gzip.compress(b"one\ntwo\n" * 50, compresslevel=0)[:-40]
    (tmp_path / "x.gz").write_bytes(cut)
    lines = iterate_lines(tmp_path / "x.gz")
    assert (next(lines), next(lines)) == ("one", "two")
    with pytest.raises(ValueError, match="Cannot read the text file"):
        list(lines)


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path, monkeypatch, name
):
    monkeypatch.setattr(module, "BLOCK_BYTES", 100)
    monkeypatch.setattr(module, "MOST_LINE_BYTES", 1_000)
    opener = gzip.open if name.endswith(".gz") else open
    for length, whole in ((1_000, True), (1_200, False)):
        with opener(tmp_path / name, "wb") as file:
            file.write(b"a\n" + b"b" * length + b"\nc\n")
        if whole:
            assert read_lines(tmp_path / name) == ["a", "b" * length, "c"]
        else:
            with pytest.raises(ValueError, match=f"at most 1000 bytes. .*{name}"):
                read_lines(tmp_path / name)


def test_a_line_of_a_command_is_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_streams, "MOST_LINE_BYTES", 9)
    (tmp_path / "text").write_bytes(b"12345678\n" * 2 + b"1234567890")
    found = _streams.lines(str(tmp_path / "text"), "--input")
    assert [next(found), next(found)] == [b"12345678\n"] * 2
    with pytest.raises(ValueError, match="--input: .*text has a line of more than 9"):
        next(found)
