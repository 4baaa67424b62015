"""CSV: every character belongs to a row or to a gap; cells are text."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.containers.readers.rows import Unreadable
from normalizer.containers.readers.tables import Table

CELL = st.text(st.sampled_from('ab",\n\r 1é'), max_size=4)
ENDS = st.sampled_from(["\n", "\r\n"])


def written(rows, end):
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue().encode()


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=5), end=ENDS)
def test_cells_and_bytes_are_those_of_the_file(rows, end):
    data = written([["id", "score"], *rows], end)
    reader = Table(io.BytesIO(data))
    read = list(reader.rows())
    assert [list(row.value.values()) for row in read] == rows
    assert b"".join(row.gap.encode() + row.raw for row in read) + reader.tail.encode() == data


def test_a_record_with_other_cells_than_columns_is_unreadable():
    rows = list(Table(io.BytesIO(b"a,b\n1,2\n1\n3,4\n")).rows())
    assert [row.problem for row in rows] == ["", "it has 1 cells, and the line of column names has 2", ""]


def test_a_broken_quote_blames_its_own_record():
    rows = list(Table(io.BytesIO(b'a,b\n"x"y,2\n3,4\n')).rows())
    assert [bool(row.problem) for row in rows] == [True, False]
    assert rows[1].value == {"a": "3", "b": "4"}


@pytest.mark.parametrize("data", [b"", b"a,a\n1,2\n", b"a,b\n\xff,1\n"])
def test_a_file_without_names_or_with_other_bytes_has_no_rows(data):
    with pytest.raises(Unreadable):
        list(Table(io.BytesIO(data)).rows())


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    [row] = Table(io.BytesIO("\ufeffid\n1\n".encode())).rows()
    assert row.value == {"id": "1"}
