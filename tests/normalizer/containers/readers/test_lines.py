"""JSON lines: every byte belongs to a row or to a gap, and a bad line is one unreadable row."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.readers import rows
from normalizer.containers.readers.rows import MAX_ROW_BYTES, JsonLinesReader, UnreadableContainer

LINE = st.sampled_from([b"{}", b'{"a": 1.0}', b"[", b"", b"  ", b"\xff", b"nul", b'{"a":1,"a":2}', b"\r", b"1"])
END = st.sampled_from([b"\n", b"\r\n", b"\n\n"])


def put_together(reader):
    parts = [row.gap.encode() + row.raw for row in reader.rows()]
    return b"".join(parts) + reader.tail.encode()


@given(parts=st.lists(st.tuples(LINE, END)), last=LINE, mark=st.booleans())
def test_rows_and_gaps_are_the_whole_file(parts, last, mark):
    data = (b"\xef\xbb\xbf" if mark else b"") + b"".join(line + end for line, end in parts) + last
    assert put_together(JsonLinesReader(io.BytesIO(data))) == data


def test_a_line_that_is_not_json_is_unreadable_and_its_neighbours_stay():
    rows = list(JsonLinesReader(io.BytesIO(b'{"a":1}\n{"a":\n{"a":2}\n')).rows())
    assert [(row.line, bool(row.problem)) for row in rows] == [(1, False), (2, True), (3, False)]
    assert "column 6" in rows[1].problem


def test_nan_is_read_as_a_word_only_where_it_is_declared():
    [row] = JsonLinesReader(io.BytesIO(b'{"a":NaN}')).rows()
    assert "declare `nan`" in row.problem
    [row] = JsonLinesReader(io.BytesIO(b'{"a":NaN}'), nan=True).rows()
    assert row.value == {"a": "NaN"}


def test_the_line_that_describes_the_run_is_no_row():
    reader = JsonLinesReader(io.BytesIO(b'{"spec":{"x":1}}\n{"a":1}\n'), document_row="/spec")
    [row] = reader.rows()
    assert (row.gap, row.line, reader.document) == ('{"spec":{"x":1}}\n', 2, {"spec": {"x": "1"}})


def test_nan_in_the_line_that_describes_the_run_is_nothing_and_no_name():
    reader = JsonLinesReader(io.BytesIO(b'{"spec":{"judge":NaN}}\n{"a":NaN}\n'), nan=True, document_row="/spec")
    [row] = reader.rows()
    assert (reader.document, row.value) == ({"spec": {"judge": None}}, {"a": "NaN"})


def test_an_endless_line_is_not_held_in_memory():
    class Endless(io.BytesIO):
        def readline(self, size=-1):
            return b"x" * size

    with pytest.raises(UnreadableContainer, match=f"line 1 is longer than {MAX_ROW_BYTES}"):
        next(JsonLinesReader(Endless()).rows())


def test_empty_lines_are_held_only_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 20)
    assert list(JsonLinesReader(io.BytesIO(b"a\n" + b"\n" * 15)).rows()) is not None
    with pytest.raises(UnreadableContainer, match="comes after more than 20"):
        list(JsonLinesReader(io.BytesIO(b"a\n" + b"\n" * 30)).rows())


def test_a_word_that_is_no_json_is_told_with_its_column_and_not_one_in_a_text():
    row = next(JsonLinesReader(io.BytesIO(b'{"why": "NaN is \\"NaN\\"", "r": NaN}\n')).rows())
    assert "NaN is not JSON at column 32; declare `nan`" in row.problem
