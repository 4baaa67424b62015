"""CSV: every character belongs to a row or to a gap; cells are text."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.readers import tables
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.containers.readers.tables import CsvReader

CELL = st.text(st.sampled_from('ab",\n\r 1é'), max_size=4)
ENDS = st.sampled_from(["\n", "\r\n"])


def written(rows, end):
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue().encode()


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=5), end=ENDS)
def test_cells_and_bytes_are_those_of_the_file(rows, end):
    data = written([["id", "score"], *rows], end)
    reader = CsvReader(io.BytesIO(data))
    read = list(reader.rows())
    assert [list(row.value.values()) for row in read] == rows
    assert b"".join(row.gap.encode() + row.raw for row in read) + reader.tail.encode() == data


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=4), before=st.integers(0, 3), end=ENDS)
def test_blank_lines_and_comments_before_the_names_are_passed_over_and_kept(rows, before, end):
    lead = b"".join([b",,\n", b"\n", b"# from a run\n"][number % 3] for number in range(before))
    data = lead + written([["id", "score"], *rows], end)
    reader = CsvReader(io.BytesIO(data))
    read = list(reader.rows())
    assert [row.value for row in read] == [dict(zip(("id", "score"), row, strict=True)) for row in rows]
    assert b"".join(row.gap.encode() + row.raw for row in read) + reader.tail.encode() == data


def test_of_several_columns_without_a_name_none_is_read_and_a_single_one_is():
    [row] = CsvReader(io.BytesIO(b"id,,score, \n1,x,3,y\n")).rows()
    assert (row.value, row.raw) == ({"id": "1", "score": "3", " ": "y", "": "x"}, b"1,x,3,y")
    [row] = CsvReader(io.BytesIO(b"id,,score,\n1,x,3,y\n")).rows()
    assert (row.value, row.raw) == ({"id": "1", "score": "3"}, b"1,x,3,y")


def test_a_record_with_other_cells_than_columns_is_unreadable():
    rows = list(CsvReader(io.BytesIO(b"a,b\n1,2\n1\n3,4\n")).rows())
    assert [row.problem for row in rows] == ["", "it has 1 cells, and the line of column names has 2", ""]


def test_short_rows_lack_their_last_columns_only_where_that_is_declared():
    data = b"a,b,c\n1,2\n1,2,3\n1,2,3,4\n"
    rows = list(CsvReader(io.BytesIO(data), short=True).rows())
    assert [row.value for row in rows] == [{"a": "1", "b": "2"}, {"a": "1", "b": "2", "c": "3"}, None]
    assert [bool(row.problem) for row in CsvReader(io.BytesIO(data)).rows()] == [True, False, True]


def test_a_broken_quote_blames_its_own_record():
    rows = list(CsvReader(io.BytesIO(b'a,b\n"x"y,2\n3,4\n')).rows())
    assert [bool(row.problem) for row in rows] == [True, False]
    assert rows[1].value == {"a": "3", "b": "4"}


@pytest.mark.parametrize("data", [b"", b"a,a\n1,2\n", b"a,b\n\xff,1\n"])
def test_a_file_without_names_or_with_other_bytes_has_no_rows(data):
    with pytest.raises(UnreadableContainer):
        list(CsvReader(io.BytesIO(data)).rows())


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    [row] = CsvReader(io.BytesIO("\ufeffid\n1\n".encode())).rows()
    assert row.value == {"id": "1"}


@pytest.mark.parametrize("long", [b"x,", b'"x",', b"x"], ids=["many cells", "quoted cells", "one cell"])
def test_a_record_over_the_limit_is_refused_before_it_is_in_memory_as_cells(long):
    data = b"a,b\n1,2\n" + long * (MAX_ROW_BYTES // len(long) + 1) + b"\n3,4\n"
    rows = CsvReader(io.BytesIO(data)).rows()
    assert next(rows).value == {"a": "1", "b": "2"}
    with pytest.raises(UnreadableContainer, match=f"the record at line 3 is longer than {MAX_ROW_BYTES}"):
        next(rows)


def test_lines_in_quotes_count_together_and_records_apart():
    half = b"x" * (MAX_ROW_BYTES // 2)
    apart = b"a\n" + half + b"\n" + half + b"\n" + half + b"\n"
    assert [row.line for row in CsvReader(io.BytesIO(apart)).rows()] == [2, 3, 4]
    with pytest.raises(UnreadableContainer, match="the record at line 2 is longer"):
        list(CsvReader(io.BytesIO(b'a\n"' + half + b"\n" + half + b'\n"\n')).rows())


def test_a_record_of_many_lines_is_read_to_the_character():
    text = "x\n" * 9000 + "é"
    reader = CsvReader(io.BytesIO(f'a,b\n"{text}",1\r\n2,3'.encode()))
    rows = list(reader.rows())
    assert [row.value["a"] for row in rows] == [text, "2"]
    assert [row.line for row in rows] == [2, 9003]
    assert rows[0].raw == f'"{text}",1'.encode()
    assert rows[1].gap == "\r\n"


@pytest.fixture
def field_limit():
    """The reader sets a limit of the whole process."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("field_limit")
def test_empty_lines_are_held_only_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(tables, "MAX_ROW_BYTES", 20)
    assert list(CsvReader(io.BytesIO(b"a\n" + b"\n" * 15)).rows()) is not None
    with pytest.raises(UnreadableContainer, match="comes after more than 20"):
        list(CsvReader(io.BytesIO(b"a\n" + b"\n" * 30)).rows())


def test_many_columns_are_compared_at_once():
    """Comparing each name with each other one would take an hour."""
    names = ",".join(map(str, range(300_000))).encode()
    assert list(CsvReader(io.BytesIO(names)).rows()) == []
    with pytest.raises(UnreadableContainer, match="named twice"):
        list(CsvReader(io.BytesIO(names + b",7")).rows())


def test_a_record_of_millions_of_cells_is_not_parsed(monkeypatch):
    monkeypatch.setattr(tables, "_MOST_CELLS", 100)
    with pytest.raises(UnreadableContainer, match="the record at line 2 has more than 100 delimiters"):
        list(CsvReader(io.BytesIO(b"a,b\n" + b"x," * 101 + b"\n")).rows())
    assert len(list(CsvReader(io.BytesIO(b"a,b\n" + b"x,y\n" * 200)).rows())) == 200
