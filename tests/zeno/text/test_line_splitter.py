"""Chunks to lines, against the simplest model of it: join everything, then split."""

from hypothesis import given
from hypothesis import strategies as st

from zeno.session.wire import is_blank
from zeno.text.line_splitter import LineSplitter

CHUNKS = st.lists(st.text("ab\n", max_size=8).map(str.encode), max_size=12)


@given(chunks=CHUNKS)
def test_lines_do_not_depend_on_how_the_bytes_were_cut(chunks: list[bytes]) -> None:
    lines = LineSplitter()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert [*found, lines.rest()] == b"".join(chunks).split(b"\n")
    assert lines.rest() == b""


@given(chunks=CHUNKS, limit=st.integers(0, 6))
def test_of_a_line_over_the_limit_one_byte_more_than_it_is_kept(chunks: list[bytes], limit: int) -> None:
    lines = LineSplitter(limit)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert [*found, lines.rest()] == [line[: limit + 1] for line in b"".join(chunks).split(b"\n")]


@given(chunks=st.lists(st.text("a \t\r\f\n", max_size=8).map(str.encode), max_size=12), limit=st.integers(0, 6))
def test_a_line_over_the_limit_is_kept_as_long_and_as_blank_as_it_was(chunks: list[bytes], limit: int) -> None:
    lines = LineSplitter(limit)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    for kept, line in zip([*found, lines.rest()], b"".join(chunks).split(b"\n"), strict=True):
        assert (len(kept), is_blank(kept)) == (min(len(line), limit + 1), is_blank(line))
